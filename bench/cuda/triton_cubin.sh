#!/bin/bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bench/cuda/triton_cubin.sh BUILD OUT: on a machine with an NVIDIA GPU whose python3 has Triton, the problems
# of examples/triton: each is checked, then tuned for 40 trials or 60 s, and the best is built by its script
# without us. BUILD holds kernelsearch, kernelsearch-gpu-worker and kernelsearch-worker in any folders below;
# the source tree lies around this script. PYTHON names another Python, SANDBOX another sandbox than auto. All
# of it takes three minutes at most; logs go to OUT.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/../gpu_run.sh"
sandbox=${SANDBOX:-auto}

# The folders of the environment and of the Python that it is of, which the sandbox is to show. Builds of root
# run as nobody, who must get there: a Python in a home that is closed is copied.
"$python" -c 'import sys, triton; print("Python", sys.version.split()[0], sys.prefix, sys.base_prefix, "Triton", triton.__version__)' || exit 1
reachable() {
  local folder=$1
  while [ "$folder" != / ]; do
    [ -n "$(find "$folder" -maxdepth 0 -perm -o=x 2>/dev/null)" ] || return 1
    folder=$(dirname "$folder")
  done
}
readable=()
for folder in $("$python" -c 'import os, sys
for prefix in (sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))): print(os.path.realpath(prefix))' | sort -u); do
  case $folder in /usr | /usr/local) continue ;; esac
  if reachable "$folder"; then
    readable+=(--readable "$folder")
  else
    echo "nobody can read $folder"
    unreachable=1
  fi
done
if [ -n "${unreachable:-}" ]; then
  # One folder with the interpreter, its library and the packages that are needed, where a Python looks.
  copy=$XDG_CACHE_HOME/python
  cp -RL "$("$python" -c 'import sys; print(sys.base_prefix)')" "$copy" 2>/dev/null
  packages=$("$python" -c 'import os, triton; print(os.path.dirname(os.path.dirname(triton.__file__)))')
  site=$("$copy/bin/python3" -c 'import site; print(site.getsitepackages()[0])')
  cp -RL "$packages"/triton "$packages"/triton-*.dist-info "$site/"
  chmod -R a+rX "$copy" "$XDG_CACHE_HOME"
  readable=(--readable "$copy")
fi
echo "folders: ${readable[*]}"
timeout 20 "$ks" doctor >"$out/doctor.txt" 2>&1
grep -E "^ok.*(CUDA|NVRTC|sandbox|landlock|bubblewrap)" "$out/doctor.txt"

# Seconds, at most those that are left of the three minutes with some to spare for the end.
within() {
  local left=$((165 - SECONDS))
  [ "$left" -gt 5 ] || left=5
  echo $((left < $1 ? left : $1))
}
for name in softmax matmul; do
  problem=$root/examples/triton/$name.json
  timeout "$(within 40)" "$ks" check --quick "$problem" "${readable[@]}" --sandbox "$sandbox" >"$out/check_$name.txt" 2>&1
  echo "check $name: exit $?, $SECONDS s" && tail -12 "$out/check_$name.txt" | sed 's/^/  /'
  budget=$(within 60)
  timeout "$(within 75)" "$ks" tune "$problem" "${readable[@]}" --sandbox "$sandbox" --budget "40,${budget}s" --seed 1 \
    --store "$out/$name.db" --record "$out/$name.t4.json" --out "$out/$name" >"$out/tune_$name.txt" 2>&1
  echo "tune $name: exit $?, $SECONDS s" && tail -25 "$out/tune_$name.txt" | sed 's/^/  /'
  timeout 10 "$ks" export latest --store "$out/$name.db" >"$out/trials_$name.txt" 2>&1
  echo "verdicts of $name:" && timeout 10 "$python" - "$out/$name/triton_${name}_best.json" <<'END'
import json, sys
try:
    best = json.load(open(sys.argv[1]))
except OSError as error:
    sys.exit(f"  no winner: {error}")
for key in ("settings", "seconds", "speedup", "toolchain"):
    print(f"  {key}: {best.get(key)}")
print("  verdicts:", {k: v for k, v in best["run"]["verdicts"].items() if v})
wanted = ("registers", "shared_bytes", "block_threads", "occupancy", "verified_calls", "tflops", "roofline")
print("  features:", {k: v for k, v in best.get("features", {}).items() if k.startswith(wanted)})
END
  folders=
  for word in "${readable[@]}"; do [ "$word" = --readable ] || folders=${folders:+$folders:}$word; done
  ARCH=sm_90a READABLE=$folders timeout 20 sh "$out/$name/triton_${name}_best.sh" "$out/$name.cubin" >"$out/script_$name.txt" 2>&1
  code=$?
  size=$(stat -c %s "$out/$name.cubin" 2>/dev/null)
  echo "the winner's script: exit $code, ${size:-no} bytes, $(cat "$out/$name.cubin.json" 2>/dev/null)"
done
echo "all: $SECONDS s"
