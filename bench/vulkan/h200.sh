#!/bin/bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bench/vulkan/h200.sh BUILD OUT: on a machine with a GPU that Vulkan and CUDA both reach: the tests of Vulkan on that device,
# then matmul in HLSL and matmul_tiled in CUDA C++ at the same size (2048) in turns, 150 trials each: best times, trials a second.
# BUILD holds kernelsearch, kernelsearch-gpu-worker, kernelsearch-worker and test_vulkan, in any folders below. TOOLS (default
# BUILD) holds what Debian's packages libvulkan1 and glslang-tools have, where the machine lacks them: libvulkan.so.1* and
# glslangValidator. Nothing outlives its time limit; logs go to OUT.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
out=$2
tools=${TOOLS:-$build}
mkdir -p "$out"
program() { find "$build" "$tools" -name "$1" \( -type f -o -type l \) -print 2>/dev/null | head -1; }
ks=$(program kernelsearch)
[ -x "$ks" ] || ks=$(find "$build" -name kernelsearch -type f -perm -u+x | head -1)
KERNELSEARCH_GPU_WORKER=$(program kernelsearch-gpu-worker)
KERNELSEARCH_WORKER=$(program kernelsearch-worker)
XDG_CACHE_HOME=$(mktemp -d)
XDG_DATA_HOME=$XDG_CACHE_HOME
export KERNELSEARCH_GPU_WORKER KERNELSEARCH_WORKER XDG_CACHE_HOME XDG_DATA_HOME
loader=$(program 'libvulkan.so.1*') glslang=$(program glslangValidator)
ldconfig -p 2>/dev/null | grep -q libvulkan.so.1 || [ -z "$loader" ] || export KERNELSEARCH_VULKAN_LOADER=$loader
command -v glslangValidator >/dev/null || { [ -z "$glslang" ] || { chmod +x "$glslang"; export KERNELSEARCH_GLSLANG=$glslang; }; }
# The loader finds NVIDIA's driver by a file that containers put in different places, or nowhere.
icd=$(find /etc/vulkan /usr/share/vulkan /usr/local/nvidia -name 'nvidia_icd*.json' 2>/dev/null | head -1)
if [ -z "$icd" ]; then
  icd=$XDG_CACHE_HOME/nvidia_icd.json
  echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "libGLX_nvidia.so.0", "api_version": "1.3.0"}}' >"$icd"
fi
export VK_ICD_FILENAMES=$icd VK_DRIVER_FILES=$icd
echo "loader ${KERNELSEARCH_VULKAN_LOADER:-the system\'s}, glslang ${KERNELSEARCH_GLSLANG:-the system\'s}, driver $icd"
timeout 40 "$ks" doctor >"$out/doctor.txt" 2>&1
grep -E "Vulkan|glslang|CUDA" "$out/doctor.txt"
device=$(sed -n 's/^ok *Vulkan device \([0-9]*\).*NVIDIA.*/\1/p' "$out/doctor.txt" | head -1)
[ -n "$device" ] || { echo "no Vulkan device of NVIDIA, see doctor.txt"; exit 1; }

KERNELSEARCH_TEST_VULKAN=1 timeout 60 "$(program test_vulkan)" -d >"$out/test_vulkan.txt" 2>&1
echo "test_vulkan: exit $?" && tail -3 "$out/test_vulkan.txt"

# The same size on both sides.
cp -r "$root/examples/vulkan/matmul_hlsl" "$out/matmul_hlsl"
sed -i 's/{"name": "256", "n": 256}/{"name": "2048", "n": 2048}/; s/"absolute": 2e-4/"absolute": 5e-4/' "$out/matmul_hlsl/problem.json"
for round in 1 2; do
  for twin in "vulkan:$out/matmul_hlsl:$device" "cuda:$root/examples/cuda/matmul_tiled:0"; do
    IFS=: read -r name folder ordinal <<<"$twin"
    begin=$(date +%s)
    timeout 40 "$ks" tune "$folder" --devices "$ordinal" --budget 150,22s --seed "$round" --sandbox "${SANDBOX:-auto}" \
      --store "$out/$name$round.db" --out "$out/$name$round" >"$out/$name$round.txt" 2>&1
    echo "$name round $round: exit $?, $(($(date +%s) - begin)) s"
    grep -E "^(best|trials|settings|sandbox|time) " "$out/$name$round.txt" | sed 's/^/  /'
  done
done
