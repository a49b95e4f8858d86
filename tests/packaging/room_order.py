#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the rooms of docs/architecture.md are those that there are, that includes point up its list only, and that
no two types have one name: a program that links both rooms would take the functions of one for those of the other.

A room is a folder of include/kernelsearch with its bodies in src/. The bodies that src/ROOM.cpp includes are in
include/kernelsearch/ROOM/impl. Exceptions, each an include of a plain struct that has no code, are named below.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
text = (root / "docs/architecture.md").read_text()
block = text.split("include/kernelsearch/\n", 1)[1].split("src/ ", 1)[0]
order = re.findall(r"^  ([\w/]+)/ ", block, re.M)
# A folder of a room's may be a room of its own, as evaluator/host is.
there = sorted(p.name for p in (root / "include/kernelsearch").iterdir() if p.is_dir())
faults = []
if sorted(room for room in order if "/" not in room) != there:
    faults.append(f"docs/architecture.md lists {sorted(order)}, include/kernelsearch has {there}")


def room_of(path):
    """The innermost listed room of a path below include/kernelsearch or src; None where it is in no room."""
    return max((room for room in order if path.startswith(room + "/")), key=len, default=None)


include = re.compile(r'^\s*#\s*include "(?:kernelsearch/)?([^"]+)"', re.M)
for base in (root / "include/kernelsearch", root / "src"):
    for file in sorted(base.rglob("*.[hc]pp")):
        path = file.relative_to(base).as_posix()
        room = room_of(path if "/" in path else path.removesuffix(".cpp") + "/")
        for other in map(room_of, include.findall(file.read_text())):
            if room and other and order.index(other) > order.index(room):
                faults.append(f"{file.relative_to(root)} includes from {other}/, which comes after {room}/")

opened = re.compile(r"^(?:inline )?namespace(?: ([\w:]+))? \{")
defined = re.compile(r"^(?:template.*> *)?(?:struct|class|enum class|enum|union) (\w+)(?: final)?(?: :[^:].*)? *\{")
types = {}
for file in sorted([*(root / "include").rglob("*.hpp"), *(root / "src").rglob("*.[hc]pp")]):
    spaces = []
    for line in file.read_text().splitlines():
        if names := opened.match(line):
            spaces.append(names[1] or "")
        elif spaces and re.match(r"\}  // namespace", line):
            spaces.pop()
        elif (name := defined.match(line)) and "" not in spaces:
            types.setdefault("::".join([*spaces, name[1]]), []).append(str(file.relative_to(root)))
for name, files in types.items():
    if len(files) > 1:
        faults.append(f"{name} is defined in {' and in '.join(files)}")

print("\n".join(faults) or f"{len(order)} rooms, no include points down the list")
sys.exit(1 if faults else 0)
