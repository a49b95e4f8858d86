#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files of the proofs in data/transformations/proofs.

A proof has a file for a region of its kernel (device.cu) where most of the region is new, a unified diff against the kernel
that it changes (device.cu.diff) where little is, and nothing where the region stays as it was.

    proof_files.py write FOLDER    writes every region of every proof, whole, to FOLDER/NAME/
    proof_files.py take FOLDER     makes the proofs what FOLDER has (all that it has: those that follow one stay as they were)
"""
import argparse
import difflib
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROOFS = ROOT / "data/transformations/proofs"
PARTS = {"cuda": {"macros": "macros.cuh", "device": "device.cu", "host": "host.cu"}, "host": {"macros": "macros.hpp", "device": "device.cpp"}}
WORTH = 0.6  # a diff with more lines than this share of the region's is longer to read than the region


def read_jsonc(path):
    text = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*', lambda m: m.group(1) or "", path.read_text())
    return json.loads(text)


def problem_file(path):
    """The file of a problem that is named by its folder or its file, relative to the tree."""
    return ROOT / path if (ROOT / path).is_file() else ROOT / path / "problem.json"


def content_of(name):
    return json.loads((PROOFS / name / "proof.json").read_text())


def backend_of(name):
    return read_jsonc(problem_file(content_of(name)["problem"]))["backend"]


def applied(text, diff):
    """The text after a unified diff, each hunk exactly at the line that it names."""
    old, new, at = text.splitlines(), [], 0
    for line in diff.splitlines():
        if head := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            start = int(head.group(1)) - (head.group(2) != "0")
            new, at = new + old[at:start], start
        elif line.startswith("+"):
            new.append(line[1:])
        elif old[at:at + 1] != [line[1:]]:
            raise ValueError(f"the diff does not fit line {at + 1}: {line[1:]!r}; make it again with proof_files.py take")
        else:
            new, at = new + ([] if line.startswith("-") else [line[1:]]), at + 1
    return "".join(line + "\n" for line in new + old[at:])


def change(before, after):
    """The unified diff from one text to another, without the lines that name files."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm=""))[2:]
    return "".join(line.rstrip() + "\n" if line.isspace() else line + "\n" for line in lines)


def is_whole(before, after):
    return len(change(before, after).splitlines()) > WORTH * len(after.splitlines())


def problem_regions(path):
    file = problem_file(path)
    problem = read_jsonc(file)
    return {part: (file.parent / name).read_text() for part, name in problem["kernel"].items()}


def parent_regions(content):
    return proof_regions(content["before"]) if content.get("before") else problem_regions(content["problem"])


def proof_regions(name):
    """The texts of a proof's regions."""
    content = content_of(name)
    before = parent_regions(content)
    regions = {}
    for part, file in PARTS[backend_of(name)].items():
        whole, diff = PROOFS / name / file, PROOFS / name / (file + ".diff")
        if whole.exists():
            regions[part] = whole.read_text()
        else:
            regions[part] = applied(before.get(part, ""), diff.read_text()) if diff.exists() else before.get(part, "")
    return regions


def take(folder):
    names = [file.parent.name for file in sorted(PROOFS.glob("*/proof.json"))]
    contents = {name: content_of(name) for name in names}
    parts = {name: PARTS[backend_of(name)] for name in names}
    after = {name: proof_regions(name) for name in names}
    for name in names:
        for part, file in parts[name].items():
            if (folder / name / file).exists():
                after[name][part] = (folder / name / file).read_text()
    for name in names:
        before = after.get(contents[name].get("before")) or problem_regions(contents[name]["problem"])
        for part, file in parts[name].items():
            text, old = after[name][part], before.get(part, "")
            whole = is_whole(old, text)
            for path, content in ((PROOFS / name / file, text if whole else ""), (PROOFS / name / (file + ".diff"), "" if whole else change(old, text))):
                if content:
                    path.write_text(content)
                else:
                    path.unlink(missing_ok=True)
    for name in names:
        assert proof_regions(name) == after[name], name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["write", "take"])
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    if options.action == "take":
        return take(options.folder)
    for file in sorted(PROOFS.glob("*/proof.json")):
        name = file.parent.name
        (options.folder / name).mkdir(parents=True, exist_ok=True)
        for part, text in proof_regions(name).items():
            (options.folder / name / PARTS[backend_of(name)][part]).write_text(text)


if __name__ == "__main__":
    main()
