# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
file(READ ${README} readme)
file(READ ${PROGRAM} program)
string(REGEX REPLACE "^//[^\n]*\n//[^\n]*\n" "" program "${program}")  # the licence
string(STRIP "${program}" program)
string(FIND "${readme}" "${program}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "README.md does not show ${PROGRAM} as it is; copy it into the C++ section")
endif()
