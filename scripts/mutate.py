#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks one line at a time and looks whether a test notices: scripts/mutate.sh

A mutant is a named replacement of text in one file; those of a room are in tests/mutants/ROOM.json. Each is made in a
copy of the tree (build/mutants/tree), built, and run against the tests that it names. It is
  killed    a test fails, or does not end within the limit of time
  alive     every test passes: the tests do not see what the line does
  excused   alive, and the file says why that is right
  rotten    its text is not found exactly once, a filter of its tests chooses none, or what comes out does not compile:
            the list needs mending
The exit code is 0 where none is alive or rotten.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

home = pathlib.Path(__file__).resolve().parent.parent
lists = home / "tests" / "mutants"
tree = home / "build" / "mutants" / "tree"
built = home / "build" / "mutants" / "build"
keys = {"name", "breaks", "file", "from", "to", "tests", "excused"}


def fail(what: str) -> None:
    sys.exit(f"mutate: {what}")


def read(room: str) -> dict:
    path = lists / f"{room}.json"
    if not path.exists():
        fail(f"there is no list {path.relative_to(home)}; there are: {' '.join(sorted(p.stem for p in lists.glob('*.json')))}")
    try:
        listed = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        fail(f"{path.relative_to(home)} is not JSON: {error}")
    names = set()
    for mutant in listed["mutants"]:
        for key in keys - {"excused"}:
            if key not in mutant:
                fail(f"{path.relative_to(home)}: {mutant.get('name', mutant)} has no {key}")
        if unknown := set(mutant) - keys:
            fail(f"{path.relative_to(home)}: {mutant['name']}: unknown {', '.join(sorted(unknown))}")
        if mutant["name"] in names:
            fail(f"{path.relative_to(home)}: two mutants are named {mutant['name']}")
        names.add(mutant["name"])
    return listed


def text_of(value) -> str:
    """A text, or its lines."""
    return value if isinstance(value, str) else "\n".join(value)


def places(mutant: dict) -> int:
    path = home / mutant["file"]
    return path.read_text().count(text_of(mutant["from"])) if path.exists() else 0


def cases_of_tests() -> list[str]:
    """The names of all test cases, also those whose name is broken into several literals."""
    names = []
    for path in sorted((home / "tests").rglob("*_test.cpp")):
        for literals in re.findall(r'TEST_CASE(?:_TEMPLATE)?\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', path.read_text()):
            names.append("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)))
    return names


def filters_without_case(filters: str, cases: list[str]) -> list[str]:
    """Those of the filters, doctest's with commas between, that choose no test case: what they look for cannot fail."""
    def chosen(one: str) -> bool:
        wanted = re.compile(".*".join(re.escape(part) for part in one.split("*")), re.IGNORECASE)
        return any(wanted.fullmatch(case) for case in cases)
    return [one for one in filters.split(",") if not chosen(one)]


def run(command: list, seconds: float | None = None) -> tuple[int, str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return 124, "did not end"


def copy_tree() -> None:
    """The files as they are, unchanged ones with their times, so that little is built again."""
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=home, check=True,
                           capture_output=True).stdout.decode().split("\0")
    wanted = {name for name in files if name and (home / name).is_file()}
    for name in wanted:
        source, target = home / name, tree / name
        if target.exists() and source.stat().st_mtime == target.stat().st_mtime and source.stat().st_size == target.stat().st_size:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    for path in tree.rglob("*"):
        if path.is_file() and str(path.relative_to(tree)) not in wanted:
            path.unlink()


def build(target: str, jobs: int) -> tuple[int, str]:
    return run(["cmake", "--build", str(built), f"-j{jobs}", "--target", target])


def failed_cases(output: str) -> list[str]:
    cases = re.findall(r"^TEST CASE: +(.*)$", output, re.M)
    return list(dict.fromkeys(cases))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help="lists of tests/mutants; default: all")
    parser.add_argument("--only", default="", metavar="REGEX", help="those in whose name it is found")
    parser.add_argument("--list", action="store_true", help="check the lists and print them; nothing is built")
    parser.add_argument("--seconds", type=float, default=300, help="limit of the tests of one mutant (300)")
    parser.add_argument("--table", type=pathlib.Path, help="write the table, in Markdown, there too")
    given = parser.parse_args()
    jobs = int(os.environ.get("JOBS", os.cpu_count() or 1))

    rooms = given.rooms or sorted(path.stem for path in lists.glob("*.json"))
    chosen = {room: read(room) for room in rooms}
    for listed in chosen.values():
        listed["mutants"] = [m for m in listed["mutants"] if re.search(given.only, m["name"])]
    count = sum(len(listed["mutants"]) for listed in chosen.values())
    if count == 0:
        fail(f"no mutant is named like {given.only!r}; --list prints them")
    cases = cases_of_tests()
    rotten = [(room, m["name"]) for room, listed in chosen.items() for m in listed["mutants"]
              if places(m) != 1 or filters_without_case(m["tests"], cases)]
    if given.list:
        for room, listed in chosen.items():
            for mutant in listed["mutants"]:
                state = "rotten" if (room, mutant["name"]) in rotten else "excused" if "excused" in mutant else ""
                print(f"{room}/{mutant['name']:40} {mutant['breaks']}{'  [' + state + ']' if state else ''}")
        print(f"{count} mutants, {len(rotten)} rotten")
        return 1 if rotten else 0

    tree.mkdir(parents=True, exist_ok=True)
    copy_tree()
    code, output = run(["cmake", "-S", str(tree), "-B", str(built), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=", "-DCMAKE_CXX_FLAGS=-O1",
                        "-DKERNELSEARCH_UNITY=OFF", "-DKERNELSEARCH_BUILD_EXAMPLES=OFF", "-DKERNELSEARCH_WERROR=OFF",
                        *(["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else [])])
    if code != 0:
        fail("configuring the copy failed:\n" + output[-3000:])

    rows, bad = [], 0
    for room, listed in chosen.items():
        target = listed["target"]
        program = None
        code, output = build(target, jobs)
        if code != 0:
            fail(f"{target} does not build as it is:\n" + output[-3000:])
        program = next((path for path in built.rglob(target) if path.is_file()), None)
        for filters in sorted({mutant["tests"] for mutant in listed["mutants"]}):
            code, output = run([str(program), f"-tc={filters}"], given.seconds)
            if code != 0 or re.search(r"test cases: +0 ", output):
                fail(f"{target} -tc='{filters}' must pass before anything is broken:\n" + output[-2000:])
        for mutant in listed["mutants"]:
            began = time.monotonic()
            path, original = tree / mutant["file"], None
            note = ""
            if places(mutant) != 1:
                state, note = "rotten", f"its text is there {places(mutant)} times"
            elif none := filters_without_case(mutant["tests"], cases):
                state, note = "rotten", f"no test case is named like {', '.join(none)}"
            else:
                original = path.read_text()
                path.write_text(original.replace(text_of(mutant["from"]), text_of(mutant["to"])))
                code, output = build(target, jobs)
                if code != 0:
                    error = re.search(r"error: .*", output)
                    state, note = "rotten", "does not compile: " + (error.group(0) if error else output[-200:])
                else:
                    code, output = run([str(program), f"-tc={mutant['tests']}"], given.seconds)
                    failed = failed_cases(output)
                    state = "killed" if code != 0 else "excused" if "excused" in mutant else "alive"
                    note = "; ".join(failed[:2]) if failed else mutant.get("excused", "") if state == "excused" else output.strip()[-60:] if code else ""
                path.write_text(original)
            bad += state in ("alive", "rotten")
            rows.append((room, mutant["name"], mutant["breaks"], state, note.replace("|", "/")))
            print(f"{state:8} {room}/{mutant['name']}  ({time.monotonic() - began:.0f} s) {note}", flush=True)
        code, output = build(target, jobs)  # as it was, for the next list
        if code != 0:
            fail(f"{target} does not build any more:\n" + output[-3000:])

    table = ["| room | mutant | what it breaks | | by |", "|---|---|---|---|---|"]
    table += ["| " + " | ".join(row) + " |" for row in rows]
    if given.table:
        given.table.write_text("\n".join(table) + "\n")
    states = [row[3] for row in rows]
    print(", ".join(f"{states.count(s)} {s}" for s in ("killed", "alive", "excused", "rotten")))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
