#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Random graphs against ONNX Runtime, and that a wrong value would be seen; TAP."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import graphs  # noqa: E402
import random_graphs  # noqa: E402
import runner  # noqa: E402

AT_LEAST = 20


def every_value(result):
    return result.wrong


def every_length(result):
    """Graphs of each number of operators up to the most."""
    return [f"no graph of {n} operators" for n in range(1, graphs.MAX_OPERATORS + 1)
            if n not in result.lengths]


def every_operator(result):
    return [f"{name} is in {result.operators[name]} graphs" for name in graphs.NAMES
            if result.operators[name] < AT_LEAST]


def wrong_value_is_seen(_result):
    """One bit of what ONNX Runtime said is turned."""
    with tempfile.TemporaryDirectory(prefix="npu-graphs-") as folder:
        entry = graphs.write(graphs.build(1), os.path.join(folder, "1"))
        said = runner.run_reference([entry], runner.reference_folder())
        if said != ["ok"]:
            return said
        with open(entry["output"], "r+b") as file:
            byte = file.read(1)[0]
            file.seek(0)
            file.write(bytes([byte ^ 1]))
        verdict, text = runner.run_models([entry])[entry["model"]]
        return [] if verdict == "differs" else [f"the changed value gave {verdict} {text}"]


TESTS = (
    (f"{random_graphs.COUNT} random graphs: every value as ONNX Runtime's", every_value),
    ("graphs of every number of operators", every_length),
    (f"every operator is in {AT_LEAST} graphs or more", every_operator),
    ("a wrong value is seen", wrong_value_is_seen),
)


def main():
    try:
        result = random_graphs.run(range(random_graphs.COUNT))
    except runner.NoReference as reason:
        print(f"1..0 # SKIP no ONNX Runtime to compare with: {reason}")
        return 0
    print(f"1..{len(TESTS)}")
    failed = 0
    for number, (name, test) in enumerate(TESTS, 1):
        problems = test(result)
        failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {number} - {name}")
        for line in problems:
            print("# " + line)
    print(f"# {result.values} values compared; repeat one graph with "
          "tests/ort/random_graphs.py --first SEED --count 1 --keep FOLDER")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
