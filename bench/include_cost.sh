#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# bench/include_cost.sh [ROUNDS]: what including each header costs a compilation, as a Markdown table of
# processor seconds (user + system), the best of ROUNDS (default 5), headers interleaved.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}
compilers=()
for compiler in g++ clang++; do command -v "$compiler" >/dev/null && compilers+=("$compiler"); done
headers=(
  "<vector>, <string>, <span>, <optional>"
  kernelsearch/fwd.hpp
  kernelsearch/core/outcome.hpp
  kernelsearch/policy/search_policy.hpp
  kernelsearch/space/space.hpp
  kernelsearch/evaluator/evaluator.hpp
  kernelsearch/optimizer/optimizer.hpp
  kernelsearch/kernelsearch.hpp
)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for i in "${!headers[@]}"; do
  case ${headers[i]} in
    "<"*) printf '#include <%s>\n' vector string span optional ;;
    *) printf '#include "%s"\n' "${headers[i]}" ;;
  esac >"$work/$i.cpp"
done

declare -A best
for ((round = 0; round < rounds; ++round)); do
  for i in "${!headers[@]}"; do
    for compiler in "${compilers[@]}"; do
      TIMEFORMAT='%U %S'
      took=$({ time "$compiler" -std=c++20 -fsyntax-only -Iinclude "$work/$i.cpp"; } 2>&1 | awk '{print $1 + $2}')
      key=$i/$compiler
      best[$key]=$(printf '%s\n' "$took" "${best[$key]:-$took}" | sort -g | head -n 1)
    done
  done
done

printf '| include |'; printf ' %s (s) |' "${compilers[@]}"; echo
printf '|---|'; printf -- '---|%.0s' "${compilers[@]}"; echo
for i in "${!headers[@]}"; do
  printf '| `%s` |' "${headers[i]}"
  for compiler in "${compilers[@]}"; do printf ' %.2f |' "${best[$i/$compiler]}"; done
  echo
done
