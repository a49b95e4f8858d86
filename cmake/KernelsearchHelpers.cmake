# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Warnings and sanitizers of our own targets; never exported to users.
add_library(kernelsearch_build_flags INTERFACE)
target_compile_options(kernelsearch_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-sign-conversion
  # g++ 12 reports strings and optionals of the standard library at -O3 and in sanitized code.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${KERNELSEARCH_WERROR}>:-Werror>)
if(KERNELSEARCH_SANITIZE)
  target_compile_options(kernelsearch_build_flags INTERFACE
    -fsanitize=${KERNELSEARCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(kernelsearch_build_flags INTERFACE -fsanitize=${KERNELSEARCH_SANITIZE})
endif()

option(KERNELSEARCH_UNITY
  "Compile the files of a target together: everything in a third of the time, one changed file at the price of its neighbours" ON)
set(KERNELSEARCH_UNITY_FILES "" CACHE STRING
  "Files that are compiled together at most, for every target; 0 for all of a target; empty for what each target asks for")
mark_as_advanced(KERNELSEARCH_UNITY_FILES)

# kernelsearch_unity(TARGET FILES): with KERNELSEARCH_UNITY, compiles the target FILES files at a time (0: all at once).
# The number keeps one compiler below 2 GB of memory, and two cores busy until the end.
function(kernelsearch_unity target files)
  if(KERNELSEARCH_UNITY)
    if(NOT KERNELSEARCH_UNITY_FILES STREQUAL "")
      set(files ${KERNELSEARCH_UNITY_FILES})
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
    # g++ takes for a header whatever a unit includes, the files themselves too.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# kernelsearch_library(NAME ROOMS core space ... DEPENDS targets... PRIVATE_DEPENDS targets... [UNITY files])
# A static library `kernelsearch_NAME` with alias kernelsearch::NAME, which is also the name of its component
# in find_package. Its sources are src/<room>.cpp (which compile the bodies in
# include/kernelsearch/<room>/impl) and src/<room>/*.cpp. The room `core` brings the headers that stand
# beside the rooms (version.hpp, fwd.hpp, kernelsearch.hpp).
function(kernelsearch_library name)
  cmake_parse_arguments(arg "" "UNITY" "ROOMS;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
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
  if("core" IN_LIST arg_ROOMS)
    file(GLOB top_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/kernelsearch/*.hpp)
    list(APPEND headers ${top_headers})
  endif()
  add_library(${target} STATIC ${sources})
  add_library(kernelsearch::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    POSITION_INDEPENDENT_CODE ON
    VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
  # Not linked: a build-tree export would then demand that the flags be exported too.
  target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:kernelsearch_build_flags,INTERFACE_COMPILE_OPTIONS>)
  if(NOT DEFINED arg_UNITY)
    set(arg_UNITY 0)
  endif()
  kernelsearch_unity(${target} ${arg_UNITY})
  if(KERNELSEARCH_SANITIZE)  # whoever links instrumented code needs the run-time
    target_link_options(${target} INTERFACE $<BUILD_INTERFACE:-fsanitize=${KERNELSEARCH_SANITIZE}>)
  endif()
  set_property(GLOBAL APPEND PROPERTY KERNELSEARCH_COMPONENTS ${name})
endfunction()

# kernelsearch_umbrella_targets(): what is made of the libraries once all exist.
#  kernelsearch::kernelsearch  links every library that is built
#  kernelsearch::header_only   the rooms of kernelsearch::core with nothing to link, for builds that compile
#                              everything themselves, also with -fno-exceptions -fno-rtti
function(kernelsearch_umbrella_targets)
  get_property(components GLOBAL PROPERTY KERNELSEARCH_COMPONENTS)
  add_library(kernelsearch_kernelsearch INTERFACE)
  add_library(kernelsearch::kernelsearch ALIAS kernelsearch_kernelsearch)
  set_target_properties(kernelsearch_kernelsearch PROPERTIES EXPORT_NAME kernelsearch)
  foreach(component IN LISTS components)
    target_link_libraries(kernelsearch_kernelsearch INTERFACE kernelsearch::${component})
  endforeach()

  add_library(kernelsearch_header_only INTERFACE)
  add_library(kernelsearch::header_only ALIAS kernelsearch_header_only)
  set_target_properties(kernelsearch_header_only PROPERTIES EXPORT_NAME header_only)
  target_compile_definitions(kernelsearch_header_only INTERFACE KERNELSEARCH_HEADER_ONLY=1)
  target_compile_features(kernelsearch_header_only INTERFACE cxx_std_20)
  target_include_directories(kernelsearch_header_only INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(kernelsearch_header_only INTERFACE Threads::Threads fmt::fmt-header-only Eigen3::Eigen Boost::headers)
  set_property(GLOBAL APPEND PROPERTY KERNELSEARCH_COMPONENTS header_only kernelsearch)
endfunction()
