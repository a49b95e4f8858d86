#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The judge on the NVIDIA GPU at hand: judge_h200.sh BUILD OUT [TURNS], with the build folder of the preset `dev` (or
# where its programs were unpacked: BUILD/tests, BUILD/apps). Below nine minutes on an H200 with 16 cores:
#   label      the tests of label gpu (test_gpu, test_hostile_cuda, test_gpu_proofs)
#   trials     trials a second of bench/cuda/figures.sh, beside Kernel Tuner where it is there; with BEFORE=FOLDER, another
#              build folder, in turns with the programs in there
#   launch     launch functions: what the clock outside says over the events, on examples/cuda/matmul_peak
#   slow       verified calls of a problem whose reference is slow
#   hostile    hostile and honest kernels TURNS times (5), while there is time; OUT/hostile.csv has a line for each:
#              name, kind, verdict, seconds, the naive harness's seconds, verified calls, outside over events,
#              batches that were charged, verdict in a search
# PARTS="label trials" runs only these. OUT/judge.log has everything; the exit code says whether the tests passed.
set -uo pipefail
[ $# -ge 2 ] || { echo "judge_h200.sh BUILD OUT [TURNS]" >&2; exit 2; }
build=$(realpath "$1") out=$2 turns=${3:-5}
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
mkdir -p "$out"
out=$(realpath "$out")
find_program() { find "${2:-$build}" -type f -name "$1" -perm -u+x -print -quit; }
for name in kernelsearch test_gpu test_hostile_cuda test_gpu_proofs kernelsearch-gpu-worker kernelsearch-worker; do
  [ -n "$(find_program "$name")" ] || { echo "judge_h200.sh: no program $name below $build" >&2; exit 2; }
done
PATH=$(dirname "$(find_program kernelsearch)"):$PATH
for toolkit in "${CUDA_HOME:-}" /usr/local/cuda; do
  [ -n "$toolkit" ] && [ -x "$toolkit/bin/nvcc" ] && PATH=$PATH:$toolkit/bin
done
export PATH KERNELSEARCH_TEST_DATA=$PWD/tests XDG_CACHE_HOME=${XDG_CACHE_HOME:-/tmp/judge_cache}
KERNELSEARCH_GPU_WORKER=$(find_program kernelsearch-gpu-worker)
KERNELSEARCH_WORKER=$(find_program kernelsearch-worker)
KERNELSEARCH_COMMAND=$(find_program kernelsearch)
export KERNELSEARCH_GPU_WORKER KERNELSEARCH_WORKER KERNELSEARCH_COMMAND
sandbox=${SANDBOX:-auto}  # of compilers; `none` where the machine has no sandbox that works
TIMEFORMAT='wall %R s'
readonly all_seconds=520
# within SECONDS COMMAND...: stops it then, or when the time of all parts is over.
within() {
  local left=$((all_seconds - SECONDS)) most=$1
  shift
  [ "$left" -ge 5 ] || { echo "no time is left for: $*"; return 1; }
  timeout $((left < most ? left : most)) "$@"
}
tune() {
  within "$1" kernelsearch tune "${@:2}" --sandbox "$sandbox" --no-reuse --no-learning --store "$out/runs.db" \
    --out "$out/winner" -q
}
say() { python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["best"])[:2000])'; }

label() {
  local failed=0
  time within 170 "$(find_program test_gpu)" || failed=1
  time within 300 env KERNELSEARCH_TEST_TABLE="$out/hostile.csv" "$(find_program test_hostile_cuda)" || failed=1
  time within 90 "$(find_program test_gpu_proofs)" || failed=1
  echo "label gpu: $([ $failed = 0 ] && echo passed || echo FAILED)"
}
trials() {
  local configs=$out/configs.json given=(--policy random --seed 1 --budget 200)
  within 70 python3 bench/cuda/kernel_tuner_matmul.py --count 200 --seed 1 --configs "$configs" --out "$out/kernel_tuner.json" ||
    echo "Kernel Tuner is not there: 200 configurations of our own"
  [ -s "$configs" ] && given=(--configs "$configs" --policy exhaustive --budget all)
  rm -rf "$XDG_CACHE_HOME/kernelsearch"
  for turn in first second third fourth; do
    time tune 40 examples/cuda/matmul_tiled "${given[@]}" --samples 32 --record "$out/trials_$turn.t4.json"
    [ -n "${BEFORE:-}" ] || continue
    (
      PATH=$(dirname "$(find_program kernelsearch "$BEFORE")"):$PATH
      KERNELSEARCH_GPU_WORKER=$(find_program kernelsearch-gpu-worker "$BEFORE")
      KERNELSEARCH_WORKER=$(find_program kernelsearch-worker "$BEFORE")
      echo "before: $turn turn"
      time tune 40 examples/cuda/matmul_tiled "${given[@]}" --samples 32 --record "$out/before_$turn.t4.json"
    )
  done
}
launch() {
  command -v nvcc || { echo "launch: skipped, there is no nvcc"; return; }
  local sandbox=none  # a launch function has been run on this device without one only
  time tune 100 examples/cuda/matmul_peak --policy random --seed 1 --budget 3 --json | say
}
slow() { time tune 50 examples/cuda/attention_f16 --policy random --seed 1 --budget 12 --json | say; }
hostile() {
  local passed=0 turn log=$out/hostile_last.log
  for turn in $(seq "$turns"); do
    if within 90 env KERNELSEARCH_TEST_TABLE="$out/hostile.csv" "$(find_program test_hostile_cuda)" \
      -tc='hostile kernels*' > "$log" 2>&1; then passed=$((passed + 1)); else cat "$log"; fi
  done
  echo "hostile kernels: $passed of $turns turns passed"
}

for part in ${PARTS:-label trials launch slow hostile}; do
  echo "== $part"
  "$part" 2>&1
done | tee "$out/judge.log"
rm -rf "$out/runs.db"* "$out/winner"
! grep -q FAILED "$out/judge.log"
