# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How well can a kernel's configurations be ranked before any is measured, by what other kernels of the corpus taught?

    python bench/prior_train.py KERNELSEARCH [--least 100] [--device H200] [--lambda 0.02] [--write]

Features of a configuration are made of the roles of its tunables (as `kernelsearch inspect --json` gives them), so that kernels with other names share
them. A ridge regression learns each space's ranks from the landscapes of all families but one and ranks that one: the table has Spearman's correlation
with the measured times for each landscape (failures are slower than all), the mean, and a 95 % interval by drawing families anew. --write puts the table
into docs/benchmarks/corpus.md. Needs numpy.
"""

import argparse
import gzip
import json
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANDSCAPES = ROOT / "bench" / "landscapes"
PAGE = ROOT / "docs" / "benchmarks" / "corpus.md"
BEGIN, END = "<!-- prior: bench/prior_train.py -->", "<!-- end of prior -->"
COUNTS = ("threads", "warps", "block_size", "tile", "work", "vector", "unroll", "stages")
SWITCHES = ("shared", "pad", "layout", "algorithm")
NAMES = [
    "threads", "threads^2", "threads over 512", "threads under 32", "work", "work^2", "work over 16", "threads work", "threads work over 2048",
    "vector", "vector^2", "unroll", "unroll^2", "work unroll", "stages", "tile", "tile^2", "block_size", "block_size^2", "shared", "pad", "layout",
    "algorithm", "off centre",
]  # fmt: skip


def features(recording, roles):
    """A row for each entry: features of roles that the space lacks are 0."""
    configurations = [r["configuration"] for r in recording["results"]]
    logs = {role: np.zeros(len(configurations)) for role in COUNTS}
    places = {role: [] for role in SWITCHES}
    centre, has = [], set()
    for name in configurations[0]:
        values = [c[name] for c in configurations]
        listed = recording["metadata"].get("tune_params", {}).get(name) or sorted(set(map(json.dumps, values)))
        texts = [json.dumps(v) if not isinstance(v, str) or v not in listed else v for v in listed]
        order = {text: i for i, text in enumerate(texts)}
        place = np.array([order.get(json.dumps(v) if not isinstance(v, str) or v not in order else v, 0) for v in values]) / max(1, len(texts) - 1)
        role = roles.get(name)
        numbers = all(isinstance(v, (int, float)) for v in values)
        if numbers and len(texts) > 1:
            centre.append(np.abs(place - 0.5))
        if role in logs and numbers:
            logs[role] += np.log2(np.maximum(1.0, np.array(values, dtype=float)))
            has.add(role)
        elif role in places and len(texts) > 1:
            places[role].append(place - 0.5)
    zero = np.zeros(len(configurations))
    threads = logs["threads"] + (logs["warps"] + 5 if "warps" in has else 0)
    threaded = "threads" in has or "warps" in has
    t = (threads - 7.5) / 2 if threaded else zero
    w = (logs["work"] - 2) / 2 if "work" in has else zero
    v = logs["vector"] - 1 if "vector" in has else zero
    u = (logs["unroll"] - 1.5) / 2 if "unroll" in has else zero
    tile = (logs["tile"] - 6) / 3 if "tile" in has else zero
    block = (logs["block_size"] - 8) / 3 if "block_size" in has else zero
    columns = [
        t, t * t, np.maximum(threads - 9, 0) if threaded else zero, np.maximum(5 - threads, 0) if threaded else zero, w, w * w,
        np.maximum(logs["work"] - 4, 0), t * w, np.maximum(threads + logs["work"] - 11, 0) if threaded else zero, v, v * v, u, u * u, w * u,
        logs["stages"] - 1 if "stages" in has else zero, tile, tile * tile, block, block * block,
        *(np.mean(places[role], axis=0) if places[role] else zero for role in SWITCHES), np.mean(centre, axis=0) - 0.33 if centre else zero,
    ]  # fmt: skip
    return np.stack(columns, axis=1)


def ranks(values):
    """Ranks from 0, equal values sharing their mean."""
    order = np.argsort(values, kind="stable")
    ordered = np.asarray(values)[order]
    result = np.empty(len(values))
    first = 0
    while first < len(values):
        last = first
        while last + 1 < len(values) and ordered[last + 1] == ordered[first]:
            last += 1
        result[order[first : last + 1]] = (first + last) / 2
        first = last + 1
    return result


def spearman(a, b):
    a, b = ranks(a) - (len(a) - 1) / 2, ranks(b) - (len(b) - 1) / 2
    norm = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / norm) if norm > 0 else 0.0


def fit(spaces, strength):
    """Ridge weights; each kernel weighs the same, however many landscapes and entries it has."""
    kernels = {}
    for space in spaces:
        kernels.setdefault(space["kernel"], []).append(space)
    left, right = strength * np.eye(len(NAMES)), np.zeros(len(NAMES))
    for group in kernels.values():
        for space in group:
            share = 1 / (len(kernels) * len(group) * len(space["target"]))
            left += share * space["features"].T @ space["features"]
            right += share * space["features"].T @ space["target"]
    return np.linalg.solve(left, right)


def load(command, least, device):
    spaces = []
    for entry in json.loads((ROOT / "bench" / "corpus" / "manifest.json").read_text())["landscapes"]:
        if entry["entries"] < least or device not in entry["device"]:
            continue
        path = LANDSCAPES / entry["file"]
        recording = json.loads(gzip.decompress(path.read_bytes()))
        done = subprocess.run([command, "inspect", path, "--json"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"prior_train.py: {command} inspect {path.name}: {done.stderr.strip()}")
        times = []
        for result in recording["results"]:
            found = [m["value"] for m in result["measurements"] if m["name"] == "time"] if result["invalidity"] == "correct" else []
            times.append(found[0] if found else np.inf)
        roles = json.loads(done.stdout)["roles"]
        matrix, place = features(recording, roles), ranks(np.array(times))
        target = (place - place.mean()) / (place.std() + 1e-12)
        spaces.append({
            "name": entry["file"].removesuffix(".t4.json.gz"), "kernel": entry["kernel"], "family": entry["family"], "features": matrix - matrix.mean(axis=0),
            "target": target, "times": np.array(times), "roles": len(roles), "tunables": entry["tunables"],
        })  # fmt: skip
    return spaces


def experiment(spaces, strength, draws=10000):
    families = sorted({s["family"] for s in spaces})
    for family in families:
        weights = fit([s for s in spaces if s["family"] != family], strength)
        for space in spaces:
            if space["family"] == family:
                space["rho"] = spearman(space["features"] @ weights, space["times"])
    rng = np.random.default_rng(1)
    by_family = [np.array([s["rho"] for s in spaces if s["family"] == f]) for f in families]
    means = []
    for _ in range(draws):
        drawn = [by_family[i] for i in rng.integers(0, len(families), len(families))]
        means.append(np.concatenate(drawn).mean())
    mean = float(np.mean([s["rho"] for s in spaces]))
    return mean, *(float(x) for x in np.quantile(means, [0.025, 0.975]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", help="the program kernelsearch")
    parser.add_argument("--least", type=int, default=100, help="entries that a landscape must have")
    parser.add_argument("--device", default="", help="only landscapes whose device has this text")
    parser.add_argument("--lambda", dest="strength", type=float, default=0.02)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    spaces = load(arguments.command, arguments.least, arguments.device)
    if len({s["family"] for s in spaces}) < 2:
        sys.exit("prior_train.py: the landscapes are of fewer than two families: lower --least, or widen --device")
    mean, low, high = experiment(spaces, arguments.strength)
    rows = ["| family left out | landscape | tunables with a role | Spearman |", "|---|---|--:|--:|"]
    for one in sorted(spaces, key=lambda s: (s["family"], s["name"])):
        rows.append(f"| {one['family']} | {one['name']} | {one['roles']} of {one['tunables']} | {one['rho']:.2f} |")
    text = (
        f"{len(spaces)} landscapes with at least {arguments.least} entries in {len({s['family'] for s in spaces})} families: mean Spearman "
        f"{mean:.2f} (95 % interval {low:.2f} to {high:.2f}); {sum(s['rho'] >= 0.3 for s in spaces)} of them at least .3, {sum(s['rho'] < 0 for s in spaces)} below 0."
    )
    print("\n".join([*rows, "", text]))
    if arguments.write:
        page = PAGE.read_text()
        head, _, rest = page.partition(BEGIN)
        _, found, tail = rest.partition(END)
        if not found:
            sys.exit(f"prior_train.py: {PAGE.name} lacks {BEGIN} or {END}")
        table = "\n".join(rows)
        PAGE.write_text(f"{head}{BEGIN}\n\n{text}\n\n{table}\n\n{END}{tail}")


if __name__ == "__main__":
    main()
