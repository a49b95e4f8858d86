#!/usr/bin/env bash
# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# first_hour.sh DOCUMENT SOURCE BUILD FOLDER: runs the `sh` blocks of the document as one script in a new folder, so that what it
# says works. A command that fails ends the script and fails the test.
set -euo pipefail
document=$1 folder=$4
export SOURCE=$2 BUILD=$3
rm -rf "$folder"
mkdir -p "$folder"
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$document" >"$folder/commands.sh"
grep -q 'kernelsearch plan check' "$folder/commands.sh" || { echo "no commands in $document"; exit 1; }
export PATH="$BUILD/apps/kernelsearch:$PATH" XDG_CACHE_HOME="$folder/cache"
cd "$folder"
for program in python3 cmake; do
  command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
done
bash -eux -o pipefail commands.sh
