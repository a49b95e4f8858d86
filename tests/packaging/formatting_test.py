#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Libraries that link fmt write numbers with it and not with snprintf (docs/architecture.md): formatting_test.py SOURCE."""
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1]).resolve()


def rooms_with_fmt(text):
    found = []
    for block in re.findall(r"kernelsearch_library\((.*?)\n\S", text + "\n#", flags=re.S):
        if "fmt::fmt" in block:
            found += re.search(r"ROOMS ([^\n]*)", block).group(1).split()
    return found


assert rooms_with_fmt("kernelsearch_library(a\n  ROOMS b c\n  DEPENDS fmt::fmt)\n\nkernelsearch_library(d\n  ROOMS e\n  DEPENDS f)\n") == ["b", "c"]
rooms = rooms_with_fmt((SOURCE / "src/CMakeLists.txt").read_text())
files = [file for room in rooms for file in (SOURCE / "src" / room).rglob("*.[ch]pp")]
places = [f"{file.relative_to(SOURCE)}:{number}" for file in files for number, line in enumerate(file.read_text().splitlines(), 1) if re.search(r"\bsn?printf\(", line)]
for place in places:
    print(f"FAILED  {place}: snprintf in a library that links fmt; write fmt::format")
if len(rooms) < 8 or len(files) < 100:
    sys.exit(f"FAILED  only {len(rooms)} rooms with {len(files)} files were found to link fmt: has src/CMakeLists.txt another form?")
sys.exit(1 if places else 0)
