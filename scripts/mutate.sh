#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# scripts/mutate.sh [ROOM...] [--only REGEX] [--list] [--table FILE]: breaks one line at a time and looks whether a test
# notices. The mutants of a room are in tests/mutants/ROOM.json; scripts/mutate.py --help says more.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need_packages "${build_packages[@]}" "${test_packages[@]}"
exec python3 scripts/mutate.py "$@"
