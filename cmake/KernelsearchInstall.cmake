# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# One export file per component, so that a user of kernelsearch::core needs neither SQLite nor OpenSSL. The
# same files and the same kernelsearchConfig.cmake serve the build tree (<build>/cmake).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kernelsearch)
set(export_dir ${PROJECT_BINARY_DIR}/cmake)

get_property(components GLOBAL PROPERTY KERNELSEARCH_BUILT)
# Packages have the shared library apart from what only its users' builds need.
set(KERNELSEARCH_PACKAGES OFF CACHE STRING
  "For packages: the shared library is the component `runtime`, and the target `package` makes files of this kind: OFF, DEB or RPM")
if(NOT KERNELSEARCH_PACKAGES MATCHES "^(OFF|DEB|RPM)$")
  message(FATAL_ERROR "KERNELSEARCH_PACKAGES is `${KERNELSEARCH_PACKAGES}`; write OFF, DEB or RPM")
endif()
set(shared_component development)
if(KERNELSEARCH_PACKAGES)
  set(shared_component runtime)
endif()
file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" up "${up}")

# What a link is called in pkg-config: a module, or a flag.
set(pkg_config_of_fmt::fmt fmt)
set(pkg_config_of_SQLite::SQLite3 sqlite3)
set(pkg_config_of_OpenSSL::Crypto libcrypto)
set(pkg_config_of_OpenSSL::SSL libssl)
set(pkg_config_of_ZLIB::ZLIB zlib)
set(pkg_config_of_Eigen3::Eigen eigen3)
set(pkg_config_of_Threads::Threads -pthread)
set(pkg_config_of_Boost::headers "")  # has no file for pkg-config, and its headers are where compilers look

# kernelsearch_pkg_config(COMPONENT LINKS): kernelsearch-COMPONENT.pc of a static library, or of the headers alone. What the headers of a
# library include is in `Requires`, what only its bodies call is in `Requires.private`: programs are linked with `pkg-config --static`.
function(kernelsearch_pkg_config component links)
  set(requires)
  set(requires_private)
  set(flags)
  foreach(link IN LISTS links)
    set(place requires)
    if(link MATCHES "^\\$<LINK_ONLY:(.*)>$")
      set(link ${CMAKE_MATCH_1})
      set(place requires_private)
    elseif(NOT link MATCHES "^kernelsearch::" AND NOT component STREQUAL "header_only")
      set(place requires_private)
    endif()
    if(link MATCHES "^kernelsearch::(.*)$")
      list(APPEND ${place} "kernelsearch-${CMAKE_MATCH_1} = ${PROJECT_VERSION}")
    elseif(link IN_LIST CMAKE_DL_LIBS)
      list(APPEND flags -l${link})
    elseif(NOT DEFINED pkg_config_of_${link})
      message(FATAL_ERROR "${link} of the component ${component}: say in cmake/KernelsearchInstall.cmake what pkg-config calls it")
    elseif(pkg_config_of_${link} MATCHES "^-")
      list(APPEND flags ${pkg_config_of_${link}})
    elseif(NOT pkg_config_of_${link} STREQUAL "")
      list(APPEND ${place} ${pkg_config_of_${link}})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES requires)
  list(REMOVE_DUPLICATES requires_private)
  list(JOIN requires ", " requires)
  list(JOIN requires_private ", " requires_private)
  list(JOIN flags " " flags)
  set(definitions)
  set(library "-L\${libdir} -lkernelsearch_${component}")
  if(component STREQUAL "header_only")  # users compile everything themselves
    set(definitions " -DKERNELSEARCH_HEADER_ONLY=1")
    set(library ${flags})
    set(flags)
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/kernelsearch-component.pc.in ${export_dir}/kernelsearch-${component}.pc @ONLY)
  install(FILES ${export_dir}/kernelsearch-${component}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

set(component_facts)
foreach(package IN LISTS KERNELSEARCH_ANY_NEWER)
  kernelsearch_find_arguments(${package} arguments lowest)
  string(APPEND component_facts "set(_kernelsearch_lowest_${package} ${lowest})\n")
endforeach()
foreach(component IN LISTS components)
  set(target kernelsearch_${component})
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  set(packages)
  set(needs)
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" link "${link}")
    if(link MATCHES "^kernelsearch::(.*)$")
      list(APPEND needs ${CMAKE_MATCH_1})
    elseif(link MATCHES "^([A-Za-z0-9_]+)::")
      kernelsearch_find_arguments(${CMAKE_MATCH_1} package lowest)
      string(REPLACE ";" " " package "${package}")
      list(APPEND packages "${package}")
    endif()
  endforeach()
  if(NOT component MATCHES "^(kernelsearch|c)$")
    kernelsearch_pkg_config(${component} "${links}")
  endif()
  string(REPLACE ";" "\" \"" packages "${packages}")
  string(APPEND component_facts "set(_kernelsearch_needs_${component} ${needs})\n"
                                "set(_kernelsearch_packages_${component} \"${packages}\")\n")

  set(file_set)
  if(NOT component STREQUAL "kernelsearch")
    set(file_set FILE_SET HEADERS COMPONENT development FILE_SET bodies COMPONENT development)
  endif()
  install(TARGETS ${target} EXPORT kernelsearch-${component} ARCHIVE COMPONENT development LIBRARY COMPONENT ${shared_component}
    NAMELINK_COMPONENT development ${file_set})
  install(EXPORT kernelsearch-${component} NAMESPACE kernelsearch:: DESTINATION ${package_dir} COMPONENT development)
  export(EXPORT kernelsearch-${component} NAMESPACE kernelsearch:: FILE ${export_dir}/kernelsearch-${component}.cmake)
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kernelsearchConfig.cmake.in
  ${export_dir}/kernelsearchConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 any minor version may break users.
write_basic_package_version_file(${export_dir}/kernelsearchConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${export_dir}/kernelsearchConfig.cmake ${export_dir}/kernelsearchConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)

# For programs in C. A shared library only, so it has nothing private: with `Requires.private`, pkg-config would demand the development
# files of what is inside it.
if(TARGET kernelsearch_c)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/kernelsearch.pc.in ${export_dir}/kernelsearch.pc @ONLY)
  install(FILES ${export_dir}/kernelsearch.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endif()

# The command goes where users look, its worker where only the command looks.
if(TARGET kernelsearch)
  install(TARGETS kernelsearch RUNTIME COMPONENT command)
endif()
if(TARGET kernelsearch-worker)
  install(TARGETS kernelsearch-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/kernelsearch COMPONENT command)
endif()

# Compiled in too: these are for people to copy and change.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kernelsearch COMPONENT command)

if(KERNELSEARCH_PACKAGES)
  include(${CMAKE_CURRENT_LIST_DIR}/KernelsearchPackages.cmake)
else()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
endif()
