#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
scripts/site.sh [--command PROGRAM] [--stub FILE] [--out FOLDER] [--publish FOLDER]
Builds the documentation site with mkdocs-material, which PyPI is asked for: docs/ with search, the references of the command, of the
problem format and of the Python package, the gallery of examples, and the reference of the C++ and C headers by Doxygen, which is
installed where it is missing.
A warning of either, a page without a place in the navigation or a dead link ends it with an error.
  --command PROGRAM   kernelsearch, whose help becomes a page; left out, one that a build folder or the path has. Without any, that page
                      is left out
  --out FOLDER        build/site left out; the site is in its folder html
USAGE
}

command='' stub='' out=build/site publish=''
while [ $# -gt 0 ]; do
  case $1 in
    --command) command=${2:?--command needs a program}; shift ;;
    --stub) stub=${2:?--stub needs a file}; shift ;;
    --publish) publish=${2:?--publish needs a folder}; shift ;;
    --out) out=${2:?--out needs a folder}; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; die "No such option: $1" ;;
  esac
  shift
done
if [ -z "$command" ]; then
  for command in build/*/apps/kernelsearch/kernelsearch build/*/apps/portable/together/kernelsearch "$(type -P kernelsearch || true)"; do
    [ -x "$command" ] && break
    command=''
  done
fi
[ -n "$command" ] || say "No kernelsearch is built or installed: the reference of the command is left out"

if [ -z "$stub" ]; then
  for stub in build/*/wheel/build*/_kernelsearch.pyi build/*/tests/python/package/build/_kernelsearch.pyi; do
    [ -f "$stub" ] && break
    stub=''
  done
fi
[ -n "$stub" ] || say "The Python package was not built: the reference of its extension is left out"

need_packages doxygen
python3 scripts/site.py pages "$out/pages" ${command:+--command "$command"} ${stub:+--stub "$stub"}
say "The reference of the headers"
version=$(sed -n 's/#define KERNELSEARCH_VERSION "\(.*\)"/\1/p' include/kernelsearch/version.hpp)
mkdir -p "$out/pages/reference/cpp"
{ cat docs/Doxyfile; echo "PROJECT_NUMBER = $version"; echo "OUTPUT_DIRECTORY = $out/pages/reference/cpp"; } | doxygen - >"$out/doxygen.log" 2>&1
[ ! -s "$out/doxygen.log" ] || die "Doxygen has something to say: $(cat "$out/doxygen.log")"
if [ ! -x "$out/tools/bin/mkdocs" ]; then
  say "Installing mkdocs-material"
  python3 -m venv "$out/tools"
  "$out/tools/bin/python" -m pip -q --disable-pip-version-check install mkdocs-material==9.*
fi
say "Building $out/html"
NO_MKDOCS_2_WARNING=true "$out/tools/bin/mkdocs" -q build --strict -f "$out/mkdocs.yml"
python3 scripts/site.py check "$out/html" >&2
[ -z "$publish" ] || python3 scripts/site.py publish "$out/html" "$publish" "$version" >&2
