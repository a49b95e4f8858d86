# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# For benches of a GPU machine that get BUILD OUT: source it with these. root, build and out are absolute then, ks is the
# command, its workers are those of BUILD, and caches and stores lie in a folder that ends with the script.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
program() { find "$build" -name "$1" -type f -print -quit; }
ks=$(program kernelsearch)
KERNELSEARCH_GPU_WORKER=$(program kernelsearch-gpu-worker)
KERNELSEARCH_WORKER=$(program kernelsearch-worker)
XDG_CACHE_HOME=$(mktemp -d)
XDG_DATA_HOME=$XDG_CACHE_HOME
export KERNELSEARCH_GPU_WORKER KERNELSEARCH_WORKER XDG_CACHE_HOME XDG_DATA_HOME
trap 'rm -rf "$XDG_CACHE_HOME"' EXIT
python=${PYTHON:-python3}
