# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records landscapes of problems: every valid configuration, or a stated sample of a large space, judged and timed.

    python bench/record_corpus.py BUILD OUT PROBLEM... [--seconds 400] [--prefix h200_] [--limit 45] [--whole 1500] [--draws 1000]
    python bench/record_corpus.py BUILD OUT PROBLEM --size count=4096
    python bench/record_corpus.py BUILD OUT --again FOLDER [--share 0.05] PROBLEM...

BUILD has kernelsearch and its workers in any folder below. OUT gets PREFIXNAME.t4.json.gz for each PROBLEM (a problem
folder), a line for each in recorded.jsonl, and logs. What is there already is left, so an interrupted run can go on.

A space of at most --whole valid configurations is recorded whole, in random order, so that a recording that its time
ended is a fair sample. A larger one is sampled: --draws configurations, shared evenly among the values of the tunable
with most of them (strata), and then all neighbours of the best (one tunable changed), which its line says too. What
time a problem did not use is shared among those that are left.

--again measures --share of the correct entries of the recordings in FOLDER once more, the best and a random rest, and
writes again.jsonl: how many are within 3 % of the recorded time. Only Python's own library is needed.
"""

import argparse
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

FINISH = 4  # seconds for starting and for the finalists, which a budget does not count
WITHIN = 0.03


def program(build, name):
    found = sorted(p for p in build.rglob(name) if p.is_file() and os.access(p, os.X_OK) and "CMakeFiles" not in p.parts)
    if not found:
        sys.exit(f"record_corpus.py: no program {name} below {build}: build it, or give the folder that has it")
    return found[0]


class Command:
    """The command with its workers, caches and stores in a folder of this run."""

    def __init__(self, build, work):
        self.path = program(build, "kernelsearch")
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(work / "cache"), XDG_DATA_HOME=str(work / "data"))
        for variable, name in (("KERNELSEARCH_GPU_WORKER", "kernelsearch-gpu-worker"), ("KERNELSEARCH_WORKER", "kernelsearch-worker")):
            self.environment.setdefault(variable, str(program(build, name)))

    def space(self, problem, *options):
        done = subprocess.run([self.path, "space", problem, "--json", *options], capture_output=True, text=True, env=self.environment)
        if done.returncode and "no configuration is valid" in done.stderr:
            return {"valid": 0}
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout)

    def tune(self, problem, configs, seconds, work, recording, log, options):
        """Measures these configurations until the time is over; the recording that it leaves. Those that are not of the space, as
        neighbours may be, are left out."""
        listed = work / "configs.json"
        listed.write_text(json.dumps(configs))
        budget = f"{len(configs)},{max(1, int(seconds))}s"
        said = log.stat().st_size if log.exists() else 0
        shutil.rmtree(work / "runs", ignore_errors=True)
        (work / "runs").mkdir()
        with log.open("a") as text:
            try:
                subprocess.run(
                    [self.path, "tune", problem, "--configs", listed, "--policy", "exhaustive", "--budget", budget, "--no-learning", "--no-reuse",
                     "--store", work / "runs" / "store.db", "--out", work / "runs" / "winner", "--record", recording, "-q", *options],
                    stdout=text, stderr=text, stdin=subprocess.DEVNULL, env=self.environment, timeout=seconds + 60,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                text.write("killed: it did not end with its budget\n")
                subprocess.run([self.path, "export", "--format", "t4", "-o", recording, "--store", work / "runs" / "store.db"], stdout=text, stderr=text, env=self.environment)
        if recording.exists():
            return read(recording)
        refused = re.search(r"a listed configuration breaks a constraint: (\{.*?\});", log.read_text()[said:])
        rest = [c for c in configs if not refused or key(c) != key(json.loads(refused[1]))]
        if not rest or len(rest) == len(configs):
            return None
        return self.tune(problem, rest, seconds, work, recording, log, options)

    def keep(self, recording, problem, work, path):
        """Writes a recording, with the order of tunables and the roles that the problem declares."""
        whole = work / "whole.t4.json"
        whole.write_text(json.dumps(recording))
        subprocess.run([self.path, "convert", whole, path, "--to", "t4", "--space", problem], check=True, capture_output=True, text=True, env=self.environment)


def read(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        return json.load(file)


def key(configuration):
    return json.dumps(configuration, sort_keys=True)


def file_name(arguments, problem):
    sizes = dict(arguments.sizes)
    return f"{arguments.prefix}{problem.name}{'_' + name_of(sizes) if sizes else ''}.t4.json.gz"


def size(text):
    variable, _, number = text.partition("=")
    if not variable.isidentifier() or not number.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is not VARIABLE=NUMBER, e.g. n=4096")
    return variable, int(number)


def time_of(result):
    """Milliseconds, or None of a failure."""
    if result["invalidity"] != "correct":
        return None
    return next((m["value"] for m in result["measurements"] if m["name"] == "time"), None)


def every(command, problem, valid):
    """All configurations of a space, by uniform draws until none is missing."""
    found, seed = {}, 1
    while len(found) < valid:
        for one in command.space(problem, "--sample", str(12 * valid), "--seed", str(seed))["sample"]:
            found[key(one)] = one
        seed += 1
        if seed > 60:
            raise RuntimeError(f"{valid - len(found)} of {valid} configurations were never drawn")
    return [found[k] for k in sorted(found)]


def strata(command, problem, draws, chosen):
    """Configurations that are shared evenly among the values of the tunable with most values among the draws."""
    drawn = list({key(c): c for c in command.space(problem, "--sample", str(20 * draws), "--seed", "1")["sample"]}.values())
    name = max(drawn[0], key=lambda n: len({key(c[n]) for c in drawn}))
    groups = {}
    for one in drawn:
        groups.setdefault(key(one[name]), []).append(one)
    for group in groups.values():
        chosen.shuffle(group)
    picked, names = [], sorted(groups)
    while len(picked) < draws and any(groups.values()):
        picked += [groups[n].pop() for n in names if groups[n]]
    return picked[:draws], name


def neighbours(command, problem, best, recording):
    """The valid configurations that differ from `best` in one tunable."""
    found = []
    for name, values in recording["metadata"]["tune_params"].items():
        for value in values:
            if value == best[name]:
                continue
            other = dict(best, **{name: value})
            conditions = [x for n, v in other.items() for x in ("--where", f"{n} == {v!r}")]
            space = command.space(problem, *conditions, "--sample", "1")
            if space["valid"] and key(space["sample"][0]) == key(other):
                found.append(other)
    return found


def with_sizes(problem, sizes, folder):
    """A copy of a problem folder whose timed shapes have other sizes; sizes are VARIABLE=NUMBER."""
    copy = folder / problem.name
    shutil.copytree(problem, copy)
    path = copy / "problem.json"
    text = json.loads("\n".join(line for line in path.read_text().splitlines() if not line.lstrip().startswith("//")))
    for shape in text["shapes"]:
        if shape.get("weight", 1) > 0:
            shape.update(sizes, name=name_of(sizes))
    path.write_text(json.dumps(text))
    return copy


def name_of(sizes):
    return "_".join(f"{variable}{value}" for variable, value in sizes.items())


def record(command, problem, out, work, seconds, arguments):
    name = file_name(arguments, problem).removesuffix(".t4.json.gz")
    chosen, log = random.Random(arguments.seed), out / f"{name}.log"
    space = command.space(problem)
    valid, whole = space["valid"], space["valid"] <= arguments.whole
    begun, stratum = time.time(), None
    if whole:
        configs = every(command, problem, valid)
        chosen.shuffle(configs)
    else:
        configs, stratum = strata(command, problem, arguments.draws, chosen)
    first = seconds if whole else 0.85 * seconds
    part = work / "part.t4.json"
    part.unlink(missing_ok=True)
    recording = command.tune(problem, configs, first - FINISH, work, part, log, arguments.options)
    if recording is None:
        return {"problem": problem.name, "error": log.read_text()[-400:]}
    tried = len(recording["results"])
    beside = 0
    timed = [r for r in recording["results"] if time_of(r) is not None]
    if not whole and timed:
        best = min(timed, key=time_of)["configuration"]
        known = {key(r["configuration"]) for r in recording["results"]}
        more = [c for c in neighbours(command, problem, best, recording) if key(c) not in known]
        left = seconds - (time.time() - begun) - FINISH
        if more and left > 2:
            part.unlink()
            second = command.tune(problem, more, left, work, part, log, arguments.options)
            new = [r for r in second["results"] if key(r["configuration"]) not in known] if second else []
            beside = len(new)
            recording["results"] += new
    command.keep(recording, problem, work, out / f"{name}.t4.json.gz")
    return {
        "file": f"{name}.t4.json.gz", "problem": problem.name, "sizes": dict(arguments.sizes), "valid": valid, "design": "whole" if whole else "stratified", "stratum": stratum,
        "tried": tried, "neighbours": beside, "failed": sum(time_of(r) is None for r in recording["results"]),
        "complete": tried >= len(configs), "seconds": round(time.time() - begun, 1),
    }  # fmt: skip


def again(command, problem, out, work, seconds, arguments):
    path = arguments.again / file_name(arguments, problem)
    if not path.exists():
        return {"problem": problem.name, "error": f"no recording {path.name}"}
    timed = sorted((r for r in read(path)["results"] if time_of(r) is not None), key=time_of)
    count = max(1, round(arguments.share * len(timed)))
    chosen = timed[:1] + random.Random(arguments.seed + 1).sample(timed[1:], count - 1)
    earlier = {key(r["configuration"]): time_of(r) for r in chosen}
    part = work / "part.t4.json"
    part.unlink(missing_ok=True)
    recording = command.tune(problem, [r["configuration"] for r in chosen], seconds - FINISH, work, part, out / f"{path.name}.log", arguments.options)
    ratios = {}
    for result in recording["results"] if recording else []:
        if time_of(result) is not None:
            ratios[key(result["configuration"])] = time_of(result) / earlier[key(result["configuration"])]
    within = sum(abs(r - 1) <= WITHIN for r in ratios.values())
    ordered = sorted(ratios.values())
    return {
        "file": path.name, "chosen": len(chosen), "measured": len(ratios), "within": within,
        "median_ratio": ordered[len(ordered) // 2] if ordered else None, "least": ordered[0] if ordered else None, "most": ordered[-1] if ordered else None,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("problems", type=pathlib.Path, nargs="+")
    parser.add_argument("--seconds", type=float, default=400, help="for all problems together")
    parser.add_argument("--limit", type=float, help="seconds for one problem; default an equal share of what is left")
    parser.add_argument("--prefix", default="h200_")
    parser.add_argument("--whole", type=int, default=1500, help="the most valid configurations that are recorded whole")
    parser.add_argument("--draws", type=int, default=1000, help="configurations of a larger space")
    parser.add_argument("--size", dest="sizes", type=size, action="append", default=[], help="VARIABLE=NUMBER: another size of the timed shapes, for all problems given")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=pathlib.Path, help="the folder of recordings of which a share is measured again")
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--option", dest="options", action="append", default=[], help="passed to tune; write --option=--samples --option=3")
    arguments = parser.parse_args()
    for problem in arguments.problems:
        if not (problem / "problem.json").is_file():
            sys.exit(f"record_corpus.py: {problem} is not a problem folder: it has no problem.json")
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines = arguments.out / ("again.jsonl" if arguments.again else "recorded.jsonl")
    end, failed = time.time() + arguments.seconds, 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        command = Command(arguments.build.resolve(), work)
        step = again if arguments.again else record
        for i, problem in enumerate(arguments.problems):
            done = arguments.out / file_name(arguments, problem)
            if not arguments.again and done.exists():
                continue
            seconds = (end - time.time()) / (len(arguments.problems) - i) if arguments.limit is None else min(arguments.limit, end - time.time())
            if seconds < 2 * FINISH:
                print(f"{problem.name}: no time left", flush=True)
                failed += 1
                continue
            try:
                problem = problem.resolve()
                if arguments.sizes:
                    problem = with_sizes(problem, dict(arguments.sizes), pathlib.Path(tempfile.mkdtemp(dir=work)))
                line = step(command, problem, arguments.out, work, seconds, arguments)
            except (RuntimeError, subprocess.CalledProcessError, json.JSONDecodeError) as error:
                line = {"problem": problem.name, "error": str(error)}
            failed += "error" in line
            with lines.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(json.dumps(line), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
