#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What earlier versions wrote is read by this one: formats_test.py SOURCE COMMAND. tests/formats/VERSION is of scripts/format_corpus.sh."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, COMMAND = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
failures = 0


def check(what, truth, told=""):
    global failures
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    failures += not truth


versions = sorted(path.parent.name for path in (SOURCE / "tests/formats").glob("*/runs.db"))
own = re.search(r'#define KERNELSEARCH_VERSION "(.*)"', (SOURCE / "include/kernelsearch/version.hpp").read_text()).group(1)
check("this version has its files (else: scripts/format_corpus.sh COMMAND)", own in versions, versions)
for version in versions:
    with tempfile.TemporaryDirectory() as folder:
        files = pathlib.Path(folder) / "files"
        shutil.copytree(SOURCE / "tests/formats" / version, files)
        for path in [files, *files.rglob("*")]:  # the sources may be there only to be read
            path.chmod(path.stat().st_mode | 0o200)

        def run(*arguments):
            return subprocess.run([COMMAND, *arguments], cwd=files, capture_output=True, text=True)

        expected = json.loads((files / "runs.json").read_text())[0]
        done = run("runs", "--store", "runs.db", "--json")
        found = json.loads(done.stdout)[0] if done.returncode == 0 else {}
        check(f"{version}: the store has its run", all(found.get(key) == expected[key] for key in ("run", "problem", "policy", "seed", "trials", "best_seconds")), done)
        best = run("best", "latest", "--store", "runs.db", "--problem", "problem", "--source")
        check(f"{version}: the winner is written from the store", best.returncode == 0 and "prefix_sum" in best.stdout, best)
        shown = run("report", "latest", "--store", "runs.db", "--format", "md")
        check(f"{version}: a report is made of the run", shown.returncode == 0 and f"{expected['trials']}" in shown.stdout, shown)
        plan = run("plan", "check", "plan.json", "problem", "--device", expected["device"], "--json")
        told = json.loads(plan.stdout) if plan.returncode == 0 else {}
        check(f"{version}: the plan is for the problem", told.get("matches") is True and told["faults"] == [], plan)
        space = run("space", "problem", "--json")
        check(f"{version}: the problem has its space", space.returncode == 0 and json.loads(space.stdout)["valid"] == 11, space)
        for recording in ("run.jsonl", "run.csv", "run.t4.json", "run.cachefile.json"):
            done = run("inspect", recording, "--json")
            told = json.loads(done.stdout) if done.returncode == 0 else {}
            same = told.get("recorded") == expected["trials"] and abs(told["best"]["seconds"] / expected["best_seconds"] - 1) < 1e-9
            check(f"{version}: {recording} is read, with the best time of the run", same, done)
sys.exit(1 if failures else 0)
