#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CUDA optimisation skill V2 on the GPU at hand, with kernels of known merit: run.sh OUT, with `kernelsearch` on the
# PATH. Leaves each run's folder, its summary in OUT/<problem>/run_<n>/summary.md. About a minute for each problem.
set -uo pipefail
[ $# -eq 1 ] || { echo "run.sh OUT" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"
for problem in matmul softmax; do
  mkdir -p "$out/$problem/files"
  python3 writer.py "$problem" "$out/$problem/files" &
  writer=$!
  kernelsearch tune "$problem" --system "cuda_skill_v2(from_files='$out/$problem/files', wait=20, iterations=2)" \
    --methods "$problem/methods" --store "$out/runs.db" --out "$out/$problem/run"
  kill $writer
done
