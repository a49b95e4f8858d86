# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
cmake_minimum_required(VERSION 3.25)

# cmake -DHOW=install|build_tree|subdirectory -DSOURCE= -DBUILD= -DWORK= -DCOMPILER= -DTARGETS= -DCOMPONENTS=
#       [-DABSENT_PACKAGES=] [-DLAUNCHER=] [-DPROGRAM=] [-DOPTIONS=] [-DNO_SYMBOLS=] -P run.cmake
# Configures, builds and runs tests/consumer/app the way a user would. NO_SYMBOLS: nothing in the library matches it.
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "failed (${code}): ${line}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
# Not optimised: what is tested is that it configures, compiles, links and runs.
set(options -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
    "-DTARGETS=${TARGETS}" "-DCOMPONENTS=${COMPONENTS}" "-DABSENT_PACKAGES=${ABSENT_PACKAGES}"
    -DPROGRAM=${PROGRAM} -DOPTIONS=${OPTIONS})
if(HOW STREQUAL install)
  must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first --component development)
  # Moved: an installed package must not remember where it was installed.
  file(RENAME ${WORK}/first ${WORK}/prefix)
  file(GLOB_RECURSE leaked_in ${WORK}/prefix/*.cmake)
  foreach(file IN LISTS leaked_in)
    file(READ ${file} text)
    # As a whole path: a tree may lie in /kernelsearch, which ends many another path.
    if(text MATCHES "(^|[\"; =,]|-I|-L)${SOURCE}(/|\"|;|$)")
      message(FATAL_ERROR "${file} names the source tree")
    endif()
  endforeach()
  list(APPEND options -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  if(NO_SYMBOLS)
    file(GLOB_RECURSE library ${WORK}/prefix/libkernelsearch_${COMPONENTS}.a)
    execute_process(COMMAND nm ${library} OUTPUT_VARIABLE symbols RESULT_VARIABLE code)
    if(NOT code EQUAL 0 OR symbols STREQUAL "" OR symbols MATCHES "[^\n]*(${NO_SYMBOLS})[^\n]*")
      message(FATAL_ERROR "${library} has what it must not have: ${CMAKE_MATCH_0}")
    endif()
  endif()
elseif(HOW STREQUAL build_tree)
  list(APPEND options -Dkernelsearch_DIR=${BUILD}/cmake)
elseif(HOW STREQUAL subdirectory)
  list(APPEND options -DSUBDIRECTORY=${SOURCE})
else()
  message(FATAL_ERROR "HOW is ${HOW}")
endif()
must(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/consumer/app -B ${WORK}/build ${options})
must(${CMAKE_COMMAND} --build ${WORK}/build)
must(${WORK}/build/app)
file(REMOVE_RECURSE ${WORK})
