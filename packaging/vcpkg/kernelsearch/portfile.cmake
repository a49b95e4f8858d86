# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# A port of the sources that it is in.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

set(components core)
if("all" IN_LIST FEATURES)
  set(components all)
endif()
set(command OFF)
if("command" IN_LIST FEATURES)
  set(command ON)
endif()
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    "-DKERNELSEARCH_COMPONENTS=${components}"
    -DKERNELSEARCH_BUILD_APPS=${command}
    -DKERNELSEARCH_BUILD_TESTS=OFF
    -DKERNELSEARCH_BUILD_EXAMPLES=OFF
    -DKERNELSEARCH_RELOCATABLE=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME kernelsearch CONFIG_PATH lib/cmake/kernelsearch)
vcpkg_fixup_pkgconfig()
if(command)
  vcpkg_copy_tools(TOOL_NAMES kernelsearch AUTO_CLEAN)
  # The command looks for its workers in its own folder too.
  foreach(worker kernelsearch-worker kernelsearch-gpu-worker)
    file(RENAME "${CURRENT_PACKAGES_DIR}/libexec/kernelsearch/${worker}" "${CURRENT_PACKAGES_DIR}/tools/kernelsearch/${worker}")
  endforeach()
endif()
file(REMOVE_RECURSE
  "${CURRENT_PACKAGES_DIR}/debug/bin"
  "${CURRENT_PACKAGES_DIR}/debug/include"
  "${CURRENT_PACKAGES_DIR}/debug/libexec"
  "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/libexec"
  "${CURRENT_PACKAGES_DIR}/share/doc")
# Without it vcpkg advises programs to link every target, header_only and core together.
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/kernelsearch")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/THIRD_PARTY_NOTICES")
