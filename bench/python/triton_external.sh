#!/bin/bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bench/python/triton_external.sh BUILD OUT: on a machine with an NVIDIA GPU whose python3 has PyTorch and Triton, checks
# examples/external/triton_cosine.json and tunes it for 20 trials or 60 s: verdicts, and slopes against the event times that the
# program claims. BUILD holds kernelsearch, kernelsearch-gpu-worker and kernelsearch-worker in any folders below; the source tree
# lies around this script. PYTHON names another Python. SANDBOX is auto where it is left out, and none where the program does not
# start in that. Nothing outlives its time limit, all of it takes two and a half minutes at most; logs go to OUT.
set -u
source "$(dirname "${BASH_SOURCE[0]}")/../gpu_run.sh"

# The problem as a user of this machine would write it: its interpreter in `command`, and the folders of the environment, of
# the Python that it is of and of the driver's libraries in `readable`.
cp -r "$root/examples/external" "$out/problem" || exit 1
"$python" - "$out/problem/triton_cosine.json" <<'END' || exit 1
import json, os, re, sys
path = sys.argv[1]
problem = json.loads(re.sub(r"^\s*//.*$", "", open(path).read(), flags=re.M))
folders = {os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(os.path.realpath(sys.executable))))}
libraries = [p for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") + ["/usr/local/nvidia/lib64", "/usr/local/nvidia/lib"]
             if p.startswith("/") and os.path.isdir(p)]
folders |= {os.path.realpath(p) for p in libraries}
external = problem["external"]
external["readable"] = sorted(f for f in folders if f not in ("/usr", "/usr/local") and not f.startswith(("/lib", "/usr/lib", "/usr/bin")))
words = ["env", "LD_LIBRARY_PATH=" + ":".join(dict.fromkeys(libraries))] if libraries else []
external["command"] = [*words, sys.executable, "${FILES}/triton_evaluator.py"]
external["identity"] = [[*words, sys.executable, "--version"]]
json.dump(problem, open(path, "w"), indent=1)
print("command", " ".join(external["command"]), "\nreadable", " ".join(external["readable"]))
END
within() {
  local left=$((140 - SECONDS))
  [ "$left" -gt 3 ] || left=3
  echo $((left < $1 ? left : $1))
}
timeout 10 "$ks" doctor >"$out/doctor.txt" 2>&1
grep -E "^ok.*(CUDA device|sandbox|landlock|bubblewrap)" "$out/doctor.txt"
problem=$out/problem/triton_cosine.json
timeout "$(within 20)" "$ks" check --quick "$problem" >"$out/check.txt" 2>&1
echo "check: exit $?, $SECONDS s" && tail -3 "$out/check.txt" | sed 's/^/  /'

for sandbox in "${SANDBOX:-auto}" none; do
  timeout "$(within 100)" "$ks" tune "$problem" --sandbox "$sandbox" --budget "20,$(within 60)s" --seed 1 --store "$out/$sandbox.db" \
    --record "$out/$sandbox.t4.json" --out "$out/$sandbox" >"$out/tune_$sandbox.txt" 2>&1
  echo "tune, --sandbox $sandbox: exit $?, $SECONDS s" && tail -25 "$out/tune_$sandbox.txt" | sed 's/^/  /'
  timeout 10 "$ks" export latest --store "$out/$sandbox.db" >"$out/trials_$sandbox.txt" 2>&1
  ls "$out/$sandbox"/*_best.json >/dev/null 2>&1 && break
  [ "$sandbox" != none ] || break
done
timeout 10 "$python" - "$out/$sandbox" <<'END'
import glob, json, sys
for name in glob.glob(sys.argv[1] + "/*_best.json"):
    best = json.load(open(name))
    for key in ("settings", "seconds", "improvement", "shapes", "toolchain", "provenance"):
        print(f"{key}: {best.get(key)}")
    print("verdicts:", {k: v for k, v in best["run"]["verdicts"].items() if v})
    features = best.get("features", {})
    print("features:", features)
    share = features.get("external.claimed_share")
    if share and best.get("seconds"):
        # Each call is given 20 us for what a claim leaves out.
        slope, events = 1e6 * best["seconds"], 1e6 * best["seconds"] * share - 20
        print(f"slope {slope:.1f} us, event times claimed {events:.1f} us, slope over events {slope / events:.3f} (wanted: at most 1.1)")
        break
else:
    print("no winner with claimed times")
END
echo "all: $SECONDS s"
