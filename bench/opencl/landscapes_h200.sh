#!/bin/bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bench/opencl/landscapes_h200.sh BUILD OUT [SECONDS]: landscapes of the examples of OpenCL and Vulkan, at sizes for a GPU, on a
# device that both reach: every configuration of the spaces below, in SECONDS (default 150) in all. Configurations are measured
# in random order, so that what a problem whose time was over has recorded is a fair sample; the summary says which are whole.
# BUILD holds kernelsearch, kernelsearch-gpu-worker and kernelsearch-worker in any folders below; TOOLS (default BUILD) holds
# libvulkan.so.1* and glslangValidator where the machine lacks them. MATCH (default NVIDIA) chooses the devices by `doctor`'s
# words, ONLY (a pattern of the shell, e.g. 'opencl_*') the landscapes, SHRINK=1 takes the examples' own sizes.
# OUT gets landscapes.txt (the summary) and landscapes.tar.gz (a T4 file and a log for each).
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
limit=${3:-150}
tools=${TOOLS:-$build}
match=${MATCH:-NVIDIA}
program() { find "$build" "$tools" -name "$1" \( -type f -o -type l \) ! -path '*/CMakeFiles/*' -print 2>/dev/null | head -1; }
ks=$(find "$build" -name kernelsearch -type f -perm -u+x | head -1)
KERNELSEARCH_GPU_WORKER=$(program kernelsearch-gpu-worker)
KERNELSEARCH_WORKER=$(program kernelsearch-worker)
work=$(mktemp -d)
XDG_CACHE_HOME=$work/cache
XDG_DATA_HOME=$work/data
export KERNELSEARCH_GPU_WORKER KERNELSEARCH_WORKER XDG_CACHE_HOME XDG_DATA_HOME
mkdir -p "$work/landscapes" "$work/vendors"
[ -n "$ks" ] || { echo "no program kernelsearch below $build"; exit 1; }

# The loaders find NVIDIA's drivers by files that containers put in different places, or nowhere.
if [ "$match" = NVIDIA ]; then
  if [ -z "${OCL_ICD_VENDORS:-}" ] && ! grep -qs nvidia /etc/OpenCL/vendors/*.icd; then
    echo libnvidia-opencl.so.1 >"$work/vendors/nvidia.icd"
    export OCL_ICD_VENDORS=$work/vendors
  fi
  icd=$(find /etc/vulkan /usr/share/vulkan /usr/local/nvidia -name 'nvidia_icd*.json' 2>/dev/null | head -1)
  if [ -z "$icd" ]; then
    icd=$work/nvidia_icd.json
    echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "libGLX_nvidia.so.0", "api_version": "1.3.0"}}' >"$icd"
  fi
  export VK_ICD_FILENAMES=$icd VK_DRIVER_FILES=$icd
fi
loader=$(program 'libvulkan.so.1*') glslang=$(program glslangValidator)
ldconfig -p 2>/dev/null | grep -q libvulkan.so.1 || [ -z "$loader" ] || export KERNELSEARCH_VULKAN_LOADER=$loader
command -v glslangValidator >/dev/null || { [ -z "$glslang" ] || { chmod +x "$glslang"; export KERNELSEARCH_GLSLANG=$glslang; }; }

timeout 40 "$ks" doctor >"$work/landscapes/doctor.txt" 2>&1
ordinal() { sed -n "s/^ok *$1 device \([0-9]*\).*$match.*/\1/p" "$work/landscapes/doctor.txt" | head -1; }
opencl=$(ordinal OpenCL) vulkan=$(ordinal Vulkan)
summary=$out/landscapes.txt
say() { echo "$*" | tee -a "$summary"; }
: >"$summary"
say "$(date -u +%Y-%m-%dT%H:%MZ), OpenCL device ${opencl:-none}, Vulkan device ${vulkan:-none}"
grep -E "^ok *(OpenCL|Vulkan) device" "$work/landscapes/doctor.txt" | grep "$match" | tee -a "$summary"

# NAME | share of the time | what the size becomes (sed) | conditions, each ended by a semicolon
plan() {
  cat <<'PLAN'
opencl_matmul|22|s/{"name": "256", "n": 256}/{"name": "1024", "n": 1024}/;s/"absolute": 2e-4/"absolute": 5e-4/|GROUP_X in [8, 16, 32];GROUP_Y in [4, 8, 16];VEC in [1, 2, 4];DEPTH in [8, 16];DEPTH != 16 or STAGE == 1;
vulkan_matmul_hlsl|14|s/{"name": "256", "n": 256}/{"name": "1024", "n": 1024}/;s/"absolute": 2e-4/"absolute": 5e-4/|BLOCK_X in [8, 16, 32];BLOCK_Y in [4, 8, 16];DEPTH in [8, 16];
opencl_transpose|14|s/{"name": "1024", "rows": 1024, "cols": 1024}/{"name": "4096", "rows": 4096, "cols": 4096}/|
vulkan_transpose|6|s/{"name": "1024", "rows": 1024, "columns": 1024}/{"name": "4096", "rows": 4096, "columns": 4096}/|
opencl_reduction|12|s/4M/16M/;s/4194304/16777216/|GROUP >= 64;
vulkan_reduction|8||
opencl_convolution|14|s/{"name": "1024", "height": 1024, "width": 1024}/{"name": "4096", "height": 4096, "width": 4096}/|GROUP_X * GROUP_Y >= 32;VEC in [1, 2, 4];ROWS in [1, 2, 4];
vulkan_convolution|10|s/{"name": "512", "height": 512, "width": 512}/{"name": "2048", "height": 2048, "width": 2048}/|GROUP_X * GROUP_Y >= 32;
opencl_stencil|14|s/{"name": "128", "n": 128}/{"name": "384", "n": 384}/|GROUP_X * GROUP_Y >= 32;VEC in [1, 2, 4];
vulkan_stencil|10|s/{"name": "96", "n": 96}/{"name": "256", "n": 256}/|GROUP_X * GROUP_Y >= 32;
PLAN
}
chosen() { plan | while IFS='|' read -r name rest; do [[ $name != ${ONLY:-*} ]] || echo "$name|$rest"; done; }
shares=$(chosen | awk -F'|' '{ sum += $2 } END { print sum }')
begin=$SECONDS
while IFS='|' read -r name share size conditions; do
  backend=${name%%_*} problem=${name#*_}
  [ "$backend" = opencl ] && device=$opencl || device=$vulkan
  # What others did not use is shared among those that are left.
  left=$((limit - (SECONDS - begin)))
  seconds=$((left * share / shares))
  shares=$((shares - share))
  [ -n "$device" ] || { say "$name: no device"; continue; }
  # Starting, and measuring finalists again, is not in the time of a budget.
  budget=$((seconds - 3))
  [ "$budget" -gt 1 ] || { say "$name: no time left"; continue; }
  cp -r "$root/examples/$backend/$problem" "$work/$name"
  [ -z "$size" ] || [ "${SHRINK:-0}" = 1 ] || sed -i "$size" "$work/$name/problem.json"
  where=()
  IFS=';' read -ra parts <<<"$conditions"
  for condition in "${parts[@]+"${parts[@]}"}"; do where+=(--where "$condition"); done
  timeout $((seconds + 25)) "$ks" tune "$work/$name" --devices "$device" "${where[@]+"${where[@]}"}" --policy random \
    --budget "${budget}s" --seed 1 --no-learning --no-reuse --sandbox "${SANDBOX:-auto}" --store "$work/$name.db" --json \
    --out "$work/out_$name" --record "$work/landscapes/h200_$name.t4.json.gz" \
    >"$work/landscapes/$name.json" 2>"$work/landscapes/$name.txt" </dev/null
  code=$?
  say "$name: exit $code, $(grep -o '"trials": *[0-9]*' "$work/landscapes/$name.json" | head -1)," \
    "$(grep -oE '"(reason|stopped|end)": *"[^"]*"' "$work/landscapes/$name.json" | head -1), $((SECONDS - begin)) s"
done < <(chosen)
tar -czf "$out/landscapes.tar.gz" -C "$work/landscapes" .
rm -rf "$work"
