#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How close 40 trials come to the best of all configurations of schedules of examples/mlir: each space is measured whole,
# once, as a recording, on which policies are then replayed 20 times. close_to_best.sh KERNELSEARCH FOLDER
# matmul is a small version: 128 x 128, panels of 64 and 128 (288 configurations).
set -euo pipefail
command=$(realpath "$1")
examples=$(realpath "$(dirname "$0")/../../examples/mlir")
mkdir -p "$2/recordings"
cd "$2"
mkdir -p matmul
sed 's/512x512/128x128/g' "$examples/matmul/payload.mlir" > matmul/payload.mlir
sed 's/options = \[64, 128, 256, 512\]/options = [64, 128]/' "$examples/matmul/schedule.mlir" > matmul/schedule.mlir
for name in ${SCHEDULES:-depthwise stencil batch_matmul conv2d matmul}; do
  schedule=$examples/$name/schedule.mlir
  if [ -e "$name/schedule.mlir" ]; then schedule=$name/schedule.mlir; fi
  if [ ! -e "recordings/$name.t4.json.gz" ]; then
    "$command" tune "$schedule" --policy exhaustive --budget 2000 --store "$name.db" --no-learning --samples 5 -q > "$name.log"
    "$command" convert "$name.db:latest" "recordings/$name.t4.json.gz"
  fi
done
"$command" compare recordings --policies "${POLICIES:-bayesian,iterated_local_search,random}" --repeats 20 --budget 40 --out compared
# The best time of a space over the best of a run, as the median and the least of the 20 runs.
python3 - <<'EOF2'
import glob, gzip, json, pathlib, statistics
best, found = {}, {}
for path in glob.glob("recordings/*.t4.json.gz"):
    recording = json.load(gzip.open(path))
    times = best[pathlib.Path(path).name.split(".")[0]] = {}
    for one in recording["results"]:
        if one["invalidity"] == "correct":
            key = ",".join(str(one["configuration"][name]) for name in recording["metadata"]["tune_params"])
            times[key] = next(m["value"] for m in one["measurements"] if m["name"] == "time")
print("| schedule | configurations | policy | median share | least | runs of at least 0.95 |\n|---|--:|---|--:|--:|--:|")
for line in open("compared/traces.jsonl"):
    run = json.loads(line)
    times = best[run["space"]]
    reached = min((times[key] for key in run["evals"] if key in times), default=float("inf"))
    found.setdefault((run["space"], run["strategy"]), []).append(min(times.values()) / reached)
for (space, policy), shares in sorted(found.items()):
    print(f"| {space} | {len(best[space])} | {policy} | {statistics.median(shares):.3f} | {min(shares):.3f} | {sum(s >= 0.95 for s in shares)} of {len(shares)} |")
EOF2
