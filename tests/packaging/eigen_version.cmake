# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
cmake_minimum_required(VERSION 3.25)

# cmake -DSOURCE=FOLDER -DWORK=FOLDER -P eigen_version.cmake
# Which versions of Eigen a build takes, and a project that uses the build: made-up packages of Eigen whose version files are of the
# kind that Eigen's are, with nothing in them.
include(CMakePackageConfigHelpers)
file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/user/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(kernelsearch REQUIRED COMPONENTS header_only)
add_library(user INTERFACE)
target_link_libraries(user INTERFACE kernelsearch::header_only)
")

function(configure wanted source build)  # wanted: nothing, or what the error must say
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${source} -B ${build} ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(wanted STREQUAL "" AND NOT code EQUAL 0)
    message(FATAL_ERROR "not configured with ${ARGN}: ${output}")
  elseif(NOT wanted STREQUAL "" AND (code EQUAL 0 OR NOT output MATCHES "${wanted}"))
    message(FATAL_ERROR "configured with ${ARGN} (${code}), without the error `${wanted}`: ${output}")
  endif()
endfunction()

foreach(version 5.0.1 3.4.0 3.3.9)
  set(eigen ${WORK}/eigen-${version})
  file(WRITE ${eigen}/Eigen3Config.cmake "if(NOT TARGET Eigen3::Eigen)\n  add_library(Eigen3::Eigen INTERFACE IMPORTED)\nendif()\n")
  write_basic_package_version_file(${eigen}/Eigen3ConfigVersion.cmake VERSION ${version} COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
  set(of_build "")
  set(of_user "")
  if(version VERSION_LESS 3.4)
    set(of_build "Eigen3 3.3.9 is in ${eigen}, and version 3.4 or newer is needed; install it and say where: -DEigen3_DIR=FOLDER")
    set(of_user "Eigen3 3.3.9 is in ${eigen}, and the component header_only needs version 3.4 or newer; install it and say where: -DEigen3_DIR=FOLDER")
  endif()
  configure("${of_build}" ${SOURCE} ${WORK}/build-${version} -DEigen3_DIR=${eigen} -DKERNELSEARCH_COMPONENTS=core
    -DKERNELSEARCH_BUILD_APPS=OFF -DKERNELSEARCH_BUILD_TESTS=OFF -DKERNELSEARCH_BUILD_EXAMPLES=OFF)
  # The project of a user has a build that was made with Eigen 5, and its own Eigen.
  configure("${of_user}" ${WORK}/user ${WORK}/user-${version} -DEigen3_DIR=${eigen} -Dkernelsearch_DIR=${WORK}/build-5.0.1/cmake)
endforeach()
file(REMOVE_RECURSE ${WORK})
