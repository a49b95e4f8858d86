# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Shared by the scripts beside it; source it, do not run it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=${JOBS:-$(nproc)}
# `A>=VERSION|B`: the first that is installed or, else, that this system offers: Debian 12 has a Boost that is new enough under a
# name of its own, Debian 13 and Ubuntu 24.04 under the plain one.
build_packages=(g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libeigen3-dev libsqlite3-dev
  libcli11-dev libssl-dev zlib1g-dev 'libboost-dev>=1.81|libboost1.81-dev' bubblewrap)
# libzstd-dev: Debian 13's libcrypto.pc names it for programs that are linked with static libraries.
test_packages=(doctest-dev ccache clang clang-format python3 git libzstd-dev)

say() { printf '\n== %s\n' "$*" >&2; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# installed_version PACKAGE: empty where it is not installed.
installed_version() {
  LC_ALL=C dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n 's/^installed //p' | head -n 1
}

# offered_version PACKAGE: what apt would install; empty where there is none.
offered_version() {
  LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p' | grep -vx '(none)' || true
}

# first_good HOW CHOICE: the first alternative whose version by HOW is new enough.
first_good() {
  local alternative name version alternatives
  IFS='|' read -ra alternatives <<<"$2"
  for alternative in "${alternatives[@]}"; do
    name=${alternative%%>=*}
    version=$("$1" "$name")
    [ -n "$version" ] || continue
    [ "$name" = "$alternative" ] || dpkg --compare-versions "$version" ge "${alternative#*>=}" || continue
    echo "$name"
    return
  done
}

# missing_packages CHOICE...: those of which no alternative is installed, one a line.
missing_packages() {
  local choice
  for choice in "$@"; do
    [ -n "$(first_good installed_version "$choice")" ] || echo "$choice"
  done
}

# offered_packages CHOICE...: the package to install for each, one a line; ends the script where there is none.
offered_packages() {
  local choice package
  for choice in "$@"; do
    package=$(first_good offered_version "$choice")
    [ -n "$package" ] || die "This system offers no package for: $(words "$choice"). docs/install.md says which systems do"
    echo "$package"
  done
}

# words CHOICE...: them as people write it.
words() { local all="$*"; all=${all//|/ or }; echo "${all//>=/ >= }"; }

# need_packages CHOICE...: installs what is missing from Debian or Ubuntu, as root or with sudo; else says what to do.
need_packages() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    die "This script installs Debian packages and finds no apt-get. Install by hand what these contain: $(words "$@")"
  local missing=() as_root=() chosen
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    # In CI nobody can answer a password prompt.
    if command -v sudo >/dev/null && { [ -z "${CI:-}" ] && [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      die "Missing packages, and neither root nor sudo to install them. As root, apt-get install: $(words "${missing[@]}")"
    fi
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq update
  chosen=$(offered_packages "${missing[@]}")  # after the update: a fresh system knows no package before
  mapfile -t missing <<<"$chosen"
  say "Installing: ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 \
    install -y --no-install-recommends "${missing[@]}" >&2
}

# nothing_names_this_tree PATH...: what is packed must not name the folders that it was made in; ends the script where a file does.
# As a whole path: a tree may be in /src, which is in many other paths.
nothing_names_this_tree() {
  local named
  named=$(LC_ALL=C grep -rlaP "(?<![A-Za-z0-9_./-])\Q$PWD\E(?![A-Za-z0-9_.-])" "$@" || true)
  [ -z "$named" ] || die "These name $PWD: $named"
}

# venv_with FOLDER PYTHON PACKAGES...: a virtual environment with these packages.
venv_with() {
  [ -x "$1/bin/python" ] || "$2" -m venv "$1"
  "$1/bin/python" -m pip -q --disable-pip-version-check install "pip>=23.1" "${@:3}"
}
