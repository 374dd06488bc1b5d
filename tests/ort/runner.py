# SPDX-License-Identifier: MIT
"""Runs models with ONNX Runtime and with compiler and runtime of this tree."""
import json
import os
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))
BUILD = os.environ.get("O", "build")
NO_REFERENCE = 3


class NoReference(Exception):
    """ONNX Runtime cannot be had here; says why."""


class RunError(Exception):
    pass


def reference_folder():
    done = subprocess.run([os.path.join(HERE, "fetch.sh")], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == NO_REFERENCE:
        raise NoReference(done.stderr.strip().splitlines()[-1])
    if done.returncode:
        raise RunError(done.stderr.strip())
    return done.stdout.strip()


def run_reference(entries, folder):
    """What ONNX Runtime said of each entry: "ok" or its error."""
    try:
        done = subprocess.run(["node", os.path.join(HERE, "run_ort.js"), folder],
                              input=json.dumps(entries), stdout=subprocess.PIPE, text=True,
                              check=False)
    except FileNotFoundError:
        raise NoReference("node is missing: install what tests/deps.txt lists") from None
    lines = done.stdout.splitlines()
    if done.returncode or len(lines) != len(entries):
        raise RunError(f"run_ort.js: exit status {done.returncode} after {len(lines)} of "
                       f"{len(entries)} models")
    return lines


def run_models(entries):
    """{model: (verdict, text)} of run_models.c."""
    lines = "".join(f"{i} {e.get('ulp', 0)} {e['model']} {e['input']} {e['output']}\n"
                    for i, e in enumerate(entries))
    done = subprocess.run([os.path.join(BUILD, "tests/ort/run_models")], input=lines,
                          stdout=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, "NPU_DEVICE": "sim"})
    found = {}
    for line in done.stdout.splitlines():
        number, verdict, text = (line + " ").split(" ", 2)
        found[entries[int(number)]["model"]] = (verdict, text.strip())
    if done.returncode or len(found) != len(entries):
        raise RunError(f"run_models: exit status {done.returncode} after {len(found)} of "
                       f"{len(entries)} models")
    return found
