#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
scripts/release.sh [--contact 'NAME <ADDRESS>'] [--python PROGRAM]...
Makes the release of the version that include/kernelsearch/version.hpp names: every leg of scripts/test.sh, the wheel, the packages, the
notes and the checksums in dist/VERSION, and an annotated tag vVERSION. It publishes nothing.
It refuses, and changes nothing, when
  * something is not committed, or the tag is there already;
  * places that name the version differ, or CHANGELOG.md's newest section has no date;
  * tests/formats/VERSION is not there: what this version writes, for later versions to read (scripts/format_corpus.sh);
  * a leg is red, or a test of any leg fails.
USAGE
}

wheel_options=() package_options=()
while [ $# -gt 0 ]; do
  case $1 in
    --contact) package_options+=(--contact "${2:?--contact needs a name and an address}"); shift ;;
    --python) wheel_options+=(--python "${2:?--python needs a program}"); shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; die "No such option: $1" ;;
  esac
  shift
done

version=$(sed -n 's/#define KERNELSEARCH_VERSION "\(.*\)"/\1/p' include/kernelsearch/version.hpp)
tag=v$version
dist=dist/$version
[ -z "$(git status --porcelain)" ] || die "No release: there is something that is not committed"
! git rev-parse -q --verify "refs/tags/$tag" >/dev/null || die "No release: the tag $tag is there already"
python3 tests/packaging/version_test.py . >&2 || die "No release: the version is not the same everywhere"
notes=$(sed -n "/^## $version (/,/^## /{/^## /d;p}" CHANGELOG.md)
heading=$(grep -m1 "^## $version (" CHANGELOG.md)
[[ $heading =~ \(([0-9]{1,2}\ [A-Z][a-z]+\ [0-9]{4})\)$ ]] ||
  die "No release: write the date into CHANGELOG.md, as in \`## $version (1 December 2026)\`; it has \`$heading\`"
[ -n "${notes//[[:space:]]/}" ] || die "No release: CHANGELOG.md says nothing of $version"
[ -e "tests/formats/$version/runs.db" ] || die "No release: tests/formats/$version is not there; make it with scripts/format_corpus.sh and commit it"

say "Every leg"
scripts/test.sh || die "No release: a leg is red"

say "Wheel and packages"
rm -rf "$dist"
scripts/wheel.sh --out "$dist" ${wheel_options[@]+"${wheel_options[@]}"} >&2
scripts/packages.sh --out "$dist" ${package_options[@]+"${package_options[@]}"} >&2
printf '# kernelsearch %s\n\n%s\n' "${heading#\#\# }" "$notes" >"$dist/NOTES.md"
(cd "$dist" && rm -f SHA256SUMS && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
[ -z "$(git status --porcelain)" ] || die "No release: making it changed files that are committed"

git tag -a "$tag" --cleanup=verbatim -F "$dist/NOTES.md"
say "Made $tag and $dist. To publish: git push origin $tag, and the files of $dist"
