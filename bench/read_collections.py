#!/usr/bin/env python3
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads collections of other tools' files with kernelsearch and, independently, with a few lines of Python each.

    read_collections.py [--command kernelsearch] [--out TABLE.md] FOLDER...

Each folder is a tool's: its name is the first column. For each file the table has what kernelsearch says (read, or
the sentence of its refusal), configurations, failures and the best time, and the same by the independent reader,
which knows the formats and nothing of kernelsearch. `same` where all three agree, or where it is refused and the
independent reader finds no times either. Where Kernel Tuner can be imported (`pip install kernel_tuner`), its own
functions say the best of its cachefiles, which is compared too. The files stay where they are; get them from where the
tools publish them.
"""
import argparse
import collections
import csv
import datetime
import gzip
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile

try:
    from kernel_tuner.util import get_best_config, read_cache
except ImportError:
    get_best_config = None

IN_A_SECOND = {"seconds": 1, "s": 1, "milliseconds": 1e3, "miliseconds": 1e3, "ms": 1e3, "microseconds": 1e6, "us": 1e6, "nanoseconds": 1e9, "ns": 1e9}


def number(value):
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan


def result(pairs):
    """(configurations, failures, best) of pairs of a configuration and its seconds; the later one of a configuration counts."""
    last = {json.dumps(config, sort_keys=True): seconds for config, seconds in pairs}
    good = [s for s in last.values() if math.isfinite(s) and s > 0 and s != 1e17]  # 1e20 ms marked failures to 0.4.0
    return (len(last), len(last) - len(good), min(good, default=math.inf)) if last else None


def cachefile(d):
    if d.get("objective", "time") not in ("time", ["time"]) and not any("time" in r for r in d["cache"].values()):
        return None
    return result([([r[k] for k in d["tune_params_keys"]], number(r.get("time")) / 1e3) for r in d["cache"].values()])


def t4(d):
    def seconds(r):
        name = r["objectives"][0]
        m = next((m for m in r["measurements"] if m["name"] == name), {"value": math.nan, "unit": ""})
        unit = m.get("unit") or d.get("metadata", {}).get("timeunit", "milliseconds")
        return number(m["value"]) / IN_A_SECOND[unit.lower()] if r["invalidity"] == "correct" else math.nan

    if d["results"][0]["objectives"] == ["score"]:
        return None
    return result([(r["configuration"], seconds(r)) for r in d["results"]])


def ktt(d):
    unit = IN_A_SECOND[d["Metadata"]["TimeUnit"].lower()]
    good = {True: lambda r: r["TotalDuration"] / unit, False: lambda r: math.nan}
    return result([({p["Name"]: p["Value"] for p in r["Configuration"]}, good[r["Status"] == "Ok"](r)) for r in d["Results"]])


def google_benchmark(d):
    runs = collections.defaultdict(list)
    for b in d["benchmarks"]:
        aggregate = b.get("run_type", "iteration") != "iteration" or re.search(r"_(mean|median|stddev|cv|BigO|RMS)$", b["name"])
        if not aggregate:
            runs[b.get("run_name", b["name"])].append(number(b.get("real_time")) / IN_A_SECOND[b.get("time_unit", "ns")])
    return result([(name, sum(times) / len(times)) for name, times in runs.items()])


def nvbench(d):
    states = [(b["name"], s) for b in d["benchmarks"] for s in b["states"]]
    if len({s["device"] for _, s in states}) > 1:
        return None
    means = lambda s: [x["data"][0]["value"] for x in s["summaries"] or [] if x["tag"] == "nv/cold/time/gpu/mean"]  # noqa: E731
    return result([([name, s["name"]], float((means(s) or ["nan"])[0])) for name, s in states])


def triton(d):
    return result([(c, number(t[0] if isinstance(t, list) else t) / 1e3) for c, t in d["configs_timings"]])


def records(d):
    rows = d[0] if isinstance(d[0], list) else d
    said = re.compile(r"^(times?|.*_time|timestamp|__error__|GFLOP.*)$")
    return result([({k: v for k, v in r.items() if not said.match(k)}, number(r.get("time")) / 1e3) for r in rows if "time" in r])


def table(text):
    rows = list(csv.reader(io.StringIO(text.lstrip("\ufeff"))))
    header = rows[0] if rows else []
    if header[:3] == ["Benchmark", "Device", "Device Name"]:
        end, time = header.index("Skipped"), header.index("GPU Time (sec)")
        return result([(r[:end], float(r[time] or "nan")) for r in rows[1:] if len(r) == len(header)])
    return None  # no unit, or no times of configurations


JSON_READERS = [("cache", cachefile), ("results", t4), ("Results", ktt), ("configs_timings", triton)]


def independent(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8-sig", errors="replace") as file:
        text = file.read()
    try:
        d = json.loads(text)
    except ValueError:
        return table(text)
    try:
        if isinstance(d, list):
            return records(d)
        if "benchmarks" in d:
            return nvbench(d) if "meta" in d else google_benchmark(d)
        return next((reader(d) for key, reader in JSON_READERS if key in d), None)
    except (KeyError, TypeError, IndexError, AttributeError):
        return None


def own_tool(path):
    """The best time of a cachefile in seconds, as Kernel Tuner says; None of other files, and without Kernel Tuner."""
    if get_best_config is None or independent(path) is None:
        return None
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8-sig") as file, tempfile.NamedTemporaryFile("w") as copy:
        text = file.read()
        if not re.search(r'"cache"\s*:\s*{', text[:100000]):
            return None
        copy.write(text)
        copy.flush()
        best = get_best_config(list(read_cache(copy.name, open_cache=False)["cache"].values()), "time")["time"]
    return float(best) / 1e3 if isinstance(best, float) else None


def ours(command, path):
    done = subprocess.run([command, "inspect", "--json", path], capture_output=True, text=True)
    if not done.stdout:
        words = done.stderr.strip().replace(path, os.path.basename(path)).removeprefix("kernelsearch: ")
        return words or f"ended with status {done.returncode}", None
    d = json.loads(done.stdout)
    verdicts = d["verdicts"]
    return "read: " + d["format"], (sum(verdicts.values()), sum(verdicts.values()) - verdicts.get("ok", 0), (d.get("best") or {}).get("seconds", math.inf))


def text_of(found):
    best = "" if not found or math.isinf(found[2]) else f"{found[2]:.6g} s"
    return (str(found[0]), str(found[1]), best) if found else ("", "", "")


def agree(a, b):
    if not a or not b:
        return not a and not (b and math.isfinite(b[2]))
    return a[:2] == b[:2] and (a[2] == b[2] or math.isclose(a[2], b[2], rel_tol=1e-9))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--command", default="kernelsearch")
    options.add_argument("--out")
    options.add_argument("folders", nargs="+")
    given = options.parse_args()
    lines = ["| tool | file | kernelsearch | configurations | failed | best | by Python | by its own tool | agree |", "|---|---|---|---|---|---|---|---|---|"]
    counts = collections.Counter()
    tools = set()
    for folder in given.folders:
        tool = os.path.basename(os.path.normpath(folder))
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            words, found = ours(given.command, path)
            other = independent(path)
            best = own_tool(path)
            same = agree(found, other) and (best is None or bool(found) and math.isclose(found[2], best, rel_tol=1e-9))
            counts["own"] += best is not None
            tools.add(tool)
            counts["read" if found else "refused"] += 1
            counts["unknown"] += not found and "known layout" in words
            counts["same" if same else "differ"] += 1
            cells = [tool, name, words.replace("|", "/").replace("\n", " "), *text_of(found), ", ".join(text_of(other)).strip(", "), "" if best is None else f"{best:.6g} s"]
            lines.append("| " + " | ".join(cells) + " | " + ("same" if same else "DIFFERS") + " |")
    total = f"{sum(counts[k] for k in ('read', 'refused'))} files in {len(tools)} folders: {counts['read']} read, {counts['refused']} refused ({counts['unknown']} of a layout that is not known); {counts['same']} agree, {counts['differ']} differ; Kernel Tuner itself was asked for the best of {counts['own']}."
    shown = f"Made on {datetime.date.today()} by `bench/read_collections.py {' '.join(os.path.basename(os.path.normpath(f)) for f in given.folders)}`.\n\n{total}\n\n" + "\n".join(lines) + "\n"
    if given.out:
        with open(given.out, "w") as file:
            file.write("# Collections of other tools\n\n" + shown)
    print(shown if not given.out else total)
    return 1 if counts["differ"] else 0


sys.exit(main())
