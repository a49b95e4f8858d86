#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs that are killed in the middle go on without paying for any reply twice: killed_run_test.py KERNELSEARCH FOLDER.

A server of this test says what the fixtures of tests/fixtures/exchanges say and counts what it hands over; no model is
behind it. Kernels are really compiled, checked and timed. Each run is killed (SIGKILL) while it waits for a reply, and
while it works on one; then it is resumed, and what was paid for is compared with what the run knows to be paid."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / "tests/support")]
from fixture_model import FixtureModel  # noqa: E402

COMMAND, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
DOT = SOURCE / "tests/fixtures/problems/dot"
# Some of the moments at which a run is killed stand for all of them.
THOROUGH = os.environ.get("KERNELSEARCH_TEST_THOROUGH") == "1"
failures = []


def check(what, truth, told=""):
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    if not truth:
        failures.append(what)


class Desk:
    """A user's folder; `model` answers."""

    def __init__(self, model, name):
        self.model, self.path = model, FOLDER / name
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        self.environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        self.environment.update(HOME=str(self.path), XDG_CACHE_HOME=str(self.path), XDG_DATA_HOME=str(self.path))
        (self.path / "models.json").write_text(json.dumps(model.models()))

    def command(self, *words):
        return [COMMAND, *words, "--store", "runs.db"]

    def tune(self, *words):
        return self.command("tune", *words, "--models", "models.json", "--samples", "5", "--out", "out", "--json", "-q")

    def start(self, line):
        with open(self.path / "err", "w") as err:
            return subprocess.Popen(line, cwd=self.path, env=self.environment, stdout=subprocess.DEVNULL, stderr=err)

    def finish(self, line):
        done = subprocess.run(line, cwd=self.path, env=self.environment, capture_output=True, text=True, timeout=300)
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr

    def trials(self):
        done = subprocess.run(self.command("export", "latest", "--format", "jsonl"), cwd=self.path, env=self.environment,
                              capture_output=True, text=True, timeout=60)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def exchanges(self):
        """What is kept; files appear whole."""
        return [json.loads(file.read_text()) for file in (self.path / "runs.db.exchanges").rglob("*.json")]


def known(desk):
    """Trials in the store while a run works."""
    return len(desk.trials())


def roomy(desk):
    """The problem with more configurations than one round tries."""
    shutil.copytree(DOT, desk.path / "dot")
    text = json.loads((DOT / "problem.json").read_text())
    text["tunables"] = {"LANES": [1, 2, 4, 8, 16, 32], "UNROLL": [1, 2, 3, 4, 5, 6, 7, 8]}
    (desk.path / "dot/problem.json").write_text(json.dumps(text))
    return desk.path / "dot"


def kill_and_resume(model, system, budget, moments, problem=lambda desk: DOT):
    for number, (what, replies, seconds) in enumerate(moments if THOROUGH else moments[-1:]):
        name = f"{system}, killed {what}"
        desk = Desk(model, f"{system}{number}")
        model.use(system)
        model.hold(replies)  # so no reply is on its way when the run is killed
        run = desk.start(desk.tune(str(problem(desk)), "--system", system, "--budget", str(budget)))
        if seconds is None:  # while it waits for a reply that never comes
            came = model.wait_for(lambda m: len(m.paid) >= replies and m.asked > replies)
            time.sleep(0.3)
        else:  # while it works on what it was told
            deadline = time.monotonic() + 120
            while len(desk.exchanges()) < replies and time.monotonic() < deadline:
                time.sleep(0.02)
            came = len(desk.exchanges()) >= replies
            time.sleep(seconds)
        running = run.poll() is None
        run.send_signal(signal.SIGKILL)
        run.wait()
        check(f"{name}: was in the middle", came and running, (desk.path / "err").read_text()[-300:])
        model.hold(None)
        paid, before, story = len(model.paid), known(desk), desk.trials()
        result = desk.finish(desk.tune("--resume", "latest"))
        if not isinstance(result, dict):
            check(f"{name}: goes on", False, result[-600:])
            continue
        kept, total = desk.exchanges(), result["models"]["total"]
        check(f"{name}: goes on to its end", len(desk.trials()) > before and result["best"] is not None,
              (before, result["trials"]))
        # Every reply handed over is in the folder once: none was asked for again, which would be one more.
        check(f"{name}: nothing is paid for twice", len(model.paid) == len(kept), (paid, len(model.paid), len(kept)))
        check(f"{name}: each reply is booked once", total["calls"] - total["failed"] == len(model.paid)
              and total["tokens"]["output"] == sum(one["reply"]["usage"]["output"] for one in kept if "reply" in one),
              (total, len(model.paid)))
        check(f"{name}: what was measured stays", [trial["point"] for trial in desk.trials()][:before]
              == [trial["point"] for trial in story])
        yield name, desk, result


def main():
    model = FixtureModel()
    try:
        # Without a kill: as many replies must be enough for a run that was cut. (STARK's and Helion's questions hold
        # measured times, and so do their decisions: there the number may differ.)
        whole = Desk(model, "whole")
        enough = {}
        for system, budget in (("geak", 4), ("peak", 60)):
            model.use(system)
            result = whole.finish(whole.tune(str(DOT), "--system", system, "--budget", str(budget), "--no-reuse"))
            check(f"{system}: runs", isinstance(result, dict), result)
            enough[system] = len(model.paid)
        geak = (("waiting for the first reply", 0, None), ("waiting for the third", 2, None),
                ("with a reply just kept", 1, 0.05), ("while its kernel is judged", 2, 0.6))
        for name, desk, _ in kill_and_resume(model, "geak", 4, geak):
            check(f"{name}: no reply more than without", len(model.paid) == enough["geak"], (len(model.paid), enough["geak"]))
        stark = (("between plan and code", 1, None), ("waiting for a later reply", 4, None), ("in the middle of work", 3, 0.4))
        for name, desk, _ in kill_and_resume(model, "stark", 8, stark):
            roles = {one["question"]["role"] for one in desk.exchanges()}
            check(f"{name}: all of its roles", {"planner", "coder"} <= roles, roles)
        helion = (("waiting for its seeds", 0, None), ("while the first round is measured", 1, 0.8),
                  ("waiting for its second round", 1, None))
        for name, desk, result in kill_and_resume(model, "helion_llm", 40, helion, roomy):
            check(f"{name}: asks again with results", any("# Results so far" in message["text"] for one in desk.exchanges()
                                                          for message in one["question"]["messages"]), result["trials"])
        peak = (("waiting for a pass", 1, None), ("while a kernel is tuned", enough["peak"] - 3, 0.8))
        for name, desk, result in kill_and_resume(model, "peak", 60, peak):
            check(f"{name}: no reply more than without", len(model.paid) == enough["peak"], (len(model.paid), enough["peak"]))
            stored = [trial["candidate"]["values"] for trial in desk.trials() if trial["evaluation"]["verdict"] == "ok"]
            check(f"{name}: the stored kernel brings its own tunables", any("ACCUMULATORS" in values for values in stored),
                  result["best"])
    finally:
        model.close()
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
