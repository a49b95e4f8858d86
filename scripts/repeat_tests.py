#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""repeat_tests.py BUILD TIMES [--jobs N] [--only REGEX]

Runs every test of BUILD with the label unit or integration TIMES times, several copies of a test side by side, which is
the load under which races show. A test with a RESOURCE_LOCK keeps files at a fixed place: one copy of it at a time.
Failures are printed as they come, their output is kept in BUILD/repeat. The last line counts:
N passed, N failed, N skipped
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time


def listed_tests(build):
    """What ctest knows of each test: name, command, properties."""
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True, text=True)
    for test in json.loads(listing.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if "command" in test and {"unit", "integration"} & set(properties.get("LABELS", [])):
            yield test["name"], test["command"], properties


def outcome_of(command, properties):
    """("passed" | "failed" | "skipped", output) of one run, judged by the properties that ctest judges by."""
    environment = dict(os.environ, **dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", [])))
    try:
        ran = subprocess.run(command, cwd=properties.get("WORKING_DIRECTORY"), env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=properties.get("TIMEOUT", 1500))
    except subprocess.TimeoutExpired as expired:
        return "failed", (expired.output or b"").decode(errors="replace") + "\nran out of time\n"
    output = ran.stdout.decode(errors="replace")
    if ran.returncode == properties.get("SKIP_RETURN_CODE"):
        return "skipped", output
    if any(re.search(e, output) for e in properties.get("SKIP_REGULAR_EXPRESSION", [])):
        return "skipped", output
    wanted = properties.get("PASS_REGULAR_EXPRESSION", [])
    good = any(re.search(e, output) for e in wanted) if wanted else ran.returncode == 0
    return ("passed" if good else "failed"), f"{output}\nexit code {ran.returncode}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("times", type=int)
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--only", default="", help="tests whose name this regular expression finds")
    given = parser.parse_args()
    tests = [t for t in listed_tests(given.build) if re.search(given.only, t[0])]
    if given.times < 1 or not tests:
        sys.exit("nothing to run: TIMES is below 1, or no test with the label unit or integration has such a name")
    kept = pathlib.Path(given.build) / "repeat"
    kept.mkdir(exist_ok=True)
    locks = {}
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    printing = threading.Lock()

    def run(test, turn):
        name, command, properties = test
        held = [locks[r] for r in sorted(properties.get("RESOURCE_LOCK", []))]
        for lock in held:
            lock.acquire()
        try:
            outcome, output = outcome_of(command, properties)
        finally:
            for lock in held:
                lock.release()
        with printing:
            counts[outcome] += 1
            if outcome == "failed":
                file = kept / f"{name}.{turn}.log"
                file.write_text(output)
                print(f"failed: {name}, run {turn} of {given.times}: {file}", flush=True)

    for _, _, properties in tests:
        for resource in properties.get("RESOURCE_LOCK", []):
            locks.setdefault(resource, threading.Lock())
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        # the copies of a test one after another in the queue, so that they run side by side
        for done in [pool.submit(run, test, turn + 1) for test in tests for turn in range(given.times)]:
            done.result()
    print(f"{len(tests)} tests {given.times} times, {given.jobs} at a time, {time.monotonic() - began:.0f} s", file=sys.stderr)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
