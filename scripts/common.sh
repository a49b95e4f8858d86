# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Shared by the scripts beside it; source it, do not run it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=${JOBS:-$(nproc)}
build_packages=(g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libeigen3-dev libsqlite3-dev
  libcli11-dev libssl-dev zlib1g-dev libboost1.81-dev bubblewrap)
test_packages=(doctest-dev ccache clang clang-format python3)

say() { printf '\n== %s\n' "$*" >&2; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# missing_packages PACKAGE...: those that are not installed, one a line.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

# need_packages PACKAGE...: installs what is missing from Debian, as root or with sudo; else says what to do.
need_packages() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    die "This script installs Debian packages and finds no apt-get. Install by hand what these contain: $*"
  local missing=() as_root=()
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    # In CI nobody can answer a password prompt.
    if command -v sudo >/dev/null && { [ -z "${CI:-}" ] && [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      die "Missing packages, and neither root nor sudo to install them. As root: apt-get install ${missing[*]}"
    fi
  fi
  say "Installing from Debian: ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 \
    install -y --no-install-recommends "${missing[@]}" >&2
}
