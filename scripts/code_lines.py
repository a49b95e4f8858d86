#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the lines of code in include, src, apps and python: no blank lines, none that hold nothing but a comment.

    code_lines.py [REVISION...]     of the working tree; of each revision as well, and how the tree differs from it:
                                    in files that it had (and in those of them that are gone), and in files that
                                    are new since, of which a moved or divided file's parts are some
    code_lines.py --files REVISION  the files that differ from it, those that grew most first
    code_lines.py --self-test"""
import argparse
import collections
import io
import pathlib
import re
import subprocess
import tarfile

ROOMS = ("include", "src", "apps", "python")
SUFFIXES = {".c", ".cpp", ".h", ".hpp", ".cu", ".py", ".pyi", ".js", ".css"}


def lines_of(text, suffix):
    """How many lines of a file's text hold code. A docstring of Python is code: it is what help() prints."""
    if suffix in (".py", ".pyi"):
        return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("#"))
    count, inside = 0, False
    for line in text.splitlines():
        rest = line
        if inside:
            _, end, rest = rest.partition("*/")
            inside = not end
        # A comment within a line leaves the rest of it; one that does not end there goes on.
        while not inside and (begin := re.match(r"\s*/\*", rest)):
            _, end, rest = rest[begin.end():].partition("*/")
            inside = not end
        if not inside and rest.strip() and not rest.strip().startswith("//"):
            count += 1
    return count


def of_tree():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *ROOMS], capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        path = pathlib.Path(name)
        if path.suffix in SUFFIXES and path.is_file():
            yield name, path.read_text(errors="replace")


def of_revision(revision):
    archive = subprocess.run(["git", "archive", revision, "--", *ROOMS], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar.getmembers():
            if member.isfile() and pathlib.Path(member.name).suffix in SUFFIXES:
                yield member.name, tar.extractfile(member).read().decode(errors="replace")


def counted(files):
    return {name: lines_of(text, pathlib.Path(name).suffix) for name, text in files}


def by_room(counts):
    rooms = collections.Counter()
    for name, lines in counts.items():
        rooms[name.split("/")[0]] += lines
    return rooms


def differences(before, now):
    """What changed from one set of files to another, by the kind of file: kept, gone, new; lines by name."""
    return {"kept": {name: now[name] - lines for name, lines in before.items() if name in now},
            "gone": {name: -lines for name, lines in before.items() if name not in now},
            "new": {name: lines for name, lines in now.items() if name not in before}}


def self_test():
    assert lines_of("int a;\n\n// b\n  // c\nint d;  // e\n", ".cpp") == 2
    assert lines_of("/* a\n b\n*/ int c;\n/* d */\n/* e */ int f;\nint g; /* h */\n", ".cpp") == 3
    assert lines_of('# a\nx = 1  # b\n\n"""c"""\n', ".py") == 2
    before = {"src/a.cpp": 10, "src/b.cpp": 5, "apps/c.cpp": 7}
    now = {"src/a.cpp": 8, "src/d.cpp": 4, "apps/c.cpp": 9}
    parts = differences(before, now)
    assert parts == {"kept": {"src/a.cpp": -2, "apps/c.cpp": 2}, "gone": {"src/b.cpp": -5}, "new": {"src/d.cpp": 4}}
    assert by_room(parts["kept"]) == {"src": -2, "apps": 2}
    assert sum(sum(part.values()) for part in parts.values()) == sum(now.values()) - sum(before.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revisions", metavar="REVISION", nargs="*")
    parser.add_argument("--files", metavar="REVISION", help="the files that differ from it, those that grew most first")
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args()
    if given.self_test:
        return self_test()
    now = counted(of_tree())
    if given.files:
        changed = [(lines, kind, name) for kind, part in differences(counted(of_revision(given.files)), now).items() for name, lines in part.items() if lines]
        for lines, kind, name in sorted(changed, reverse=True):
            print(f"{lines:>+7}  {kind:<5} {name}")
        return None
    print(f"{'':<12}" + "".join(f"{room:>9}" for room in ROOMS) + f"{'all':>9}")
    row = lambda name, counts: print(f"{name:<12}" + "".join(f"{counts[room]:>9}" for room in ROOMS) + f"{sum(counts.values()):>9}")
    row("tree", by_room(now))
    for revision in given.revisions:
        before = counted(of_revision(revision))
        row(revision[:11], by_room(before))
        parts = differences(before, now)
        row("  change", collections.Counter({room: sum(by_room(part)[room] for part in parts.values()) for room in ROOMS}))
        for kind, part in parts.items():
            row(f"    {kind}", by_room(part))
    return None


if __name__ == "__main__":
    main()
