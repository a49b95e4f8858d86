# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
cmake_minimum_required(VERSION 3.25)

# cmake -DHOW=pkg_config|cmake -DSOURCE= -DBUILD= -DWORK= -DCOMPILER= [-DALONE= -DCXX_COMPILER= [-DLAUNCHER=] [-DWERROR=]] -P c.cmake
# Builds and runs examples/programs/c_tuner with an installed library as C programmers do: no C++ compiler takes part.
# ALONE: the library is of a build in this folder that has no other component, and not of BUILD.
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)

if(HOW STREQUAL "pkg_config")
  find_program(pkg_config NAMES pkg-config pkgconf)
  if(NOT pkg_config)
    message("skipped: there is no pkg-config")
    return()
  endif()
endif()

file(REMOVE_RECURSE ${WORK})
if(ALONE)
  set(COMPONENTS c)
  include(${CMAKE_CURRENT_LIST_DIR}/alone.cmake)
  set(BUILD ${ALONE})
endif()
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first --component development)
# Moved: an installed package must not remember where it was installed.
file(RENAME ${WORK}/first ${WORK}/prefix)
file(GLOB_RECURSE description ${WORK}/prefix/kernelsearch.pc)
file(READ ${description} text)
if(text MATCHES "${WORK}|${SOURCE}/")
  message(FATAL_ERROR "${description} names a folder of the build:\n${text}")
endif()
if(HOW STREQUAL "pkg_config")
  cmake_path(GET description PARENT_PATH folder)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  execute_process(COMMAND ${pkg_config} --cflags --libs kernelsearch OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  must(${COMPILER} -std=c11 -Wall -Wextra -Werror -o ${WORK}/tuner ${SOURCE}/examples/programs/c_tuner/main.c ${flags})
  execute_process(COMMAND ${pkg_config} --variable=libdir kernelsearch OUTPUT_VARIABLE libraries OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(ENV{LD_LIBRARY_PATH} ${libraries})
  must(${WORK}/tuner 5 ${WORK}/search.jsonl)
else()
  must(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/examples/programs/c_tuner -B ${WORK}/build -DCMAKE_C_COMPILER=${COMPILER}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  must(${CMAKE_COMMAND} --build ${WORK}/build)
  must(${WORK}/build/c_tuner 5 ${WORK}/search.jsonl)
endif()
if(NOT output MATCHES "5 trials, best")
  message(FATAL_ERROR "the program said: ${output}")
endif()
file(REMOVE_RECURSE ${WORK} ${ALONE})
