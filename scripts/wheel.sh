#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
scripts/wheel.sh [--python PROGRAM]... [--build FOLDER] [--out FOLDER]
Makes one wheel of the Python package that brings the library with runs, the command, its workers, examples and data, with all
libraries but glibc's inside, for the oldest Linux that it works on.
  --python PROGRAM  an interpreter to build the extension for, python3 left out; may be repeated. From 3.12 on one serves all later
                    versions. Each needs its headers and the module venv; PyPI is asked for nanobind and scikit-build-core.
  --build FOLDER    a build of the preset `package`, build/package left out; made where it is not there
  --out FOLDER      where the wheel goes, dist left out
  JOBS=N            number of parallel jobs, default all cores
USAGE
}

pythons=() build=build/package out=dist
while [ $# -gt 0 ]; do
  case $1 in
    --python) pythons+=("${2:?--python needs a program}"); shift ;;
    --build) build=${2:?--build needs a folder}; shift ;;
    --out) out=${2:?--out needs a folder}; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; die "No such option: $1" ;;
  esac
  shift
done
[ ${#pythons[@]} -gt 0 ] || pythons=(python3)

need_packages "${build_packages[@]}"
if [ -f "$build/build.ninja" ]; then say "Building in $build"; else
  say "Configuring $build"
  cmake --preset package -B "$build" >/dev/null
fi
cmake --build "$build" -j"$jobs" --target kernelsearch-together -- --quiet
together=$(cd "$build/apps/portable/together" && pwd)
work=$(cd "$build" && pwd)/wheel
rm -rf "$work/wheels"
mkdir -p "$work/wheels" "$out"

nothing_names_this_tree "$together"

wheels=()
for python in "${pythons[@]}"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  say "The extension for Python $version"
  venv_with "$work/python$version" "$python" 'nanobind>=2.4,<4' 'scikit-build-core>=0.10'
  stable=()
  [ "$("$python" -c 'import sys; print(sys.version_info >= (3, 12))')" = False ] || stable=(-C wheel.py-api=cp312)
  CMAKE_GENERATOR=Ninja "$work/python$version/bin/python" -m pip -q --disable-pip-version-check wheel --no-build-isolation --no-deps \
    -w "$work/wheels/$version" . -C build-dir="$work/build$version" -C cmake.define.KERNELSEARCH_PYTHON_TOGETHER="$together" \
    ${stable[@]+"${stable[@]}"}
  wheels+=("$work/wheels/$version"/*.whl)
done

say "One wheel"
venv_with "$work/auditwheel" "${pythons[0]}" auditwheel
machine=$(uname -m)
merged=$(python3 scripts/merge_wheels.py "$work/wheels" "linux_$machine" "${wheels[@]}")
# auditwheel looks at every library and program, and says the oldest policy that they keep.
platform=$("$work/auditwheel/bin/auditwheel" show "$merged" | tee /dev/stderr | tr '\n' ' ' |
  sed -n 's/.*following platform tag: *"\([a-z0-9_]*\)".*/\1/p')
case $platform in
  manylinux_*) ;;
  *) die "No manylinux tag: $merged is for ${platform:-no platform that auditwheel knows}" ;;
esac
wheel=$(python3 scripts/merge_wheels.py "$out" "$platform" "${wheels[@]}")

say "Installed into a new environment: the command, and a kernel end to end"
rm -rf "$work/tried"
"${pythons[0]}" -m venv "$work/tried"
"$work/tried/bin/python" -m pip -q --disable-pip-version-check install --no-index "$wheel"
version=$(sed -n 's/#define KERNELSEARCH_VERSION "\(.*\)"/\1/p' include/kernelsearch/version.hpp)
[ "$("$work/tried/bin/kernelsearch" --version)" = "kernelsearch $version" ] || die "The wheel's command is not version $version"
"$work/tried/bin/kernelsearch" doctor >&2 || die "The wheel's doctor finds a fault"
[ "$("$work/tried/bin/python" -c 'import kernelsearch; print(kernelsearch.__version__)')" = "$version" ] ||
  die "The wheel's extension is not version $version"
echo "$wheel"
