#!/bin/sh
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# build.sh FOLDERS PROGRAM ARGUMENTS...: runs a Python program by the first python3 that has Triton. FOLDERS,
# with colons between them, are what --readable of `tune` and `check` named, such as a virtual environment and
# the Python that it is of.
folders=$1
shift
# Nothing but this folder can be written here, and no other is the user's.
export HOME="$PWD" TRITON_CACHE_DIR="$PWD/triton_cache"
old=$IFS
IFS=:
for folder in $folders /usr/local /usr; do
  python=$folder/bin/python3
  # A Python may look for its own library where it was installed, or by /proc, of which there may be none here.
  export LD_LIBRARY_PATH="$folder/lib"
  if [ -x "$python" ] && "$python" -c 'import sys, importlib.util as u; sys.exit(u.find_spec("triton") is None)' 2>/dev/null; then
    IFS=$old
    exec "$python" "$@"
  fi
done
echo "error: there is no python3 with Triton in ${folders:+$folders, }/usr/local or /usr: name its folder by --readable," \
  "and by another one that of the Python that a virtual environment is of" >&2
exit 1
