# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Packages by CPack, which scripts/packages.sh makes. KERNELSEARCH_PACKAGES says which kind a build folder is configured for.
# DEB: split as Debian would, into `kernelsearch` (the command, its workers, its data), `libkernelsearch0` (the library of C),
# `libkernelsearch-dev` (headers, static libraries, CMake and pkg-config files) and `python3-kernelsearch`, which depend on the libraries
# of this system.
# RPM: `kernelsearch`, `kernelsearch-libs` and `kernelsearch-devel`, made of the portable build, whose programs and library need
# nothing but glibc: one set for all distributions, wherever it is made.
set(KERNELSEARCH_PACKAGE_CONTACT "The kernelsearch authors <root@localhost>" CACHE STRING
  "Who a package names as its maintainer: whoever publishes it")
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# The command's manual page is its own help.
set(manual ${CMAKE_CURRENT_BINARY_DIR}/packages/kernelsearch.1)
add_custom_command(OUTPUT ${manual}.gz DEPENDS kernelsearch ${PROJECT_SOURCE_DIR}/scripts/command_reference.py
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/command_reference.py --manual $<TARGET_FILE:kernelsearch> ${manual}
  COMMAND gzip -9 -n -f -k ${manual} VERBATIM)
install(FILES ${manual}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
add_custom_target(kernelsearch_manual ALL DEPENDS ${manual}.gz)

set(CPACK_PACKAGE_NAME kernelsearch)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "The kernelsearch authors")
set(CPACK_PACKAGE_CONTACT ${KERNELSEARCH_PACKAGE_CONTACT})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_GENERATOR ${KERNELSEARCH_PACKAGES})
# The description of each package: a line, then a paragraph.
set(command_summary "makes compute kernels faster and keeps them correct")
set(command_text
"kernelsearch tunes kernels in C, C++, CUDA, HIP, OpenCL C and shaders for
Vulkan: it compiles candidates, checks each against a reference, times the
right ones and keeps everything in a store of runs. Search policies, language
models and programs of your own propose candidates; policies are compared on
recorded tuning spaces.")
set(runtime_summary "search policies for tuning spaces, library of C")
set(runtime_text
"The shared library behind kernelsearch.h: spaces, search policies, recordings
and whole runs, for programs in C and in languages that call C.")
set(development_summary "search policies for tuning spaces, development files")
set(development_text
"Headers of C++20 and C, static libraries, and files for CMake and pkg-config.
A program that links kernelsearch::core or uses the headers alone needs no
other package; other components name theirs.")
set(python_summary "search policies for tuning spaces, Python package")
set(python_text
"Spaces, search policies, recordings, comparisons and whole runs from Python,
where policies and evaluators may be written in Python too.")
string(TOLOWER ${KERNELSEARCH_PACKAGES} kind)
include(${CMAKE_CURRENT_LIST_DIR}/KernelsearchPackages_${kind}.cmake)
include(CPack)
