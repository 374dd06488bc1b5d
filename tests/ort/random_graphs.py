#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Random graphs: every value as ONNX Runtime gives it."""
import argparse
import collections
import concurrent.futures
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import graphs  # noqa: E402
import runner  # noqa: E402

COUNT = 1000
CHUNK = 50


class Result:
    """What became of the graphs that ran."""

    def __init__(self):
        self.graphs = self.values = 0
        self.wrong = []
        self.operators = collections.Counter()
        self.lengths = collections.Counter()

    def add(self, builder, said, verdict, text):
        self.graphs += 1
        self.operators.update(set(builder.operators))
        self.lengths[len(builder.operators)] += 1
        if said != "ok":
            self.wrong.append(f"graph {builder.seed}: ONNX Runtime: {said}")
        elif verdict == "equal":
            self.values += int(text)
        else:
            self.wrong.append(f"graph {builder.seed} ({', '.join(builder.operators)}): "
                              f"{verdict} {text}")


def run_chunk(seeds, folder, reference):
    builders = [graphs.build(seed) for seed in seeds]
    entries = [graphs.write(b, os.path.join(folder, str(b.seed))) for b in builders]
    said = runner.run_reference(entries, reference)
    ran = [e for e, line in zip(entries, said) if line == "ok"]
    found = runner.run_models(ran)
    return [(b, line, *found.get(e["model"], ("", "")))
            for b, e, line in zip(builders, entries, said)]


def run(seeds, folder=None):
    """Runs the graphs of the seeds; the folder, if one is named, is kept."""
    reference = runner.reference_folder()
    result = Result()
    where = folder or tempfile.mkdtemp(prefix="npu-graphs-")
    try:
        # Two processes a chunk take turns: two chunks keep two cores busy.
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            chunks = [seeds[i:i + CHUNK] for i in range(0, len(seeds), CHUNK)]
            jobs = [pool.submit(run_chunk, chunk, where, reference) for chunk in chunks]
            for job in jobs:
                for item in job.result():
                    result.add(*item)
    finally:
        if not folder:
            shutil.rmtree(where)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--count", type=int, default=COUNT, metavar="N")
    parser.add_argument("--keep", metavar="FOLDER", help="write models and values there")
    args = parser.parse_args()
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
    result = run(range(args.first, args.first + args.count), args.keep)
    for line in result.wrong:
        print(line)
    print(f"{result.graphs} graphs, {result.values} values equal, {len(result.wrong)} wrong")
    width = max(len(name) for name in result.operators)
    for name, count in sorted(result.operators.items()):
        print(f"  {name:{width}} in {count:4} graphs")
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
