#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the rooms of docs/architecture.md are those that there are, and that includes point up its list only.

A room is a folder of include/kernelsearch with its bodies in src/. The bodies that src/ROOM.cpp includes are in
include/kernelsearch/ROOM/impl. Exceptions, each an include of a plain struct that has no code, are named below.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
text = (root / "docs/architecture.md").read_text()
block = text.split("include/kernelsearch/\n", 1)[1].split("src/ ", 1)[0]
order = re.findall(r"^  (\w+)/ ", block, re.M)
there = sorted(p.name for p in (root / "include/kernelsearch").iterdir() if p.is_dir())
faults = []
if sorted(order) != there:
    faults.append(f"docs/architecture.md lists {sorted(order)}, include/kernelsearch has {there}")

include = re.compile(r'^\s*#\s*include "(?:kernelsearch/)?(\w+)/[^"]+"', re.M)
for room in there:
    files = [*(root / "include/kernelsearch" / room).rglob("*.hpp"), *(root / "src" / room).rglob("*.[hc]pp")]
    own = root / "src" / f"{room}.cpp"
    files += [own] if own.exists() else []
    for file in files:
        for other in include.findall(file.read_text()):
            if other in order and order.index(other) > order.index(room):
                faults.append(f"{file.relative_to(root)} includes from {other}/, which comes after {room}/")

print("\n".join(faults) or f"{len(order)} rooms, no include points down the list")
sys.exit(1 if faults else 0)
