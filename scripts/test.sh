#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
scripts/test.sh [--thorough] [--fast] [--leg NAME]... [--repeat N [--only REGEX]]
Installs what is missing from Debian, builds, and runs the tests, as CI does. May be run again at no cost.
  --thorough   every test whole: the cases of the suite `thorough`, all of the long lists of which a third stands for the rest
               otherwise, the messages of both compilers, every unit test sanitized
  --fast       only the first leg: g++, no sanitizers
  --leg NAME   only that leg: ci, headers, format, dev (files compiled one by one by g++ and clang++, as the preset dev does: those
               that changed since the last merge, a twentieth of the others, all with --thorough), asan, tsan, or clang (built by clang++), opencl or vulkan (PoCL, or
               llvmpipe and glslang, are installed; ci skips these tests without them), portability (the core for Windows
               by MinGW-w64, and with the standard library of macOS, libc++; both are installed); may be repeated
  --repeat N   in place of the legs: builds as the first leg and runs its unit and integration tests N times under load,
               several copies of each side by side; --only REGEX: those whose name it finds
  JOBS=N       number of parallel jobs, default all cores
The last line counts tests over all legs: N passed, N failed, N skipped
USAGE
}

all_legs=(ci headers format dev asan tsan)
more_legs=(clang opencl vulkan portability)
legs=() repeat='' only='' thorough=''
while [ $# -gt 0 ]; do
  case $1 in
    --fast) legs=(ci) ;;
    --thorough) thorough=1; export KERNELSEARCH_TEST_THOROUGH=1 ;;
    --leg) [ $# -gt 1 ] || die "--leg needs a name: ${all_legs[*]} ${more_legs[*]}"; legs+=("$2"); shift ;;
    --repeat) [ $# -gt 1 ] || die "--repeat needs a number"; repeat=$2; shift ;;
    --only) [ $# -gt 1 ] || die "--only needs a regular expression"; only=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; die "No such option: $1" ;;
  esac
  shift
done
[ -z "$only" ] || [ -n "$repeat" ] || die "--only goes with --repeat"
[ ${#legs[@]} -gt 0 ] || legs=("${all_legs[@]}")

passed=0 failed=0 skipped=0
failures=()

count() { # one pass or failure of something that is not a ctest test
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); failures+=("$1"); fi
}

# The configure and build of a preset; a build that breaks is one failure.
build() { # PRESET [TARGETS...]
  local preset=$1 began=$SECONDS good=0
  shift
  cmake --preset "$preset" >/dev/null &&
    cmake --build --preset "$preset" -j"$jobs" ${@:+--target "$@"} -- --quiet || good=1
  build_seconds=$((build_seconds + SECONDS - began))
  return $good
}

run_tests() { # PRESET [OPTIONS of ctest...]
  local report attribute began=$SECONDS
  report=$PWD/build/$1/tests.xml
  rm -f "$report"
  ctest --preset "$1" -j"$jobs" --output-junit "$report" "${@:2}" || failures+=("tests of $1")
  test_seconds=$((test_seconds + SECONDS - began))
  [ -f "$report" ] || { failed=$((failed + 1)); return; }
  attribute() { sed -n "s/.*\b$1=\"\([0-9]*\)\".*/\1/p" <(grep -m1 -A8 '<testsuite' "$report" | tr '\n' ' '); }
  local tests bad skip
  tests=$(attribute tests) bad=$(attribute failures) skip=$(($(attribute skipped) + $(attribute disabled)))
  passed=$((passed + tests - bad - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))
}

leg_ci() {
  local leave_out=(-LE '^thorough$')
  [ -z "$thorough" ] || leave_out=()
  if build ci; then run_tests ci "${leave_out[@]}"; else count "build of ci" 1; fi
}
leg_headers() {
  build ci all_verify_interface_header_sets && count headers 0 || count "headers that compile alone" 1
}
leg_format() {
  # Each version of clang-format breaks some lines in another way; the files are as version 14 writes them.
  local version
  version=$(clang-format --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
  if [ "$version" != 14 ]; then
    say "clang-format is version ${version:-unknown}, and the files are formatted by 14 (Debian 12, or pip install clang-format==14.0.6): not checked"
    skipped=$((skipped + 1))
  else
    { find include src apps tests bench examples python -name '*.[hc]pp' -print0 &&
      find include src tests/c examples/programs -name '*.[hc]' -print0; } | xargs -0 clang-format --dry-run -Werror &&
      count format 0 || count "clang-format" 1
  fi
  # clang-format leaves comments as they are, so that tables stay tables.
  local wide
  wide=$(grep -rnE '^.{111,}$' --include='*.[hc]pp' include src apps tests bench examples python |
    grep -E '^[^:]*:[0-9]*: *//' || true)
  [ -z "$wide" ] || printf 'wider than 110 columns: %s\n' "$wide" >&2
  [ -z "$wide" ] && count width 0 || count "width of comments" 1
}
leg_dev() { # the other legs compile the files of a target together, and so miss what --preset dev refuses
  local preset since choice=()
  # The base of this branch, or what main was before its last merge; KERNELSEARCH_SINCE=COMMIT says otherwise.
  since=${KERNELSEARCH_SINCE:-$(git merge-base HEAD main 2>/dev/null || true)}
  [ -n "$since" ] && [ "$(git rev-parse "$since")" != "$(git rev-parse HEAD)" ] ||
    since=$(git log -1 --first-parent --merges --format='%H^1')
  # Without history, as in a shallow clone, there is only the part.
  git rev-parse -q --verify "${since:-none}^{commit}" >/dev/null || since=HEAD
  # Another twentieth each day of the year: what a change elsewhere breaks in a file is seen within three weeks.
  [ -n "$thorough" ] || choice=(--since "$since" --part "$((10#$(date +%j)))/20")
  for preset in dev dev_clang; do
    cmake --preset "$preset" >/dev/null && scripts/check_files.py "build/$preset" --jobs "$jobs" "${choice[@]}" &&
      count "" 0 || count "files one by one, preset $preset" 1
  done
}
leg_opencl() { # the tests that need a device of OpenCL, on this machine's processors
  need_packages pocl-opencl-icd ocl-icd-libopencl1 opencl-c-headers # the headers: our declarations are compared with them
  if build ci test_opencl kernelsearch; then run_tests ci -R '^opencl$'; else count "build of opencl" 1; fi
}
leg_vulkan() { # the tests that need a device of Vulkan, on this machine's processors; where it is missing now they fail
  need_packages libvulkan1 mesa-vulkan-drivers glslang-tools libvulkan-dev # the last has the headers, as above
  if build ci test_vulkan kernelsearch; then
    KERNELSEARCH_TEST_VULKAN=1 run_tests ci -R '^vulkan$'
  else
    count "build of vulkan" 1
  fi
}
leg_portability() { # the core elsewhere: compiled, and for Windows linked, and run where Wine is installed
  local work=$PWD/build/portability newest='clang-22|clang-21|clang-20' clang system
  need_packages g++-mingw-w64-x86-64-posix
  # Of the headers of this system only those of the libraries: not its C library.
  rm -rf "$work" && mkdir -p "$work/include" && ln -s /usr/include/eigen3 /usr/include/boost "$work/include"
  local headers=(-std=c++20 -Iinclude -isystem "$work/include" -isystem "$work/include/eigen3")
  local sources=(src/{core,space,model,policy,generator,evaluator,optimizer}{.cpp,/*.cpp})
  local windows=(x86_64-w64-mingw32-g++-posix -Wall -Wextra -Werror "${headers[@]}")
  # libc++ has had std::stop_token since version 20. Apple's own headers are only to be had on macOS.
  clang=$(first_good installed_version "$newest")
  [ -n "$clang" ] || clang=$(first_good offered_version "$newest")
  if [ -n "$clang" ]; then
    need_packages "$clang" "libc++-${clang#clang-}-dev" "libc++abi-${clang#clang-}-dev"
    local macos=(clang++-"${clang#clang-}" -stdlib=libc++ "${headers[@]}")
  else
    say "No clang 20 or newer is offered: the core is not compiled with libc++"
    skipped=$((skipped + 1))
  fi
  for system in windows macos; do
    declare -n compiler=$system
    [ ${#compiler[@]} -gt 0 ] || continue
    for source in "${sources[@]}"; do
      [ -f "$source" ] || continue  # a room that is one file
      "${compiler[@]}" -fsyntax-only "$source" && count "" 0 || count "$source for $system" 1
    done
    "${compiler[@]}" -O1 -DKERNELSEARCH_HEADER_ONLY=1 examples/programs/smallest.cpp -o "$work/program-$system.exe" -static &&
      count "" 0 || count "smallest.cpp for $system" 1
  done
  if command -v wine >/dev/null; then
    WINEDEBUG=-all wine "$work/program-windows.exe" && count "" 0 || count "smallest.cpp under Wine" 1
  else
    say "Wine is not installed: smallest.cpp was linked for Windows, not run"
    skipped=$((skipped + 1))
  fi
}
leg_clang() { if build clang; then run_tests clang; else count "build of clang" 1; fi; }
leg_asan() { # the tests with that label, and no more than they need
  local label=sanitized
  [ -z "$thorough" ] || label=unit
  if build asan "${label}_tests"; then
    run_tests asan -L "^$label\$"
  else
    count "build of asan" 1
  fi
}
leg_tsan() {
  if build tsan test_core test_evaluator test_optimizer; then run_tests tsan; else count "build of tsan" 1; fi
}

say "Legs: ${legs[*]}. Missing packages are installed from Debian; everything else stays in build/."
need_packages "${build_packages[@]}" "${test_packages[@]}"

if [ -n "$repeat" ]; then
  build_seconds=0
  build ci || die "The build of ci failed"
  say "Build took $build_seconds s. Unit and integration tests, $repeat times${only:+, only those with $only}"
  exec scripts/repeat_tests.py build/ci "$repeat" --only "$only"
fi

seconds=()
for leg in "${legs[@]}"; do
  declare -F "leg_$leg" >/dev/null || die "No such leg: $leg; there are: ${all_legs[*]} ${more_legs[*]}"
  say "Leg $leg"
  began=$SECONDS build_seconds=0 test_seconds=0
  "leg_$leg"
  seconds+=("$(printf '%-8s %6d %6d %6d' "$leg" "$build_seconds" "$test_seconds" "$((SECONDS - began))")")
  say "Leg $leg took $((SECONDS - began)) s: build $build_seconds s, tests $test_seconds s"
done

printf '\n%-8s %6s %6s %6s\n' leg build tests 'all, s' >&2
printf '%s\n' "${seconds[@]}" >&2

[ ${#failures[@]} -eq 0 ] || printf 'failed: %s\n' "${failures[@]}" >&2
echo "$passed passed, $failed failed, $skipped skipped"
[ ${#failures[@]} -eq 0 ] && [ "$failed" -eq 0 ]
