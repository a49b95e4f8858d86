# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

if(NOT TARGET kernelsearch_c_portable)
  message(FATAL_ERROR "KERNELSEARCH_PACKAGES is RPM, and there is no portable build to make it of: the line "
    "`No kernelsearch-portable` above says why")
endif()
set(CPACK_COMPONENTS_ALL portable portable_runtime development)
set(portable_package kernelsearch)
set(portable_runtime_package kernelsearch-libs)
set(development_package kernelsearch-devel)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY_NOTICES
    DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/${${component}_package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kernelsearch COMPONENT portable EXCLUDE_FROM_ALL)
install(FILES ${manual}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT portable EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kernelsearch COMPONENT portable
  EXCLUDE_FROM_ALL)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_RELEASE 1)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0 WITH LLVM-exception")
set(CPACK_RPM_PACKAGE_GROUP Unspecified)
set(CPACK_RPM_COMPRESSION_TYPE xz)
# Folders that a package of every system owns.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
  /usr/libexec /usr/lib64/cmake /usr/lib64/pkgconfig /usr/share/licenses /usr/share/man /usr/share/man/man1)

set(CPACK_RPM_PORTABLE_PACKAGE_NAME ${portable_package})
set(CPACK_RPM_PORTABLE_PACKAGE_SUMMARY ${command_summary})
set(CPACK_RPM_PORTABLE_PACKAGE_DESCRIPTION ${command_text})
set(CPACK_RPM_PORTABLE_RUNTIME_PACKAGE_NAME ${portable_runtime_package})
set(CPACK_RPM_PORTABLE_RUNTIME_PACKAGE_SUMMARY ${runtime_summary})
set(CPACK_RPM_PORTABLE_RUNTIME_PACKAGE_DESCRIPTION ${runtime_text})
set(CPACK_RPM_DEVELOPMENT_PACKAGE_NAME ${development_package})
set(CPACK_RPM_DEVELOPMENT_PACKAGE_SUMMARY ${development_summary})
set(CPACK_RPM_DEVELOPMENT_PACKAGE_DESCRIPTION ${development_text})
set(CPACK_RPM_DEVELOPMENT_PACKAGE_REQUIRES "kernelsearch-libs = ${PROJECT_VERSION}-1")
