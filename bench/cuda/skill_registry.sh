#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CUDA optimisation skill V2 with its registry of 63 methods on the GPU at hand: skill_registry.sh OUT, with
# `kernelsearch` on the PATH. Four problems of bench/cuda/skill_registry, each with a script that writes kernels of
# known merit in place of a model (writer.py; what it cannot write it declines). About a minute for each problem.
#   OUT/<problem>/files       the run's folder, summary.md first
#   OUT/<problem>.json        state, gaps, evidence and attribution of each iteration, and where the best kernel stands
# PROBLEMS, ITERATIONS, SECONDS_EACH (of one problem), SANDBOX may be set; the exit code says whether every run ended.
set -uo pipefail
[ $# -eq 1 ] || { echo "skill_registry.sh OUT" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/skill_registry" || exit 2
failed=0
for problem in ${PROBLEMS:-matmul_f16 softmax gelu_f16 normalise}; do
  files=$out/$problem/files
  mkdir -p "$files"
  python3 writer.py "$problem" "$files" &
  writer=$!
  sandbox=${SANDBOX:-auto}
  # A profiler runs a launch function without a sandbox, which has to be allowed; this one is our own.
  [ "$problem" = normalise ] && sandbox=none
  timeout -s INT -k 15 "${SECONDS_EACH:-75}" kernelsearch tune "$problem" \
    --system "cuda_skill_v2(from_files='$files', wait=20, iterations=${ITERATIONS:-2})" --sandbox "$sandbox" --no-reuse --store "$out/$problem.db" \
    --out "$out/$problem/run" || failed=1
  kill "$writer"
  python3 - "$problem" "$files" "$out/$problem.json" <<'END'
import json, pathlib, sys
problem, files, to = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
def read(path):
    return json.loads(path.read_text()) if path.exists() else None
environment = read(files / 'env.json') or {}
record = {'device': environment.get('device'), 'toolkit': environment.get('toolchain'), 'command': 'bench/cuda/skill_registry.sh OUT',
          'problem': 'bench/cuda/skill_registry/' + problem, 'writer': 'a script with kernels of known merit, no model',
          'peaks': environment.get('peaks'), 'state': read(files / 'state.json')}
def shorter(roofline):
    # Nsight Compute's raw counters are hundreds; what they come to is beside them.
    if roofline and roofline.get('profile'):
        roofline['profile'] = {k: v for k, v in roofline['profile'].items()
                               if not k.startswith('ncu.') or k.startswith('ncu.launch')}
    return roofline
for folder in sorted(files.glob('iterv*')):
    record[folder.name] = {'roofline': shorter(read(folder / 'roofline.json')), 'ncu_top': read(folder / 'ncu_top.json'),
                           'attribution': read(folder / 'attribution.json'), 'sass_check': read(folder / 'sass_check.json'),
                           'branch_results': read(folder / 'branch_results.json')}
end = shorter(read(files / 'roofline.json'))
if end:
    record['end'] = {'roofline': end}
pathlib.Path(to).write_text(json.dumps(record, indent=1) + '\n')
END
done
exit $failed
