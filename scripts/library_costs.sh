#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
scripts/library_costs.sh [COMMAND]
What libraries would cost that docs/architecture.md weighs. For each a unit that uses it and one that uses ours: processor time and
memory of the compiler (smallest of three, g++ -O2) and bytes of code. With COMMAND, a built kernelsearch: the shared objects that
libcurl (Debian: libcurl4) would bring in addition to those that COMMAND has. What is not installed is left out, with a line that says so.
USAGE
}
case ${1:-} in -h | --help) usage; exit 0 ;; esac
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unit() { # NAME FLAGS...: compiles standard input
  local name=$1
  shift
  cat >"$work/unit.cpp"
  for _ in 1 2 3; do
    /usr/bin/time -f '%U %M' -a -o "$work/$name" g++ -std=c++20 -O2 -Iinclude -Isrc "$@" -c "$work/unit.cpp" -o "$work/unit.o" 2>"$work/errors" ||
      { echo "$name: left out, it does not compile: $(head -n 1 "$work/errors")"; return; }
  done
  sort -n "$work/$name" | head -n 1 | awk -v name="$name" -v code="$(size "$work/unit.o" | awk 'NR == 2 {print $1}')" \
    '{printf "%-24s %5.2f s %5.0f MB %7d bytes of code\n", name, $1, $2 / 1000, code}'
}
unit big_count <<'CPP'
#include "kernelsearch/space/big_count.hpp"
kernelsearch::BigCount f(kernelsearch::BigCount a) { return kernelsearch::BigCount::divide(a *= kernelsearch::BigCount(3), kernelsearch::BigCount(7)).first; }
CPP
unit boost_cpp_int <<'CPP'
#include <boost/multiprecision/cpp_int.hpp>
boost::multiprecision::cpp_int f(boost::multiprecision::cpp_int a) { return (a *= 3) / 7; }
CPP
unit http_transport -Isrc/llm <src/llm/http_transport.cpp
unit snprintf <<'CPP'
#include <cstdio>
#include <string>
std::string f(double x) { char text[40]; std::snprintf(text, sizeof text, "%.4g us", x); return text; }
CPP
unit fmt <<'CPP'
#include <fmt/core.h>
std::string f(double x) { return fmt::format("{:.4g} us", x); }
CPP
[ $# -gt 0 ] || exit 0
curl=$(ldconfig -p | awk '$1 == "libcurl.so.4" {print $NF; exit}')
[ -n "$curl" ] || { echo "libcurl: left out, it is not installed (Debian: libcurl4)"; exit 0; }
objects() { ldd "$1" | awk '/=> \// {print $1, $3}' | sort; }
echo "libcurl: $(join -v 1 <({ echo "libcurl.so.4 $curl"; objects "$curl"; } | sort) <(objects "$1") | sort | awk '{print $2}' | xargs ls -lL |
  awk '{bytes += $5} END {printf "%d shared objects more, %.1f MB", NR, bytes / 1e6}'), next to $(objects "$1" | wc -l) that the command has"
