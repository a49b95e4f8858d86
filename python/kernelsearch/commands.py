# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the three commands of a task with a config.yaml: docs/tasks.md.

    kernelsearch_commands.py REPEATS

Next to this file are `task.json` (what to run), `source` (the text of the answer), `defines` (its tunables as options of a
compiler, which the commands have as KERNELSEARCH_DEFINES) and the folder `task`. The folder is
copied, the answer put into it, and the commands that build, check and time it run there, by /bin/sh. What they were given
is put back before each of them, so that an answer cannot change the next one's files. Prints one line of JSON:

stage   "build", "check", "time": the command that failed, with `reason` and `late`; "done" with `runs`: of each repetition
        the milliseconds of each case by name
"""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HEX = ".kernelsearch-hex"
REPORTS = ("build/performance_report.json", "performance_report.json", "build/perf_report.json", "perf_report.json",
           "perf/benchmark_results.json")  # fmt: skip
NVBENCH = "nvbench.json"
# As AgentKernelArena's own reader prefers them: of the device before what may be either; never of the host.
DEVICE_KEYS = ("device_time_ms", "gpu_time_ms", "kernel_time_ms", "cuda_event_time_ms", "cuda_graph_time_ms", "execution_time_ms")
OTHER_KEYS = ("execution_time", "time_ms", "time")
PRINTED = tuple((re.compile(pattern, re.IGNORECASE), scale) for pattern, scale in (
    (r"GEAK_RESULT_LATENCY_MS=([0-9.]+)", 1), (r"Performance:\s*([0-9.]+)\s*ms", 1), (r"Performance:\s*([0-9.]+)\s*s\b", 1000),
    (r"(?:execution|elapsed|avg)[_\s]time[:\s]+([0-9.]+)\s*ms", 1), (r"(?:execution|elapsed|avg)[_\s]time[:\s]+([0-9.]+)\s*s\b", 1000),
    (r"([0-9.]+)\s*ms\b", 1)))  # fmt: skip
MOST_CASES = 256


class Failed(Exception):
    def __init__(self, reason, late=False):
        super().__init__(reason)
        self.late = late


def restore(files, work, source, answer):
    """Puts every file of the task, and the answer, where it was; what commands made stays."""
    for root, _, names in os.walk(files):
        for name in names:
            path = os.path.join(root, name)
            target = os.path.join(work, os.path.relpath(path, files))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            remove(target.removesuffix(HEX))
            if name.endswith(HEX):
                with open(path) as digits, open(target.removesuffix(HEX), "wb") as out:
                    out.write(bytes.fromhex(digits.read()))
            else:
                shutil.copyfile(path, target)
                os.chmod(target, 0o755)
    target = os.path.join(work, source)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    remove(target)
    with open(target, "wb") as out:
        out.write(answer)


def remove(path):
    if os.path.islink(path) or os.path.isfile(path):
        os.unlink(path)
    elif os.path.isdir(path):
        shutil.rmtree(path)


def last_lines(text, most=600):
    """The end of what a command printed, in one line."""
    words = " ".join(text.split())
    return words if len(words) <= most else "..." + words[-most:]


def ran(command, work, seconds):
    """What a command prints. Failed where it ends otherwise than with 0, or is late; all that it started is ended."""
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        child = subprocess.Popen(["/bin/sh", "-c", command], cwd=work, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
        try:
            code = child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            pass
        child.wait()
        size = out.seek(0, os.SEEK_END)
        out.seek(max(0, size - (1 << 20)))
        printed = out.read()
    if code is None:
        raise Failed(f"no end within {seconds:g} s: {last_lines(printed, 300)}", late=True)
    if code != 0:
        how = f"ended with {code}" if code > 0 else f"was ended by signal {-code}"
        raise Failed(f"`{last_lines(command, 120)}` {how}: {last_lines(printed)}")
    return printed


def number(value):
    try:
        value = float(value)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value > 0 else None


def time_of(case, torch2hip):
    """The milliseconds that a case of a report states; None where it states none of a device."""
    if torch2hip and number(case.get("opt_time")):
        return number(case["opt_time"])
    for key in DEVICE_KEYS + OTHER_KEYS:
        if number(case.get(key)):
            return number(case[key])
    timing = case.get("timing_ms")
    if isinstance(timing, dict):
        for key in ("mean", "median", "min"):
            if number(timing.get(key)):
                return number(timing[key])
    rate = number(case.get("bytes_per_second_gs"))
    return 1 / rate if rate else None


def cases_of_report(path, torch2hip):
    try:
        with open(path) as file:
            report = json.load(file)
    except (OSError, ValueError):
        return {}
    cases = report.get("test_cases", [report]) if isinstance(report, dict) else report
    found = {}
    for place, case in enumerate(cases if isinstance(cases, list) else []):
        milliseconds = time_of(case, torch2hip) if isinstance(case, dict) else None
        if milliseconds and len(found) < MOST_CASES:
            found[str(case.get("test_case_id", f"test_case_{place}"))[:100]] = milliseconds
    return found


def cases_of_nvbench(path):
    """NVBench's mean time on the device for each state that it ran, by the benchmark's name and the state's."""
    try:
        with open(path) as file:
            benchmarks = json.load(file)["benchmarks"]
        found = {}
        for benchmark in benchmarks:
            for state in benchmark["states"]:
                for summary in state.get("summaries") or []:
                    if summary.get("tag") != "nv/cold/time/gpu/mean" or state.get("is_skipped"):
                        continue
                    seconds = [number(one["value"]) for one in summary["data"] if one["name"] == "value"]
                    if seconds and seconds[0] and len(found) < MOST_CASES:
                        found[f"{benchmark['name']} {state['name']}"[:100]] = seconds[0] * 1e3
        return found
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def cases_of(work, printed, torch2hip):
    """The time of each case by name: of the first report that states any, else of what was printed."""
    for report in REPORTS:
        found = cases_of_report(os.path.join(work, report), torch2hip)
        if found:
            return found
    found = cases_of_nvbench(os.path.join(work, NVBENCH))
    if found:
        return found
    for pattern, scale in PRINTED:
        match = pattern.search(printed)
        if match and number(match.group(1)):
            return {"test_case_0": number(match.group(1)) * scale}
    raise Failed("the command that times states no time: neither a report nor its output has one")


def judged(task, here, repeats):
    with open(os.path.join(here, "source"), "rb") as file:
        answer = file.read()
    work = tempfile.mkdtemp()
    files = os.path.join(here, "task")
    os.environ["PATH"] = os.path.dirname(sys.executable) + ":" + os.environ.get("PATH", "/usr/bin:/bin")
    with open(os.path.join(here, "defines")) as file:
        os.environ["KERNELSEARCH_DEFINES"] = file.read()
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(tempfile.gettempdir(), "triton"))
    stage = "build"
    try:
        for stage in ("build", "check"):
            restore(files, work, task["source"], answer)
            for command in task[stage]:
                ran(command, work, task[stage + "_seconds"])
        stage, runs = "time", []
        for _ in range(repeats):
            restore(files, work, task["source"], answer)
            for report in (*REPORTS, NVBENCH):
                remove(os.path.join(work, report))
            printed = "".join(ran(command, work, task["time_seconds"]) for command in task["time"])
            runs.append(cases_of(work, printed, task.get("type") == "torch2hip"))
        if any(set(one) != set(runs[0]) for one in runs):
            raise Failed("the command that times states other cases from run to run")
        return {"stage": "done", "runs": runs}
    except Failed as failed:
        return {"stage": stage, "reason": str(failed), "late": failed.late}
    except OSError as error:
        return {"stage": stage, "reason": f"{type(error).__name__}: {error}", "late": False}


def main():
    here = os.path.dirname(os.path.abspath(sys.argv[0]))
    with open(os.path.join(here, "task.json")) as file:
        task = json.load(file)
    print(json.dumps(judged(task, here, int(sys.argv[-1]))))


if __name__ == "__main__":
    main()
