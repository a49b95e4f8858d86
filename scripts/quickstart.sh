#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
scripts/quickstart.sh [PROBLEM [OPTIONS OF kernelsearch tune...]]
Installs what is missing from Debian, builds the command, makes a plain C++ matrix product faster and shows the
result. Without arguments: examples/host/matmul for 60 seconds. May be run again: nothing is set up twice.
USAGE
}
case ${1:-} in -h | --help) usage; exit 0 ;; esac
problem=${1:-examples/host/matmul}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- --budget 60s

build=build/quickstart
cat >&2 <<PLAN
kernelsearch quickstart, about four minutes on two cores. It will
  1. install what is missing of these Debian or Ubuntu packages: $(words "${build_packages[@]}")
  2. build the command in $PWD/$build
  3. run: kernelsearch tune $problem $*
Nothing is written outside $PWD but the packages.
PLAN

need_packages "${build_packages[@]}"

say "Building in $build"
# -O2, not Release's -O3: it builds sooner, and the kernels are compiled by the flags of their problem anyway.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DKERNELSEARCH_BUILD_TESTS=OFF \
  -DKERNELSEARCH_BUILD_EXAMPLES=OFF >/dev/null
cmake --build "$build" -j"$jobs" --target kernelsearch

say "Tuning $problem"
"$build/apps/kernelsearch/kernelsearch" tune "$problem" "$@"
