#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every figure of docs/benchmarks/cuda.md on the GPU at hand: figures.sh OUT [PART]... with `kernelsearch` on the
# PATH. Parts: library, trials, landscapes, spread, gpus, tests; all of them if none is named. About eight minutes.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ $# -gt 0 ] || { echo "figures.sh OUT [PART]..." >&2; exit 2; }
out=$1
shift
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(library trials landscapes spread gpus)
mkdir -p "$out"
TIMEFORMAT='wall %R s'

tune() { kernelsearch tune "$@" --store "$out/runs.db" --out "$out/winner" -q; }

library() { # a problem is a folder, or NAME.json
  local problems
  mapfile -t problems < <(printf '%s\n' examples/cuda/* | sed 's/[.]json$//' | sort -u)
  python3 bench/cuda/lab.py "${problems[@]}" --shape timed --config best --library --out "$out/library.json"
}

# The same 200 configurations, nothing compiled before, Kernel Tuner and ours; ours twice, the second time compiled.
trials() {
  python3 bench/cuda/kernel_tuner_matmul.py --count 200 --seed 1 --configs "$out/configs.json" --out "$out/kernel_tuner.json"
  export XDG_CACHE_HOME=$out/cache
  for turn in first second; do
    time tune examples/cuda/matmul_tiled --configs "$out/configs.json" --policy exhaustive --budget all \
      --samples 32 --no-reuse --no-learning --record "$out/trials_$turn.t4.json"
  done
}

# Parts of the spaces that an expert would look at, every configuration of them.
landscape() { # PROBLEM CONDITION...
  local problem=$1 conditions=()
  shift
  for condition in "$@"; do conditions+=(--where "$condition"); done
  time tune "examples/cuda/$problem" "${conditions[@]}" --policy exhaustive --budget all --no-learning \
    --record "$out/h200_$problem.t4.json.gz"
}
landscapes() {
  landscape matmul_tiled
  landscape row_sums_f32 "ROW_THREADS in [32, 64, 128, 256, 512, 1024]" "GROUPS in [1, 2, 4]" "ROWS in [1, 2, 4]" \
    "UNROLL in [1, 2, 4, 8]" "CHAINS in [1, 4]" "not PERSISTENT" "LOAD in ['', '.nc']" "not SHUFFLE_TAIL" "MIN_BLOCKS == 2"
  landscape transpose_f32 "STRATEGY in [0, 2]" "TILE_ROWS <= 64" "TILE_COLS in [32, 64, 128]" "THREADS in [64, 128, 256]" \
    "LANE_COLS in [4, 8]" "PLACE in [1, 2]" "not PERSISTENT" "BAND in [1, 128]" "not DIAGONAL" "LOAD == ''" \
    "STORE in ['', '.cs']" "MIN_BLOCKS == 2"
  landscape attention_f16 "LAZY_RESCALE in [0, 4]" "EXP_POLYNOMIAL in [0, 2]" "EPILOGUE == 0" "PROMOTION == 256" \
    "CLUSTER == 1" "HEAD_GROUP == 1" "SLOTS in [2, 3, 4]" "not SNAKE" "BN in [64, 96, 128, 160]"
  landscape matmul_f32 "BM in [64, 128, 256]" "BN in [64, 128, 256]" "BK in [8, 16]" "TM in [4, 8]" "TN in [8, 16]" \
    "LANES_M in [4, 8]" "LANE_ORDER == 1" "STAGES in [2, 3, 4]" "A_LOAD in [1, 2]" "FRAGMENTS == 1" "ORDER == 0" \
    "MIN_BLOCKS in [1, 2]" "GROUP == 16" "SPLIT_K == 1"
}

# One configuration in 20 separate runs: new processes, new inputs.
spread() {
  python3 - "$out" <<'PYTHON'
import glob, json, os, sys
for path in sorted(glob.glob('examples/cuda/*/best_h200.json')):
    best = [c for c in json.load(open(path)).values() if isinstance(c, dict)][:1]
    json.dump(best, open(os.path.join(sys.argv[1], 'best_%s.json' % path.split('/')[-2]), 'w'))
PYTHON
  for problem in row_sums_f32 transpose_f32 attention_f16; do
    for _ in $(seq 20); do
      tune "examples/cuda/$problem" --configs "$out/best_$problem.json" --policy exhaustive --budget all --no-reuse \
        --no-learning --json | python3 -c "import json, sys; print('spread', '$problem', json.load(sys.stdin)['best']['seconds'])"
    done
  done
}

# Trials per second on one device and on all of them, everything compiled before.
gpus() {
  local all=0 devices
  all=$(seq -s, 0 $(($(nvidia-smi --query-gpu=index --format=csv,noheader | wc -l) - 1)))
  for devices in "$all" 0 "$all"; do
    time tune examples/cuda/matmul_tiled --policy random --seed 1 --budget 600 --no-reuse --no-learning \
      --devices "$devices" --record "$out/gpus_${devices//,/_}.t4.json"
  done
}

tests() { ctest --test-dir "${BUILD:-build/dev}" -L gpu --output-on-failure; }

for part in "${parts[@]}"; do
  echo "== $part"
  "$part" 2>&1
done | tee "$out/figures.log"
