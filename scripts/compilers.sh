#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
scripts/compilers.sh [COMPILER...]
Compiles what consumers compile with each compiler, as C++20 and C++23, with -O3 -Wall -Wextra -Wconversion -Wpedantic -Werror. Our
headers are found by -I, so their warnings count. COMPILER is a name such as g++-13; without one, all of g++-12 to g++-16 and clang++-14 to
clang++-22 that are installed. Compiled are the header kernelsearch.hpp alone, each program of examples/programs, and smallest.cpp with
KERNELSEARCH_HEADER_ONLY=1; the program in C as C11 by the C compiler of the same version. Prints the table of docs/install.md, one row for
each compiler. Where a program that only sorts does not compile (libstdc++ 12 with clang 17 or newer), -Wno-deprecated-declarations is
added, and the row says so. The messages of what fails are printed before it. Exit code 1 if something does not compile, 2 if there is no such compiler.
USAGE
}
case ${1:-} in -h | --help) usage; exit 0 ;; esac
compilers=("$@")
if [ ${#compilers[@]} -eq 0 ]; then
  for name in g++-{12..16} clang++-{14..22}; do
    if command -v "$name" >/dev/null; then compilers+=("$name"); fi
  done
  [ ${#compilers[@]} -gt 0 ] || { echo "No compiler is installed of: g++-12 to g++-16, clang++-14 to clang++-22. Install one, or name one" >&2; exit 2; }
fi
for name in "${compilers[@]}"; do
  command -v "$name" >/dev/null || { echo "No such compiler: $name. Install it, or name one of: g++-12 to g++-16, clang++-14 to clang++-22" >&2; exit 2; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '#include "kernelsearch/kernelsearch.hpp"' >"$work/umbrella.cpp"
# The libraries of others by -isystem: what they warn of is not ours.
flags=(-O3 -Wall -Wextra -Wconversion -Wpedantic -Werror -Iinclude -isystem /usr/include/eigen3 -c -o /dev/null)
programs=("$work/umbrella.cpp" examples/programs/*.cpp examples/programs/*/main.cpp)

failed=0
compile() { # COMMAND...: counts, and shows what failed
  all=$((all + 1))
  if "$@" 2>"$work/messages"; then return; fi
  printf '%s\n' "$*" >&2
  head -n 40 "$work/messages" >&2
  bad=$((bad + 1)) failed=1
}

echo "| compiler | version | C++20 | C++23 |" >"$work/table.md"
echo "|---|---|---|---|" >>"$work/table.md"
for name in "${compilers[@]}"; do
  # libstdc++ 12's own std::stable_sort uses what it deprecates, and clang 17 and newer say so to every program that sorts.
  own=("$name") note=''
  printf '#include <algorithm>\nvoid sorted(int* begin, int* end) { std::stable_sort(begin, end); }\n' >"$work/sorts.cpp"
  if ! "$name" -std=c++20 "${flags[@]}" "$work/sorts.cpp" 2>/dev/null; then own+=(-Wno-deprecated-declarations) note=', with `-Wno-deprecated-declarations`'; fi
  row="| $name | $("$name" -dumpfullversion 2>/dev/null || "$name" -dumpversion)$note |"
  for standard in 20 2b; do
    all=0 bad=0
    for program in "${programs[@]}"; do compile "${own[@]}" -std=c++$standard "${flags[@]}" "$program"; done
    compile "${own[@]}" -std=c++$standard -DKERNELSEARCH_HEADER_ONLY=1 "${flags[@]}" examples/programs/smallest.cpp
    if [ $standard = 20 ]; then
      c=${name/clang++/clang}
      c=${c/g++/gcc}
      if command -v "$c" >/dev/null; then compile "$c" -std=c11 "${flags[@]}" examples/programs/c_tuner/main.c; fi
    fi
    if [ $bad = 0 ]; then row+=" $all compile |"; else row+=" $bad of $all fail |"; fi
  done
  echo "$row" >>"$work/table.md"
done
cat "$work/table.md"
exit $failed
