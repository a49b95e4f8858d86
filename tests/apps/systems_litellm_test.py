#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every system by the command against litellm's proxy: systems_litellm_test.py KERNELSEARCH FOLDER.

Between the command and the replies stands a server that no one of this project wrote, which speaks both interfaces.
The replies are fixtures (tests/fixtures/exchanges): mock responses of the proxy for Helion's role, a server of this
test behind the proxy for the others, which choose their reply by the question. No model is asked, and no key needed.
Kernels are really compiled, checked and timed. Where litellm comes from, and when this is skipped: litellm_proxy.py."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / "tests/support")]
from fixture_model import EXCHANGES, ROLES, FixtureModel  # noqa: E402
from litellm_proxy import LitellmProxy  # noqa: E402

COMMAND, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
DOT, REDUCTION = SOURCE / "tests/fixtures/problems/dot", SOURCE / "examples/host/reduction"
failures = []


def check(what, truth, told=""):
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"))
    if not truth:
        failures.append(what)


def proxy_config(backend):
    models = [{"model_name": role, "litellm_params": {
        "model": "hosted_vllm/" + role, "api_base": f"http://127.0.0.1:{backend}/v1", "api_key": "unused"}}
        for role in ROLES if role != "config_search"]
    models.append({"model_name": "config_search", "litellm_params": {
        "model": "openai/mock", "api_key": "unused", "mock_response": (EXCHANGES / "helion_llm/first.md").read_text()}})
    return models


def model_file(port, provider, stream):
    base = f"http://127.0.0.1:{port}" + ("/v1" if provider == "openai" else "")
    return {"models": {role: {
        "provider": provider, "base_url": base, "model": role, "key_env": "LITELLM_KEY", "stream": stream,
        "prices": {"input": 1, "output": 2}, "timeouts": {"first_byte": 60, "total": 90}} for role in ROLES},
        "roles": {role: {"model": role} for role in ROLES}}


def story_of(desk, environment):
    """`kind strategies <- parents: verdict` of each trial of the newest run."""
    done = subprocess.run([COMMAND, "export", "latest", "--store", "runs.db", "--format", "jsonl"], cwd=desk, env=environment,
                          capture_output=True, text=True, timeout=60)
    told = []
    for line in done.stdout.splitlines():
        trial = json.loads(line)
        told.append(" ".join([trial["point"]["kind"], *trial["point"]["strategies"]])
                    + "".join(f" <- {parent}" for parent in trial["parents"]) + ": " + trial["evaluation"]["verdict"])
    return told


def main():
    model = FixtureModel()
    proxy = LitellmProxy(FOLDER, proxy_config(model.port))
    desk = FOLDER / "desk"
    shutil.rmtree(desk, ignore_errors=True)
    desk.mkdir(parents=True)
    environment = {**proxy.environment, "HOME": str(desk), "XDG_CACHE_HOME": str(desk), "XDG_DATA_HOME": str(desk)}

    def tune(system, budget, problem=DOT, provider="openai", stream=True, more=()):
        (desk / "models.json").write_text(json.dumps(model_file(proxy.port, provider, stream)))
        if (EXCHANGES / system).is_dir():
            model.use(system)
        done = subprocess.run(
            [COMMAND, "tune", str(problem), "--system", system, "--models", "models.json", "--budget", str(budget), "--store",
             "runs.db", "--samples", "5", "--out", "out", "--json", "-q", *more], cwd=desk, env=environment,
            capture_output=True, text=True, timeout=300)
        name = f"{system} on {problem.name}, {provider} {'streamed' if stream else 'whole'}"
        check(f"{name}: runs", done.returncode == 0, done.stderr[-600:])
        check(f"{name}: no key in what is said", proxy.key not in done.stdout + done.stderr)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def calls_of(result):
        calls = collections.Counter()
        for row in result["models"]["rows"]:
            calls[row["role"]] += row["calls"]
        return dict(calls)

    def check_ledger(system, result):
        total = result["models"]["total"]
        check(f"{system}: every reply is booked once, with its tokens and price",
              total["calls"] - total["failed"] == len(model.paid) and total["replayed"] == 0
              and total["tokens"]["input"] > 0 and total["tokens"]["output"] > 0 and total["money"] > 0, total)
        kept = list(pathlib.Path(result["models"]["exchanges"] if os.path.isabs(result["models"]["exchanges"])
                                 else desk / result["models"]["exchanges"]).rglob("*.json"))
        check(f"{system}: every exchange is kept", len(kept) == total["calls"], len(kept))

    try:
        if result := tune("best_of_k", 5):
            check_ledger("best_of_k", result)
            check("best_of_k: the story", story_of(desk, environment) == [
                "root: ok", "rewrite <- 0: ok", "rewrite <- 0: ok", "rewrite <- 0: build_failed", "rewrite <- 0: ok"],
                story_of(desk, environment))
            check("best_of_k: talk is asked for code again", result["models"]["faults"] == {"no_code": 1})
            check("best_of_k: faster", result["best"]["speedup"]["ratio"] > 1, result["best"])
        if result := tune("greedy_refine", 3, provider="anthropic"):
            check_ledger("greedy_refine", result)
            check("greedy_refine: the story", story_of(desk, environment) == [
                "root: ok", "rewrite <- 0: ok", "rewrite <- 1: ok"], story_of(desk, environment))
        if result := tune("geak", 4, provider="anthropic", stream=False):
            check_ledger("geak", result)
            check("geak: the story", story_of(desk, environment) == [
                "root: ok", "rewrite <- 0: wrong_result", "debug <- 1: ok", "rewrite <- 2: ok"], story_of(desk, environment))
            check("geak: its roles", calls_of(result) == {"generator": 1, "optimizer": 2, "reflector": 3}, calls_of(result))
        if result := tune("stark", 8, stream=False):
            check_ledger("stark", result)
            story = story_of(desk, environment)
            check("stark: the story", story[1:3] == ["rewrite <- 0: ok", "rewrite <- 1: wrong_result"]
                  and story.count("debug <- 2: ok") == 1, story)
            check("stark: its roles", {"planner", "coder", "debugger"} <= set(calls_of(result)), calls_of(result))
        if result := tune("kernelband", 8, provider="anthropic"):
            check_ledger("kernelband", result)
            check("kernelband: each proposal names a strategy", all(
                len(told.split(" <- ")[0].split()) == 2 for told in story_of(desk, environment)[1:]), story_of(desk, environment))
        if result := tune("peak", 100):
            check_ledger("peak", result)
            story = story_of(desk, environment)
            check("peak: the story", story[7:9] == [
                "rewrite independent_accumulators <- 0: ok", "rewrite loop_interchange <- 7: wrong_result"], story)
            check("peak: the winner's own tunable is tuned", "ACCUMULATORS" in result["best"]["config"], result["best"])
        for problem, stream in ((DOT, True), (REDUCTION, False)):
            if result := tune("helion_llm", 14, problem, stream=stream):
                check(f"helion_llm on {problem.name}: asks", calls_of(result)["config_search"] >= 1
                      and result["models"]["total"]["tokens"]["output"] > 0, result["models"])
                check(f"helion_llm on {problem.name}: measures", result["trials"] >= 10, result["trials"])
            if result := tune("helion_hybrid", 14, problem, "anthropic", stream):
                check(f"helion_hybrid on {problem.name}: one round, then LFBO",
                      calls_of(result)["config_search"] in (1, 2) and result["trials"] in (12, 14), result)
            if result := tune("helion_lfbo", 8, problem):
                check(f"helion_lfbo on {problem.name}: no model", result["trials"] == 8 and "models" not in result, result)

        # The proxy is gone; what was said is not.
        recorded = desk / "recorded"
        first = tune("best_of_k", 4, more=("--record-exchanges", str(recorded)))
        proxy.close()
        second = tune("best_of_k", 4, more=("--replay-exchanges", str(recorded)))
        if first and second:
            check("a recording replays without a server", calls_of(second) == calls_of(first) and len(model.paid) == 0
                  and second["models"]["total"]["replayed"] == first["models"]["total"]["calls"], second["models"])
    finally:
        proxy.close()
        model.close()
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
