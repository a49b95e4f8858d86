#!/bin/bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bench/opencl/h200.sh BUILD OUT: on a machine with a GPU that OpenCL and CUDA both reach: the test program of OpenCL on that
# device, then matmul_tiled in OpenCL C and in CUDA C++ in turns, 200 trials each time: the best times and trials a second.
# BUILD holds kernelsearch, kernelsearch-gpu-worker, kernelsearch-worker and test_opencl, stripped, in any folders below
# (and libkernelsearch_faulty_opencl.so and the stand-in's libraries, without which some cases are skipped or fail); the source
# tree lies around this script. Nothing outlives its time limit, all of it takes six minutes at most; logs go to OUT.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
out=$2
mkdir -p "$out"
program() { find "$build" -name "$1" -type f -print -quit; }
ks=$(program kernelsearch)
KERNELSEARCH_GPU_WORKER=$(program kernelsearch-gpu-worker)
KERNELSEARCH_WORKER=$(program kernelsearch-worker)
KERNELSEARCH_COMMAND=$ks
KERNELSEARCH_TEST_DATA=$root/tests
KERNELSEARCH_TEST_FAULTY_OPENCL=$(program libkernelsearch_faulty_opencl.so)
XDG_CACHE_HOME=$(mktemp -d)
XDG_DATA_HOME=$XDG_CACHE_HOME
export KERNELSEARCH_GPU_WORKER KERNELSEARCH_WORKER KERNELSEARCH_COMMAND KERNELSEARCH_TEST_DATA KERNELSEARCH_TEST_FAULTY_OPENCL \
  XDG_CACHE_HOME XDG_DATA_HOME
hip=$(program libkernelsearch_standin_hip.so)
[ -z "$hip" ] || export KERNELSEARCH_HIP_RUNTIME=$hip KERNELSEARCH_HIPRTC=$(program libkernelsearch_standin_hiprtc.so)

# The loader finds NVIDIA's driver by a file that containers often lack.
if [ -z "${OCL_ICD_VENDORS:-}" ] && ! grep -qs nvidia /etc/OpenCL/vendors/*.icd; then
  mkdir -p "$XDG_CACHE_HOME/vendors"
  echo libnvidia-opencl.so.1 >"$XDG_CACHE_HOME/vendors/nvidia.icd"
  export OCL_ICD_VENDORS=$XDG_CACHE_HOME/vendors
fi
timeout 20 "$ks" doctor >"$out/doctor.txt" 2>&1
device=$(sed -n 's/^ok *OpenCL device \([0-9]*\).*NVIDIA.*/\1/p' "$out/doctor.txt" | head -1)
if [ -z "$device" ]; then
  echo "no OpenCL device of NVIDIA:" && grep OpenCL "$out/doctor.txt"
  exit 1
fi
echo "OpenCL device $device"
sandbox=${SANDBOX:-auto}

KERNELSEARCH_TEST_DEVICE=$device timeout 200 "$(program test_opencl)" -d >"$out/test_opencl.txt" 2>&1
echo "test_opencl: exit $?" && tail -3 "$out/test_opencl.txt"

for round in 1 2; do
  [ "$SECONDS" -lt 260 ] || break # the second round is for machines that have time for it
  for twin in opencl:bench/opencl/matmul_tiled:$device cuda:examples/cuda/matmul_tiled:0; do
    IFS=: read -r name folder ordinal <<<"$twin"
    begin=$(date +%s.%N)
    timeout 35 "$ks" tune "$root/$folder" --devices "$ordinal" --budget 200,20s --seed "$round" --sandbox "$sandbox" \
      --store "$out/$name$round.db" --record "$out/$name$round.t4.json" --out "$out/$name$round" >"$out/$name$round.txt" 2>&1
    echo "$name round $round: exit $?, $(echo "$(date +%s.%N) - $begin" | bc 2>/dev/null || echo '?') s"
    grep -E "^(best|trials|settings|sandbox|time) " "$out/$name$round.txt" | sed 's/^/  /'
  done
done
