# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
cmake_minimum_required(VERSION 3.25)

# cmake -DCOMPILER= -DFILE= -DINCLUDE= -P check.cmake
if(NOT COMPILER)
  message("skipped: this compiler is not installed")
  return()
endif()
file(STRINGS ${FILE} expected REGEX "^// build error: ")
list(LENGTH expected count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${FILE} needs exactly one line `// build error: REGEX`")
endif()
string(REPLACE "// build error: " "" expected "${expected}")
set(compile ${COMPILER} -std=c++20 -Wall -Wextra -fsyntax-only -I${INCLUDE} ${FILE})

execute_process(COMMAND ${compile} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(code EQUAL 0)
  message(FATAL_ERROR "it compiles")
endif()
# The compilers quote the faulty source as well; only what they say themselves counts.
string(REGEX REPLACE "\n *[0-9]* \\|[^\n]*" "" said "\n${output}")
if(NOT said MATCHES "${expected}")
  message(FATAL_ERROR "the message does not match: ${expected}")
endif()

execute_process(COMMAND ${compile} -Werror -DMENDED RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "it does not compile when mended either:\n${output}")
endif()
