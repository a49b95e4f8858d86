#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
scripts/format_corpus.sh COMMAND
Writes tests/formats/VERSION with one file of each format that COMMAND, kernelsearch of this version, writes and later versions must read:
a problem, a store of runs, a plan, recordings. The test packaging_formats reads those of every version. Done once for each release; what a
released version wrote is never written again. Needs bubblewrap, so that no file names a folder of this machine.
USAGE
}
case ${1:--h} in -h | --help) usage; exit 0 ;; esac
[ $# = 1 ] || { usage >&2; die "One argument: the command"; }
command=$(realpath -e -- "$1") || die "$1 is not a program: name a built kernelsearch, e.g. build/ci/apps/kernelsearch/kernelsearch"
version=$(sed -n 's/#define KERNELSEARCH_VERSION "\(.*\)"/\1/p' include/kernelsearch/version.hpp)
[ "$("$command" --version)" = "kernelsearch $version" ] || die "$1 is $("$command" --version), and this tree is version $version"
out=tests/formats/$version
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || die "$version is released: $out stays as it is"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r examples/host/prefix_sum "$work/problem"
there() { bwrap --dev-bind / / --bind "$work" /srv --chdir /srv "$command" "$@" >&2; }
there tune problem --budget 5 --seed 1 --store runs.db --out winner --no-learning
there plan export latest --any --store runs.db -o plan.json
there export latest --store runs.db --format jsonl -o run.jsonl
there export latest --store runs.db --format csv -o run.csv
there export latest --store runs.db --format t4 -o run.t4.json
there export latest --store runs.db --format cachefile --space problem -o run.cachefile.json
rm -rf "$work"/*.working "$work/winner"
"$command" runs --store "$work/runs.db" --json >"$work/runs.json"
for place in "$PWD" "$HOME" "$work"; do
  ! grep -rlaF -- "$place" "$work" >&2 || die "These name $place"
done
rm -rf "$out"
mkdir -p tests/formats
chmod -R u+rwX,go+rX "$work"
cp -r "$work" "$out"
ls "$out" >&2
