#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# bench/python/carry_library.sh BUILD FOLDER: the library of C, stripped, with those that it needs and that another machine
# may lack, for a machine of the same processors with glibc 2.35 or newer, OpenSSL 3 and zlib. There:
#   LD_LIBRARY_PATH=FOLDER KERNELSEARCH_LIBRARY=FOLDER/libkernelsearch.so.0 PYTHONPATH=python python3 bench/python/triton_h200.py OUT
set -euo pipefail
build=$1 folder=$2
mkdir -p "$folder"
strip -o "$folder/libkernelsearch.so.0" "$build/src/libkernelsearch.so.0"
ldd "$build/src/libkernelsearch.so.0" | awk '/libfmt|libsqlite3/ {print $3}' | xargs -I{} cp -L {} "$folder"
ls -l "$folder"
