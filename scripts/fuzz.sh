#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
scripts/fuzz.sh SECONDS OUT [TARGET...]
Builds the libFuzzer targets of tests/fuzz (preset fuzz: clang, address and undefined-behaviour sanitizers) and lets each,
or only those named, search for SECONDS, beginning with tests/fuzz/corpus. OUT gets, for each target:
  corpus/TARGET   what was found to be worth keeping
  small/TARGET    the smallest inputs that together reach as much, at most 40 of up to 512 bytes and 10 kB
  finds/TARGET    inputs that crash, hang or take too much memory
  TARGET.log      what libFuzzer says
and OUT/table.md a row each; new edges are those that the corpus did not reach. Exit code 1 where there are finds.
  JOBS=N          how many at a time, default all cores
USAGE
}

[ $# -ge 2 ] && [[ $1 =~ ^[0-9]+$ ]] || { usage >&2; exit 2; }
seconds=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cpp; do targets+=("$(basename "$source" _fuzz.cpp)"); done
fi
for target in "${targets[@]}"; do
  [ -f "tests/fuzz/${target}_fuzz.cpp" ] || die "No such target: $target; there are the files tests/fuzz/TARGET_fuzz.cpp"
done
if [ -z "${KERNELSEARCH_FUZZ_BUILT:-}" ]; then  # set: what is built in build/fuzz is what runs
  cmake --preset fuzz >/dev/null
  cmake --build --preset fuzz -j"$jobs" --target "${targets[@]/#/fuzz_}" -- --quiet
fi

fuzz() { # TARGET
  local target=$1 program=$PWD/build/fuzz/tests/fuzz_$1 given=("tests/fuzz/corpus/$1")
  case $target in # fixtures that the test fuzz gives the target, too
    recording) given+=(tests/fixtures/others) ;;
    problem) given+=(tests/fixtures/problems/dot) ;;
  esac
  mkdir -p "$out/corpus/$target" "$out/finds/$target"
  # Leaks are looked for at the end alone, where they are real; a find ends the target.
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$out/finds/$target/" "$out/corpus/$target" "${given[@]}" \
    >"$out/$target.log" 2>&1 || true
  # The smallest first: the merge takes what brings something new.
  rm -rf "$out/small/$target" "$out/merged/$target"
  mkdir -p "$out/small/$target" "$out/merged/$target"
  "$program" -merge=1 -max_len=512 -artifact_prefix="$out/merged/" "$out/merged/$target" "${given[@]}" "$out/corpus/$target" \
    >>"$out/$target.log" 2>&1 || true
  # Of what the merge left as many of every size.
  local found step bytes=0 file size
  found=$(find "$out/merged/$target" -type f | wc -l)
  step=$(((found + 39) / 40))
  while read -r size file; do
    [ $((bytes + size)) -le 10000 ] || break
    cp "$file" "$out/small/$target/" && bytes=$((bytes + size))
  done < <(find "$out/merged/$target" -type f -printf '%s %p\n' | sort -n | awk -v step="$step" 'NR % step == 0')
}
export -f fuzz
export seconds out
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'fuzz {}'

number() { sed -n "s/^stat::$1: *//p" "$out/$2.log" | head -1; }
finds=0
{
  echo '| target | seconds | executions | coverage (edges) | new edges | inputs kept | finds |'
  echo '|---|---|---|---|---|---|---|'
  for target in "${targets[@]}"; do
    found=$(find "$out/finds/$target" -type f | wc -l)
    finds=$((finds + found))
    last=$(sed "/^Done /q" "$out/$target.log" | grep -E "^#[0-9]+.* cov: " | tail -1)
    reached=$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' <<<"$last")
    began=$(sed -n 's/.*INITED cov: \([0-9]*\).*/\1/p' "$out/$target.log" | head -1)
    ran=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$out/$target.log" | head -1)
    echo "| $target | ${ran:-ended by a find} | $(number number_of_executed_units "$target") |" \
      "${reached:-} | ${reached:+$((reached - ${began:-0}))} | $(find "$out/corpus/$target" -type f | wc -l) | $found |"
  done
} >"$out/table.md"
cat "$out/table.md"
[ "$finds" -eq 0 ] || die "$finds finds in $out/finds; build/fuzz/tests/fuzz_TARGET FILE repeats one"
