# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Warnings and sanitizers of our own targets; never exported to users.
add_library(kernelsearch_build_flags INTERFACE)
target_compile_options(kernelsearch_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-sign-conversion
  $<$<BOOL:${KERNELSEARCH_WERROR}>:-Werror>)
if(KERNELSEARCH_SANITIZE)
  target_compile_options(kernelsearch_build_flags INTERFACE
    -fsanitize=${KERNELSEARCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(kernelsearch_build_flags INTERFACE -fsanitize=${KERNELSEARCH_SANITIZE})
endif()

# kernelsearch_library(NAME ROOMS core space ... DEPENDS targets...)
# A static library `kernelsearch_NAME` with alias kernelsearch::NAME. Its sources are src/<room>.cpp (which
# compile the bodies in include/kernelsearch/<room>/impl) and src/<room>/*.cpp.
function(kernelsearch_library name)
  cmake_parse_arguments(arg "" "" "ROOMS;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  set(target kernelsearch_${name})
  set(sources)
  set(headers)
  foreach(room IN LISTS arg_ROOMS)
    file(GLOB room_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}.cpp ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
    file(GLOB room_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/kernelsearch/${room}/*.hpp
         ${PROJECT_SOURCE_DIR}/include/kernelsearch/${room}/impl/*.hpp)
    list(APPEND sources ${room_sources})
    list(APPEND headers ${room_headers})
  endforeach()
  add_library(${target} STATIC ${sources})
  add_library(kernelsearch::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE $<BUILD_INTERFACE:kernelsearch_build_flags> ${arg_PRIVATE_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY KERNELSEARCH_TARGETS ${target})
endfunction()
