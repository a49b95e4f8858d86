#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
scripts/measure_build.sh [WHAT]...
Measures what building costs, from nothing, nothing cached, and prints the rows of docs/benchmarks/build.md.
  command     the command with its workers, Release: scripts/quickstart.sh without installing and tuning
  headers     the umbrella header, the example program, the header-only umbrella, the costliest headers alone
  quickstart  scripts/quickstart.sh with its 60 s of tuning, packages being there
  root        the same in an empty Debian 12 root that debootstrap makes (as root; MIRROR=URL names the mirror)
  root_tests  scripts/test.sh in such a root
  fast        scripts/test.sh --fast
  all         scripts/test.sh
Without WHAT: command headers. The tree is cloned first, so only what is committed is measured; with JOBS=N for other
than all cores. Run it on a machine that does nothing else: the times are those of the clock and of the processor.
USAGE
}
case ${1:-} in -h | --help) usage; exit 0 ;; esac
[ $# -gt 0 ] || set -- command headers
export CCACHE_DISABLE=1

work=$(mktemp -d "${TMPDIR:-/tmp}/measure_build.XXXXXX")
trap 'rm -rf "$work"' EXIT
git clone -q . "$work/tree"
tree=$work/tree

# timed NAME COMMAND...: one row, with what the command's processes used; its output goes to the log.
timed() {
  local name=$1
  shift
  python3 - "$name" "$work/log" "$@" <<'TIMED'
import resource, subprocess, sys, time
name, log, *command = sys.argv[1:]
began = time.monotonic()
with open(log, "ab") as out:
    code = subprocess.run(command, stdout=out, stderr=out).returncode
wall = time.monotonic() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"| {name} | {used.ru_utime:.1f} | {wall:.1f} | {used.ru_maxrss / 1024:.0f} |" + ("" if code == 0 else f" failed with {code}"), flush=True)
sys.exit(code)
TIMED
}

measure_command() {
  local build=$work/command
  cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKERNELSEARCH_BUILD_TESTS=OFF \
    -DKERNELSEARCH_BUILD_EXAMPLES=OFF -DCMAKE_CXX_COMPILER_LAUNCHER= >/dev/null
  timed "the command" cmake --build "$build" -j"$jobs" --target kernelsearch
}

measure_headers() {
  local compile=(g++ -std=c++20 -I"$tree/include" -isystem /usr/include/eigen3)
  : >"$work/empty.cpp"
  echo '#include "kernelsearch/kernelsearch.hpp"' >"$work/umbrella.cpp"
  timed "an empty file, -O0" "${compile[@]}" -c "$work/empty.cpp" -o "$work/o"
  timed '`kernelsearch.hpp`, -O0' "${compile[@]}" -c "$work/umbrella.cpp" -o "$work/o"
  local program
  for program in smallest ask_tell custom_policy; do
    timed "examples/programs/$program.cpp, -O2" "${compile[@]}" -O2 -c "$tree/examples/programs/$program.cpp" -o "$work/o"
  done
  timed "the umbrella header-only, -O2" "${compile[@]}" -O2 -DKERNELSEARCH_HEADER_ONLY=1 -c "$work/umbrella.cpp" -o "$work/o"
  timed "examples/programs/smallest.cpp header-only, -O2" \
    "${compile[@]}" -O2 -DKERNELSEARCH_HEADER_ONLY=1 -c "$tree/examples/programs/smallest.cpp" -o "$work/o"
}

measure_quickstart() { (cd "$tree" && timed "scripts/quickstart.sh, packages installed" scripts/quickstart.sh); }
measure_fast() { (cd "$tree" && timed "scripts/test.sh --fast" scripts/test.sh --fast && legs_of); }
measure_all() { (cd "$tree" && rm -rf build && timed "scripts/test.sh" scripts/test.sh && legs_of); }

# The table of legs that scripts/test.sh ends with.
legs_of() { sed -n '/^leg  *build/,/passed,/p' "$work/log" | tail -n 12 >&2; }

# An empty Debian 12 root with the tree in it, entered by bubblewrap: a plain chroot would forbid the user namespaces of
# the sandbox.
timed_in_root() { # NAME COMMAND...
  command -v debootstrap >/dev/null && command -v bwrap >/dev/null || die "debootstrap or bubblewrap is not installed"
  local root=$work/root name=$1
  shift
  debootstrap --variant=minbase bookworm "$root" ${MIRROR:+"$MIRROR"} >>"$work/log" 2>&1
  cp -a "$tree" "$root/kernelsearch"
  # With the whole of /proc, as on a machine: under a part of it no sandbox inside can mount its own.
  timed "$name in an empty Debian 12 root" bwrap --bind "$root" / --dev /dev --bind /proc /proc \
    --ro-bind /etc/resolv.conf /etc/resolv.conf --cap-add ALL --clearenv --setenv PATH /usr/sbin:/usr/bin:/sbin:/bin \
    --setenv HOME /root --chdir /kernelsearch "$@"
}
measure_root() { timed_in_root "scripts/quickstart.sh" scripts/quickstart.sh && sed -n '/^run  *[0-9]/,$p' "$work/log" >&2; }
measure_root_tests() { timed_in_root "scripts/test.sh" scripts/test.sh && legs_of; }

printf '| what | processor s (user) | clock s | largest process, MB |\n|---|--:|--:|--:|\n'
for what in "$@"; do
  declare -F "measure_$what" >/dev/null || die "There is no measure $what; there are: command headers quickstart root root_tests fast all"
  "measure_$what" || { tail -n 30 "$work/log" >&2; die "measuring $what failed"; }
done
printf '%s, %s jobs, %s, %s\n' "$(git -C "$tree" rev-parse --short HEAD)" "$jobs" "$(g++ --version | head -n 1)" \
  "$(sed -n 's/^model name\t: //p' /proc/cpuinfo | head -n 1)"
