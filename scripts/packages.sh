#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'USAGE'
scripts/packages.sh [--build FOLDER] [--out FOLDER] [--contact 'NAME <ADDRESS>']
Makes the packages of this version and their checksums:
  kernelsearch_*.deb, libkernelsearch0_*.deb, libkernelsearch-dev_*.deb, python3-kernelsearch_*.deb
                                              for the Debian or Ubuntu that this runs on, and its Python; PyPI is asked for nanobind and
                                              scikit-build-core. Where lintian is installed, it must find nothing
  kernelsearch-*.rpm, kernelsearch-libs-*.rpm, kernelsearch-devel-*.rpm    for RHEL 9, Fedora 35 and newer: what the archive has
  kernelsearch-VERSION-linux-MACHINE.tar.xz   a folder that works wherever it is unpacked, on Linux with glibc 2.34 or newer: the command
                                              with all libraries inside, its workers, libkernelsearch.so, headers, CMake and pkg-config files
  --build FOLDER   a build of the preset `package`, build/package left out; made where it is not there
  --out FOLDER     where they go, dist left out
  --contact WHO    the maintainer that the .deb files name
  JOBS=N           number of parallel jobs, default all cores
USAGE
}

build=build/package out=dist contact=''
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=${2:?--build needs a folder}; shift ;;
    --out) out=${2:?--out needs a folder}; shift ;;
    --contact) contact=${2:?--contact needs a name and an address}; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; die "No such option: $1" ;;
  esac
  shift
done

need_packages "${build_packages[@]}" dpkg-dev rpm xz-utils python3-dev python3-venv
# Only the RPM packages are installed where those systems have their libraries; nothing is compiled for that.
cmake --preset package -B "$build" -U CMAKE_INSTALL_LIBDIR ${contact:+-DKERNELSEARCH_PACKAGE_CONTACT="$contact"} >/dev/null
say "Building in $build"
cmake --build "$build" -j"$jobs" -- --quiet
cmake --build "$build" -j"$jobs" --target kernelsearch-portable kernelsearch_c_portable -- --quiet
mkdir -p "$out"
version=$(sed -n 's/#define KERNELSEARCH_VERSION "\(.*\)"/\1/p' include/kernelsearch/version.hpp)

say "The Python package for this system's Python"
python=$PWD/$build/python
rm -rf "$python/wheel" "$python/package"
venv_with "$python/tools" /usr/bin/python3 'nanobind>=2.4,<4' 'scikit-build-core>=0.10'
CMAKE_GENERATOR=Ninja "$python/tools/bin/python" -m pip -q --disable-pip-version-check wheel --no-build-isolation --no-deps -w "$python/wheel" . \
  -C build-dir="$python/build" -C cmake.define.kernelsearch_DIR="$PWD/$build/cmake" -C cmake.define.KERNELSEARCH_PYTHON_RUN=ON \
  -C cmake.define.KERNELSEARCH_PYTHON_WORKER=OFF
"$python/tools/bin/python" -m zipfile -e "$python/wheel"/*.whl "$python/package"
# What pip alone reads; the licence is in the package's copyright, the command in another package.
rm -rf "$python/package"/*.dist-info/{RECORD,entry_points.txt,licenses,LICENSE,THIRD_PARTY_NOTICES}
nothing_names_this_tree "$python/package"

say "Debian packages"
rm -rf "$build/packages"/*.deb
cmake --preset package -B "$build" -DKERNELSEARCH_PACKAGES_PYTHON="$python/package" >/dev/null
cmake --build "$build" --target kernelsearch_package_texts -- --quiet  # those of the package that is new now
(cd "$build" && cpack -G DEB >/dev/null)
cp "$build/packages"/*.deb "$out"
rm -rf "$python/unpacked"
dpkg-deb -x "$build/packages"/python3-kernelsearch_*.deb "$python/unpacked"
told=$(PYTHONPATH=$python/unpacked/usr/lib/python3/dist-packages /usr/bin/python3 -c 'import kernelsearch; print(kernelsearch.__version__)')
[ "$told" = "$version" ] || die "python3-kernelsearch is version $told, not $version"
if command -v lintian >/dev/null; then
  lintian --fail-on error,warning "$build/packages"/*.deb >&2 || die "lintian finds faults in the packages"
fi

say "The archive"
name=kernelsearch-$version-linux-$(uname -m)
stage=$PWD/$build/archive/$name
rm -rf "$build/archive"
cmake --install "$build" --prefix "$stage" --component development >/dev/null
cmake --install "$build" --prefix "$stage" --component portable >/dev/null
cmake --install "$build" --prefix "$stage" --component portable_runtime >/dev/null
for folder in data:share/kernelsearch examples:share/kernelsearch/examples; do
  mkdir -p "$stage/${folder#*:}"
  cp -r "${folder%%:*}/." "$stage/${folder#*:}"
done
rm -rf "$stage/share/doc"
cp LICENSE THIRD_PARTY_NOTICES README.md CHANGELOG.md "$stage"
nothing_names_this_tree "$stage"
# The same bytes from the same contents.
tar -C "$build/archive" --sort=name --owner=0 --group=0 --numeric-owner --mtime='2020-01-01 00:00:00Z' -cf - "$name" |
  xz -T0 -6 >"$out/$name.tar.xz"

say "RPM packages"
rm -rf "$build/packages"/*.rpm
cmake --preset package -B "$build" -DKERNELSEARCH_PACKAGES=RPM -DCMAKE_INSTALL_LIBDIR=lib64 >/dev/null
(cd "$build" && cpack -G RPM >/dev/null)
cp "$build/packages"/*.rpm "$out"
cmake --preset package -B "$build" -U CMAKE_INSTALL_LIBDIR >/dev/null

(cd "$out" && sha256sum -- *.deb *.rpm *.tar.xz >SHA256SUMS)
ls -l "$out" >&2
