# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# sh build.sh SOURCE LIBRARY LANES CPU: the source reads LANES as it is compiled.
LANES=$3 exec rustc --edition 2021 --crate-type staticlib -C opt-level=3 -C panic=abort -C "target-cpu=$4" \
  -o "$2" "$1"
