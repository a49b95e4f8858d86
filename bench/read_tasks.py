#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts which tasks of a copy of other tools' repositories are read, and why the rest is refused.

    read_tasks.py path/to/kernelsearch FOLDER... [--only FORM] [--describe SECONDS] [--list]

Each definition (docs/tasks.md), solution, TritonBench-G file, GPU MODE folder, folder with a config.yaml (by its
task_type), benchmark of CUB and PyTorch module (docs/torch.md) below the folders is given to `kernelsearch check`, which reads it and runs nothing of it. Modules are counted by the folder
they are in, which is the level in KernelBench. With --describe, what is read is given to `kernelsearch prompt` too,
which starts the reference: it draws inputs and computes what is right. Where the reference is refused, `prompt` prints
its questions without the line about the compiler, and `kernelsearch tune` is asked for the reason. That needs, for
most tasks, a device. Without PyTorch, files of Python are refused (KERNELSEARCH_PYTHON names an interpreter that has
it). Prints a table in Markdown: form, files, read, refused by reason.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FORMS = ("definition", "solution", "TritonBench-G file", "GPU MODE folder", "PyTorch module", "config.yaml", "CUB benchmark")
MODULE = re.compile(r"^class Model\s*\(.*\bModule\b", re.MULTILINE)
UNSAID = "the reference did not run, and nothing says why"
COMMANDS = re.compile(r"^correctness_command:", re.MULTILINE)
KIND = re.compile(r"^task_type: *([\w-]+)", re.MULTILINE)
RANGE = re.compile(r"^\s*// %RANGE% ", re.MULTILINE)
MARKS = re.compile(r"^#{146}\s*$", re.MULTILINE)


def form_of(path):
    """The form of a file, or None: by what it holds, as the command tells them apart."""
    if path.name == "task.yml" and (path.parent / "reference.py").is_file():
        return "GPU MODE folder"
    if path.name == "config.yaml":
        return "config.yaml" if COMMANDS.search(path.read_text(errors="replace")) else None
    if path.suffix == ".cu":
        return "CUB benchmark" if RANGE.search(path.read_text(errors="replace")) else None
    if path.suffix == ".py":
        try:
            text = path.read_text(errors="replace")
        except OSError:
            return None
        if MARKS.search(text):
            return "TritonBench-G file"
        return "PyTorch module" if MODULE.search(text) else None
    if path.suffix == ".json" and path.stat().st_size <= 4 << 20:
        try:
            value = json.loads(path.read_text())
        except (OSError, ValueError):
            return None
        if isinstance(value, dict) and {"name", "axes", "inputs", "outputs", "reference"} <= set(value):
            return "definition"
        if isinstance(value, dict) and {"definition", "spec", "sources"} <= set(value):
            return "solution"
    return None


def tasks_below(folder):
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = pathlib.Path(root, name)
            if path.is_file() and not path.is_symlink():
                form = form_of(path)
                if form is not None:
                    yield form, path.parent if path.name in ("task.yml", "config.yaml") else path


def reason_of(text):
    """The command's message without the place and what was given."""
    lines = [line for line in text.splitlines() if line.startswith("kernelsearch: ")]
    if not lines:
        return (text.strip().splitlines() or ["it says nothing"])[-1][:120]
    what = lines[-1].removeprefix("kernelsearch: ")
    what = re.sub(r"^([/.]\S*?|\S+?(?=( line \d+)?:\d))( line \d+)?(:\d+)*: (/\S+ |the document )?", "", what)
    first, _, rest = what.partition(": ")
    if "is no problem that can be judged" in first and rest:  # what the reference said, without the names of parts
        return re.sub(r"^`[^`]*` \(\w+\) ", "", rest.split("; ")[0])
    return re.split(r": |; ", what)[0]


def asked(command, seconds, needs=""):
    """Why the command did not answer; "" if it did, and its answer has `needs`."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer in {seconds} s"
    if ended.returncode == 0:
        return "" if needs in ended.stdout else UNSAID
    return reason_of(ended.stderr or ended.stdout)


def described_by(command, path, seconds):
    """Why the reference did not run; "" if it did."""
    reason = asked([command, "prompt", path, "--system", "best_of_k"], seconds, "\n- compiler: ")
    if reason != UNSAID:
        return reason
    with tempfile.TemporaryDirectory() as folder:
        places = ["--store", f"{folder}/runs.db", "--out", f"{folder}/out"]
        return asked([command, "tune", path, "--budget", "1", "--quiet", *places], seconds) or UNSAID


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("command")
    options.add_argument("folders", nargs="+")
    options.add_argument("--describe", type=int, metavar="SECONDS", default=0)
    options.add_argument("--only", choices=FORMS, help="count files of this form")
    options.add_argument("--list", action="store_true", help="also print each refused file with the reason")
    chosen = options.parse_args()
    found, read, described = collections.Counter(), collections.Counter(), collections.Counter()
    refused = collections.defaultdict(collections.Counter)
    for folder in chosen.folders:
        for form, path in tasks_below(folder):
            if chosen.only not in (None, form):
                continue
            if form == "PyTorch module":
                form = f"{form}, {path.resolve().parent.name}"
            if form == "config.yaml":
                kind = KIND.search((path / "config.yaml").read_text(errors="replace"))
                form = f"{form}, {kind.group(1) if kind else 'without a type'}"
            found[form] += 1
            reason = asked([chosen.command, "check", str(path)], 120)
            if not reason:
                read[form] += 1
                if chosen.describe:
                    reason = described_by(chosen.command, str(path), chosen.describe)
                    described[form] += not reason
            if reason:
                refused[form][reason] += 1
                if chosen.list:
                    print(f"{path}: {reason}", file=sys.stderr)
    head = ["form", "files", "read"] + (["reference ran"] if chosen.describe else []) + ["refused"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for form in sorted(found):
        why = "; ".join(f"{count}: {reason}" for reason, count in refused[form].most_common()) or "-"
        cells = [form, found[form], read[form]] + ([described[form]] if chosen.describe else []) + [why.replace("|", "/")]
        print("| " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    main()
