# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# sh build.sh SOURCE LIBRARY FLAGS...: a shared library, whose calls of its own functions stay within it.
source=$1 library=$2
shift 2
exec gcc -std=c11 -march=native -fPIC -shared -Wl,-Bsymbolic-functions -Wall -Wextra "$@" "$source" -o "$library"
