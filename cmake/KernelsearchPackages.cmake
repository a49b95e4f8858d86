# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Packages for Debian and Ubuntu by CPack, split as Debian would: `kernelsearch` (the command, its workers, its data),
# `libkernelsearch0` (the library of C) and `libkernelsearch-dev` (headers, static libraries, CMake and pkg-config files).
# scripts/packages.sh makes them. They depend on the libraries of the system that they are built on.
set(KERNELSEARCH_PACKAGE_CONTACT "The kernelsearch authors <root@localhost>" CACHE STRING
  "Who a package names as its maintainer: whoever publishes it")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(package_documents ${CMAKE_INSTALL_DATADIR}/doc)

# What Debian's policy wants in every package, with the changelog of packages.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(pair command:kernelsearch runtime:libkernelsearch0 development:libkernelsearch-dev)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 component)
  list(GET pair 1 package)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/packages/${package})
  file(CONFIGURE OUTPUT ${folder}/changelog.Debian CONTENT
"kernelsearch (${PROJECT_VERSION}-1) unstable; urgency=medium

  * Version ${PROJECT_VERSION}: see NEWS.

 -- ${KERNELSEARCH_PACKAGE_CONTACT}  ${now}
")
  foreach(text changelog.Debian NEWS)
    set(source ${folder}/changelog.Debian)
    if(text STREQUAL "NEWS")
      set(source ${PROJECT_SOURCE_DIR}/CHANGELOG.md)
    endif()
    add_custom_command(OUTPUT ${folder}/${text}.gz DEPENDS ${source}
      COMMAND gzip -9 -n -c ${source} > ${folder}/${text}.gz VERBATIM)
    list(APPEND package_texts ${folder}/${text}.gz)
  endforeach()
  install(FILES ${folder}/changelog.Debian.gz ${folder}/NEWS.gz ${PROJECT_SOURCE_DIR}/packaging/debian/copyright
    DESTINATION ${package_documents}/${package} COMPONENT ${component})
endforeach()
# The command's manual page is its own help.
set(manual ${CMAKE_CURRENT_BINARY_DIR}/packages/kernelsearch.1)
add_custom_command(OUTPUT ${manual}.gz DEPENDS kernelsearch ${PROJECT_SOURCE_DIR}/scripts/command_reference.py
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/command_reference.py --manual $<TARGET_FILE:kernelsearch> ${manual}
  COMMAND gzip -9 -n -f -k ${manual} VERBATIM)
install(FILES ${manual}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
add_custom_target(kernelsearch_package_texts ALL DEPENDS ${package_texts} ${manual}.gz)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kernelsearch)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "The kernelsearch authors")
set(CPACK_PACKAGE_CONTACT ${KERNELSEARCH_PACKAGE_CONTACT})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL command runtime development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME kernelsearch)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "g++ | clang, bubblewrap")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
"makes compute kernels faster and keeps them correct
kernelsearch tunes kernels in C, C++, CUDA, HIP, OpenCL C and shaders for
Vulkan: it compiles candidates, checks each against a reference, times the
right ones and keeps everything in a store of runs. Search policies, language
models and programs of your own propose candidates; policies are compared on
recorded tuning spaces.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libkernelsearch0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
"search policies for tuning spaces, library of C
The shared library behind kernelsearch.h: spaces, search policies, recordings
and whole runs, for programs in C and in languages that call C.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkernelsearch-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libkernelsearch0 (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS
  "kernelsearch, libfmt-dev, libsqlite3-dev, libssl-dev, zlib1g-dev, libeigen3-dev, libboost-dev (>= 1.81) | libboost1.81-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"search policies for tuning spaces, development files
Headers of C++20 and C, static libraries, and files for CMake and pkg-config.
A program that links kernelsearch::core or uses the headers alone needs no
other package; other components name theirs.")
include(CPack)
