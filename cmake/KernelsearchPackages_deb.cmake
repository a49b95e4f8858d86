# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

set(KERNELSEARCH_PACKAGES_PYTHON "" CACHE PATH
  "A folder with the Python package, built for the Python of this system without workers: it becomes python3-kernelsearch. Empty: no such package")
set(packages command:kernelsearch runtime:libkernelsearch0 development:libkernelsearch-dev)
if(KERNELSEARCH_PACKAGES_PYTHON)
  file(GLOB extension ${KERNELSEARCH_PACKAGES_PYTHON}/kernelsearch/_kernelsearch.cpython-3*.so)
  list(LENGTH extension extensions)
  if(NOT extensions EQUAL 1 OR NOT extension MATCHES "/_kernelsearch\\.cpython-3([0-9]+)-[^;/]*$")
    message(FATAL_ERROR "KERNELSEARCH_PACKAGES_PYTHON is `${KERNELSEARCH_PACKAGES_PYTHON}`, where kernelsearch/ does not have one extension for one "
      "version of Python: scripts/packages.sh makes such a folder")
  endif()
  set(python_minor ${CMAKE_MATCH_1})
  math(EXPR python_next "${python_minor} + 1")
  list(APPEND packages python:python3-kernelsearch)
  install(DIRECTORY ${KERNELSEARCH_PACKAGES_PYTHON}/ DESTINATION lib/python3/dist-packages COMPONENT python)
endif()

# What Debian's policy wants in every package, with the changelog of packages.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(pair IN LISTS packages)
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
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  # A package with a file of its own has more to say than what holds for all.
  set(overrides ${PROJECT_SOURCE_DIR}/packaging/debian/lintian-overrides)
  set(named all)
  if(EXISTS ${overrides}/${package})
    set(named ${package})
  endif()
  install(FILES ${overrides}/${named} RENAME ${package}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component})
endforeach()
add_custom_target(kernelsearch_package_texts ALL DEPENDS ${package_texts})

set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command runtime development)
if(KERNELSEARCH_PACKAGES_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
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
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "${command_summary}
${command_text}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libkernelsearch0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "${runtime_summary}
${runtime_text}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkernelsearch-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libkernelsearch0 (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS
  "kernelsearch, libfmt-dev, libsqlite3-dev, libssl-dev, zlib1g-dev, libeigen3-dev, libboost-dev (>= 1.81) | libboost1.81-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${development_summary}
${development_text}")
# The workers and the data are those of the command's package.
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-kernelsearch)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
  "kernelsearch (= ${PROJECT_VERSION}-1), python3 (>= 3.${python_minor}), python3 (<< 3.${python_next})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-numpy, python3-pandas, python3-matplotlib")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/packaging/debian/python/postinst ${PROJECT_SOURCE_DIR}/packaging/debian/python/prerm)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "${python_summary}
${python_text}")
