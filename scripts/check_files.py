#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks files one by one, as `--preset dev` compiles them, with -fsyntax-only: nothing is written.

  scripts/check_files.py BUILD                      every file that the configured build folder BUILD compiles
  scripts/check_files.py BUILD --since COMMIT       the files that changed since COMMIT, and for each header that changed one
                                                    file that includes it
  scripts/check_files.py BUILD --since COMMIT --part K/N
                                                    the same, and of all the others the K-th of N parts
  scripts/check_files.py BUILD ... --list           the names of the files, without checking them

The warnings are those of the build folder, which may differ from one that compiles the files of a target together: names that
shadow others, and missing includes, are seen here alone. It ends with 1 if a file does not compile.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import time

root = pathlib.Path(__file__).resolve().parent.parent
including = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)


def commands_of(build):
    """{file: (folder, command)}, a file of several targets once, without what CMake makes for each header."""
    commands = {}
    database = build / "compile_commands.json"
    if not database.exists():
        sys.exit(f"{database} does not exist: configure the build folder first (cmake --preset dev)")
    for entry in json.loads(database.read_text()):
        file = pathlib.Path(entry["file"])
        if build not in file.parents and file.suffix in (".cpp", ".cc", ".cxx"):
            commands.setdefault(file, (entry["directory"], entry["command"]))
    return commands


def checking(command):
    """The command without its output and its optimiser."""
    words = shlex.split(command)
    at = words.index("-o")
    words = words[:at] + words[at + 2:]
    if pathlib.Path(words[0]).name == "ccache":
        words = words[1:]
    return [word for word in words if word != "-c"] + ["-fsyntax-only"]


class Includes:
    """Which files of the tree each file includes, directly or through others; by the names that stand in them."""

    def __init__(self):
        self.direct = {}
        self.names = {}
        for folder in ("include", "src", "apps", "tests", "bench", "examples"):
            for path in (root / folder).rglob("*.h*"):
                self.names.setdefault(path.name, []).append(path)

    def of(self, file):
        if file not in self.direct:
            found = set()
            for name in including.findall(file.read_bytes()):
                tail = pathlib.PurePosixPath(os.path.normpath(name.decode(errors="replace")))
                parts = [part for part in tail.parts if part != ".."]
                for path in self.names.get(tail.name, []):
                    if path.parts[-len(parts):] == tuple(parts):
                        found.add(path)
            self.direct[file] = found
        return self.direct[file]

    def all_of(self, file):
        seen, open_files = set(), [file]
        while open_files:
            for path in self.of(open_files.pop()) - seen:
                seen.add(path)
                open_files.append(path)
        return seen


def changed_since(commit):
    run = subprocess.run(["git", "diff", "--name-only", "--diff-filter=d", commit, "--"], cwd=root, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"git knows no such commit: {commit}: {run.stderr.strip()}")
    return {root / line for line in run.stdout.splitlines()}


def chosen(commands, commit):
    """The files that changed, and the fewest others (by taking the greatest first) that include each header that did."""
    changed = changed_since(commit)
    files = {file for file in commands if file in changed}
    headers = {path for path in changed if path.suffix in (".hpp", ".h")}
    if headers:
        includes = Includes()
        reached = {file: includes.all_of(file) & headers for file in commands}
        for file in files:
            headers -= reached[file]
        while headers:
            best = max(sorted(commands), key=lambda file: len(reached[file] & headers))
            if not reached[best] & headers:
                break  # headers that no file includes
            files.add(best)
            headers -= reached[best]
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("--part", metavar="K/N")
    parser.add_argument("--under", metavar="FOLDER", action="append", help="only files of this folder of the tree; repeatable")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()

    commands = commands_of(arguments.build.resolve())
    files = set(commands) if arguments.since is None else chosen(commands, arguments.since)
    if arguments.part:
        matched = re.fullmatch(r"([0-9]+)/([1-9][0-9]*)", arguments.part)
        if not matched or arguments.since is None:
            parser.error(f"--part takes K/N and goes with --since; it was given {arguments.part!r}")
        part, parts = int(matched[1]), int(matched[2])
        files |= set(sorted(commands)[part % parts::parts])
    if arguments.under:
        files = {file for file in files if any(root / folder in file.parents for folder in arguments.under)}
    if arguments.list:
        print("\n".join(str(file.relative_to(root)) for file in sorted(files)))
        return

    def check(file):
        folder, command = commands[file]
        return file, subprocess.run(checking(command), cwd=folder, capture_output=True, text=True)

    began, bad = time.monotonic(), 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for file, run in pool.map(check, sorted(files)):
            if run.returncode != 0:
                bad += 1
                print(f"{file.relative_to(root)} does not compile on its own:\n{run.stderr}", file=sys.stderr, flush=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(files)} of {len(commands)} files, {bad} of them do not compile; {time.monotonic() - began:.0f} s, "
          f"{used.ru_utime + used.ru_stime:.0f} s of processor time")
    sys.exit(bool(bad))


main()
