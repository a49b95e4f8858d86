#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`kernelsearch mcp` driven by the official MCP SDK for Python as a client: mcp_client_test.py KERNELSEARCH FOLDER.

Once in the initialised era and once stateless (2026-07-28), as found out by the SDK and as pinned. Kernels are really
compiled, checked and timed; one is made faster from start to end through tools alone. The SDK (PyPI: mcp) is taken from
a virtual environment in FOLDER, which is made where KERNELSEARCH_TEST_NETWORK=1 allows to. Exits with 77 (skipped) where
there is none."""
import os
import pathlib
import shutil
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / "tests/support")]
from python_environment import run_inside  # noqa: E402

from dot_kernels import RIGHT, SUMS_APART  # noqa: E402

COMMAND, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
run_inside(FOLDER, ("mcp>=2", "jsonschema"))

import anyio  # noqa: E402
from mcp import Client, StdioServerParameters  # noqa: E402

PROBLEMS = SOURCE / "tests/fixtures/problems"
WRONG = RIGHT.replace("i < n", "i + 1 < n")
BROKEN = RIGHT.replace("float all", "floot all")
failures = []


def check(what, truth, told=""):
    print(("ok      " if truth else "FAILED  ") + what + ("" if truth else f": {told}"), flush=True)
    if not truth:
        failures.append(what)


def text_of(result):
    return "".join(getattr(block, "text", "") for block in result.content)


async def drive(era, client):
    def say(what):
        return f"{era}: {what}"

    async def call(tool, progress=None, **arguments):
        return await client.call_tool(tool, arguments, progress_callback=progress)

    async def good(tool, progress=None, **arguments):
        result = await call(tool, progress, **arguments)
        check(say(f"{tool} works"), not result.is_error and isinstance(result.structured_content, dict), text_of(result))
        return result.structured_content or {}

    names = [tool.name for tool in (await client.list_tools()).tools]
    check(say("the tools"), sorted(names) == sorted((
        "start_run", "step", "status", "best", "submit_kernel", "explain_verdict", "list_methods", "report", "cancel",
        "describe_problem", "prompt", "apply", "tune", "profile", "validate", "compare", "checkpoints")), names)
    listed = await good("list_methods")
    check(say("policies, strategies and transformations are listed"),
          any(one["name"] == "bayesian" for one in listed["policies"])
          and {("strategies", "tiling"), ("transformations", "loop_tiling")}
          <= {(one["folder"], one["name"]) for one in listed["methods"]}, listed.keys())

    # A policy over tunables, with progress.
    told = []

    async def progress(done, total, message):
        told.append((done, total, message))

    run = (await good("start_run", problem="dot", policy="random", budget="6"))["run"]
    stepped = await good("step", progress, run=run, trials=4)
    check(say("so many trials, no more"), stepped["trials_told"] == 4 and stepped["run"]["trials"] == 4, stepped)
    check(say("progress is told, and grows"), len(told) >= 2
          and all(a[0] < b[0] for a, b in zip(told, told[1:])), told)
    rest = await good("step", run=run)
    check(say("the budget ends the run"), rest["finished"] and rest["run"]["trials"] == 6, rest)
    status = await good("status", run=run, trials=2)
    check(say("status has the newest trials"), len(status["trials"]) == 2 and status["runs"][0]["run"] == run, status)
    best = await good("best", run=run)
    check(say("the best has settings and source"), best["best"]["verdict"] == "ok" and "LANES" in best["best"]["settings"]
          and "dot" in best["source"], best)

    # The assistant writes the kernels.
    run = (await good("start_run", problem="dot", policy="submit", strategies=["registers", "vectorize"], budget="20"))["run"]
    submitted = await good("submit_kernel", run=run, device=RIGHT, parent=0, strategies=["registers"])
    check(say("a right kernel is timed against its parent"), submitted["trial"]["verdict"] == "ok"
          and submitted["is_best"] and submitted["trial"]["parents"] == [0]
          and submitted["trial"]["speedup"]["ratio"] > 0, submitted)
    wrong = await good("submit_kernel", run=run, device=WRONG)
    check(say("a wrong one is found out"), wrong["trial"]["verdict"] == "wrong_result" and not wrong["is_best"], wrong)
    broken = await good("submit_kernel", run=run, device=BROKEN)
    check(say("the compiler's words come back"), broken["trial"]["verdict"] == "build_failed"
          and "floot" in broken["trial"]["reason"], broken)
    explained = await good("explain_verdict", run=run, trial=wrong["trial"]["trial"], code=True)
    check(say("a verdict is explained, with the code"), "dot" in explained["regions"]["device"] and explained["meaning"]
          and explained["advice"], explained)
    move = (await good("status", run=run))["runs"][0].get("next_move")
    check(say("a move is suggested"), move is not None and "kind" in move, move)
    declined = await good("step", run=run, decline="nothing to gain there")
    check(say("and may be declined"), declined["trials_told"] >= 0 and not declined["finished"], declined)
    for kind in ("text", "json", "html"):
        report = await good("report", run=run, format=kind)
        there = {"text": "dot" in report.get("text", ""), "json": len(report.get("trials", [])) >= 3,
                 "html": os.path.isfile(report.get("path", ""))}[kind]
        check(say(f"a report as {kind}"), there, report)

    # Bad input gets a reason, not an end.
    for tool, arguments in (("start_run", {"problem": "../dot"}), ("start_run", {"problem": "none"}),
                            ("step", {"run": 99999}), ("step", {"run": "one"}), ("submit_kernel", {"run": run, "device": 5}),
                            ("report", {"run": run, "format": "pdf"}), ("status", {"unknown": 1})):
        result = await call(tool, **arguments)
        check(say(f"{tool} {arguments} is refused"), result.is_error and len(text_of(result)) > 10, text_of(result))
    try:
        await call("no_such_tool")
        check(say("an unknown tool is an error"), False)
    except Exception as error:  # noqa: BLE001  (McpError of the SDK; any other is printed)
        check(say("an unknown tool is an error"), "no_such_tool" in str(error), repr(error))

    # A long call, stopped by the tool and by giving it up.
    run = (await good("start_run", problem="dot", policy="exhaustive", budget="all"))["run"]
    started, results = anyio.Event(), []

    async def first(done, total, message):
        started.set()

    async def long_step():
        results.append(await call("step", first, run=run))

    async with anyio.create_task_group() as group:
        group.start_soon(long_step)
        with anyio.fail_after(60):
            await started.wait()
        cancelled = await good("cancel", run=run)
    check(say("cancel stops the step"), cancelled["was_working"] and results[0].structured_content["stopped"]
          and not results[0].structured_content["finished"], (cancelled, results))
    started = anyio.Event()
    before = (await good("status", run=run))["runs"][0]["trials"]
    with anyio.move_on_after(60) as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(long_step)
            await started.wait()
            group.cancel_scope.cancel()
    check(say("a call given up ends at once"), not scope.cancelled_caught)
    with anyio.fail_after(60):
        while (row := (await good("status", run=run))["runs"][0])["state"] == "working":
            await anyio.sleep(0.1)
    check(say("and what it did is kept"), row["trials"] >= before and row["state"] in ("paused", "finished"), row)


async def optimise(era, client):
    """An agent's session: from a problem that it has never seen to a kernel that is faster, validated and named. All that it
    knows it knows from tools."""
    def say(what):
        return f"{era}: optimise: {what}"

    async def good(tool, progress=None, **arguments):
        result = await client.call_tool(tool, arguments, progress_callback=progress)
        check(say(f"{tool} works"), not result.is_error, text_of(result))
        return result.structured_content if result.structured_content is not None else text_of(result)

    async def refused(tool, **arguments):
        result = await client.call_tool(tool, arguments)
        check(say(f"{tool} {arguments} is refused"), result.is_error, text_of(result))
        return text_of(result)

    told = []

    async def progress(done, total, message):
        told.append((done, total, message))

    # What is there, and what is asked for?
    check(say("problems can be found by tools alone"), "dot" in await refused("describe_problem"))
    problem = await good("describe_problem", problem="dot")
    output = [one for one in problem["arguments"] if one.get("role") == "out"][0]
    check(say("the output and its tolerance are known"), output["name"] == "total" and output["tolerance"]["relative"] == 1e-4,
          output)
    check(say("so are shapes and tunables"), [one["weight"] for one in problem["shapes"]] == [1, 0]
          and [one["name"] for one in problem["space"]["tunables"]] == ["LANES", "UNROLL"], problem)
    run = (await good("start_run", problem="dot", policy="submit", suggest="none", budget="40"))["run"]
    facts = await good("prompt", run=run)
    check(say("the facts hold machine, problem and code"), all(part in facts for part in ("## Machine", "total", "volatile float sum")),
          facts)

    # What limits it, and what can be done about that?
    profile = await good("profile", progress, run=run, trial=0)
    check(say("the profile names a bound"), profile["bound"] != "unknown" and profile["features"]["roof_utilisation"] > 0, profile)
    check(say("a profile tells that it works"), len(told) >= 1 and "profiling trial 0" in told[0][2], told)
    listed = await good("list_methods", run=run)
    names = {one["name"] for one in listed["methods"]}
    check(say("methods are those of the host"), "independent_accumulators" in names and "warp_tiling" not in names, names)
    check(say("the list is short"), len(str(listed)) < 16000, len(str(listed)))
    question = await good("apply", run=run, name="independent_accumulators", trial=0)
    check(say("the question names the parent to answer with"), '"parent": 0, "strategies": ["independent_accumulators"]' in question,
          question[-600:])

    # The answer, first with a slip: the compiler's words and the likeliest cause come back.
    slip = await good("submit_kernel", run=run, parent=0, device=SUMS_APART.replace("float all = 0", "float all = zero"),
                      tunables={"SUMS": [1, 4, 8, 16, 32]}, strategies=["independent_accumulators"])
    check(say("a slip is told with its cause"), slip["trial"]["verdict"] == "build_failed" and "zero" in slip["trial"]["reason"]
          and "both code" in slip["cause"], slip)
    check(say("tunables that the code does not use are refused"), "does not use this tunable: TILE" in await refused(
        "submit_kernel", run=run, parent=0, device=RIGHT, tunables={"TILE": [1, 2]}))
    made = await good("submit_kernel", run=run, parent=0, device=SUMS_APART, tunables={"SUMS": [1, 4, 8, 16, 32]},
                      strategies=["independent_accumulators"])
    check(say("the kernel is right, with a tunable of its own"), made["trial"]["verdict"] == "ok"
          and made["trial"]["settings"]["SUMS"] == 1, made)
    made = made["trial"]["trial"]
    told.clear()
    tuned = await good("tune", progress, run=run, trial=made, trials=10)
    check(say("its tunables are searched"), tuned["trials_told"] == 10 and tuned["best"]["settings"]["SUMS"] > 1, tuned)
    check(say("tuning tells each trial"), len(told) >= 2 and all(total == 10 for _, total, _ in told), told)
    best = tuned["best"]["trial"]

    # Is it really faster, and is it really right?
    told.clear()
    pairs = await good("compare", progress, run=run, trial=best, against=0)
    low, high = pairs["speedup"]["interval"]  # wide on a busy machine
    told_apart = "faster" if low > 1 else "slower" if high < 1 else "not told apart"
    check(say("it is faster than what was there, in pairs"), pairs["speedup"]["ratio"] > 1
          and pairs["conclusion"] == told_apart and pairs["speedup"]["pairs"] > 0
          and {one["name"] for one in pairs["difference"]["settings"]} >= {"SUMS"}, pairs)
    check(say("a comparison tells that it works"), len(told) >= 1 and "in pairs with trial 0" in told[0][2], told)
    valid = await good("validate", run=run, trial=best)
    check(say("it keeps within its arrays"), valid["passed"] and valid["checked"] == "accesses beyond the arrays", valid)
    tree = await good("checkpoints", run=run, action="name", name="sums_apart", trial=best, note="several sums")
    check(say("it is a checkpoint that work goes on from"), tree["current"] == "sums_apart"
          and [one["name"] for one in tree["checkpoints"]] == ["start", "sums_apart"], tree)
    next_one = await good("submit_kernel", run=run, device=SUMS_APART.replace("float all = 0;", "float all = 0.0f;"))
    check(say("what names no parent goes on from it"), next_one["trial"]["parents"] == [best]
          and next_one["trial"]["settings"]["SUMS"] == tuned["best"]["settings"]["SUMS"], next_one)
    compared = await good("checkpoints", run=run, action="compare", name="sums_apart", **{"from": "start"})
    check(say("checkpoints are compared"), compared["comparison"]["speedup"] > 1 and "SUMS" in compared["comparison"]["diff"], compared)
    winner = await good("best", run=run)
    check(say("the winner has several sums"), winner["best"]["settings"]["SUMS"] > 1 and "SUMS" in winner["source"]
          and winner["best"]["speedup"]["ratio"] > 0, winner)


async def main():
    for era, mode in (("initialised", "legacy"), ("stateless, found out", "auto"), ("stateless, pinned", "2026-07-28")):
        desk = FOLDER / ("desk_" + mode)
        shutil.rmtree(desk, ignore_errors=True)
        desk.mkdir(parents=True)
        server = StdioServerParameters(
            command=COMMAND, args=["mcp", "--root", str(PROBLEMS), "--store", str(desk / "runs.db")], cwd=str(desk),
            env={**os.environ, "HOME": str(desk), "XDG_CACHE_HOME": str(desk), "XDG_DATA_HOME": str(desk)})
        async with Client(server, mode=mode, read_timeout_seconds=120) as client:
            version = client.protocol_version
            check(f"{era}: the revision", (version == "2026-07-28") == (mode != "legacy"), version)
            await drive(era, client)
            await optimise(era, client)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))
