# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Warnings and sanitizers of our own targets; never exported to users.
add_library(kernelsearch_build_flags INTERFACE)
# Of files that are compiled together, names at file scope are no neighbour's business: what one shadows, only a build file
# by file (preset dev) can tell. And g++ takes for a header whatever a unit includes, the files themselves too.
set(together $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
target_compile_options(kernelsearch_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion
  $<IF:${together},$<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>,-Wshadow>
  $<$<AND:${together},$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>
  # g++ 12 reports strings and optionals of the standard library at -O3 and in sanitized code.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # g++ 13 and newer report loops over lists in braces, which live as long as the loop.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>
  # g++ 14 reports copies of vectors in three ways: it takes their one element for more than one.
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,14>>:-Wno-array-bounds;-Wno-stringop-overread;-Wno-stringop-overflow>"
  $<$<BOOL:${KERNELSEARCH_WERROR}>:-Werror>)
if(KERNELSEARCH_SANITIZE)
  target_compile_options(kernelsearch_build_flags INTERFACE
    -fsanitize=${KERNELSEARCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(kernelsearch_build_flags INTERFACE -fsanitize=${KERNELSEARCH_SANITIZE})
endif()
option(KERNELSEARCH_FUZZ "Build the libFuzzer targets, and everything with coverage for them (clang only)" OFF)
if(KERNELSEARCH_FUZZ)  # without it in the libraries, the fuzzer would see nothing but its own target's few lines
  target_compile_options(kernelsearch_build_flags INTERFACE -fsanitize=fuzzer-no-link)
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
  endif()
endfunction()

# FindBoost is gone from CMake 3.30 on; what Boost installs itself has the target that we use.
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW)
endif()

# The packages that a link `<prefix>::<target>` comes from.
set(KERNELSEARCH_PACKAGE_OF_Threads Threads)
set(KERNELSEARCH_PACKAGE_OF_fmt fmt)
set(KERNELSEARCH_PACKAGE_OF_Eigen3 Eigen3 3.4 NO_MODULE)
set(KERNELSEARCH_PACKAGE_OF_nlohmann_json nlohmann_json 3.11)
set(KERNELSEARCH_PACKAGE_OF_SQLite SQLite3)
set(KERNELSEARCH_PACKAGE_OF_OpenSSL OpenSSL COMPONENTS SSL Crypto)
set(KERNELSEARCH_PACKAGE_OF_Boost Boost 1.81)
set(KERNELSEARCH_PACKAGE_OF_ZLIB ZLIB)
# Asked for 3.4, the version files of Eigen 5 refuse, and a range of versions is refused by those of 3.4. Both serve, so find_package
# is told no version of these, and what it finds is compared afterwards.
set(KERNELSEARCH_ANY_NEWER Eigen3)

# kernelsearch_find_arguments(PACKAGE ARGUMENTS LOWEST): what find_package is told, and the version to compare with, empty for most.
function(kernelsearch_find_arguments package arguments lowest)
  set(told ${KERNELSEARCH_PACKAGE_OF_${package}})
  set(least)
  if(package IN_LIST KERNELSEARCH_ANY_NEWER)
    list(GET told 1 least)
    list(REMOVE_AT told 1)
  endif()
  set(${arguments} ${told} PARENT_SCOPE)
  set(${lowest} ${least} PARENT_SCOPE)
endfunction()

# kernelsearch_require(LINKS...): finds the packages of these links, for every directory.
function(kernelsearch_require)
  foreach(link IN LISTS ARGN)
    if(link MATCHES "^([A-Za-z0-9_]+)::" AND NOT TARGET ${link} AND NOT CMAKE_MATCH_1 STREQUAL "kernelsearch")
      if(NOT DEFINED KERNELSEARCH_PACKAGE_OF_${CMAKE_MATCH_1})
        message(FATAL_ERROR "${link}: name its package in cmake/KernelsearchHelpers.cmake")
      endif()
      set(package ${CMAKE_MATCH_1})
      kernelsearch_find_arguments(${package} arguments lowest)
      find_package(${arguments} REQUIRED GLOBAL)
      if(lowest AND ${package}_VERSION VERSION_LESS lowest)
        message(FATAL_ERROR "${package} ${${package}_VERSION} is in ${${package}_DIR}, and version ${lowest} or newer is needed; "
          "install it and say where: -D${package}_DIR=FOLDER")
      endif()
    endif()
  endforeach()
endfunction()

# kernelsearch_library(NAME ROOMS core space ... DEPENDS targets... PRIVATE_DEPENDS targets... [UNITY files]
#                      [DEFINITIONS NAME=value...] [OPTIONS compiler options...] [SOURCE_HEADERS] [EMBED_DATA]
#                      [EMBED_TEXT file namespace function...] [VARIANT] [SHARED name VERSION_SCRIPT file])
# Declares a static library `kernelsearch_NAME` with alias kernelsearch::NAME, which is also the name of its component
# in find_package; kernelsearch_make_libraries() makes it. Its sources are src/<room>.cpp (which compile the bodies in
# include/kernelsearch/<room>/impl) and src/<room>/*.cpp. The room `core` brings the headers that stand
# beside the rooms (version.hpp, fwd.hpp, kernelsearch.hpp). SOURCE_HEADERS: its sources include headers of src/.
# EMBED_DATA: data/ is compiled in. EMBED_TEXT: so is the text of a file of src/, as `std::string_view
# namespace::function()`. VARIANT: stands for another library, so kernelsearch::kernelsearch does not link it.
# SHARED: a shared library lib<name>.so with C headers, whose users see nothing of what it is made of; only the symbols
# of the version script leave it.
function(kernelsearch_library name)
  set_property(GLOBAL APPEND PROPERTY KERNELSEARCH_LIBRARIES ${name})
  set_property(GLOBAL PROPERTY KERNELSEARCH_LIBRARY_${name} "${ARGN}")
endfunction()

# kernelsearch_make_libraries(): makes the declared libraries that KERNELSEARCH_COMPONENTS names, and those they need.
function(kernelsearch_make_libraries)
  get_property(libraries GLOBAL PROPERTY KERNELSEARCH_LIBRARIES)
  set(wanted ${KERNELSEARCH_COMPONENTS})
  if("all" IN_LIST wanted)
    set(wanted ${libraries})
  endif()
  list(REMOVE_ITEM wanted header_only)  # always there: it has nothing to build
  foreach(name IN LISTS wanted)
    if(NOT name IN_LIST libraries)
      list(JOIN libraries ", " known)
      message(FATAL_ERROR "KERNELSEARCH_COMPONENTS names `${name}`; there are: all, header_only, ${known}")
    endif()
  endforeach()
  # What a library needs stands before it.
  set(made)
  list(REVERSE libraries)
  foreach(name IN LISTS libraries)
    if(name IN_LIST wanted)
      list(PREPEND made ${name})
      get_property(arguments GLOBAL PROPERTY KERNELSEARCH_LIBRARY_${name})
      list(FILTER arguments INCLUDE REGEX "^kernelsearch::")
      list(TRANSFORM arguments REPLACE "^kernelsearch::" "")
      list(APPEND wanted ${arguments})
    endif()
  endforeach()
  foreach(name IN LISTS made)
    get_property(arguments GLOBAL PROPERTY KERNELSEARCH_LIBRARY_${name})
    kernelsearch_make_library(${name} ${arguments})
  endforeach()
endfunction()

# kernelsearch_headers(HEADERS BODIES ROOMS...): the public headers of these rooms, and those with bodies.
function(kernelsearch_headers headers_to bodies_to)
  set(headers)
  set(bodies)
  foreach(room IN LISTS ARGN)
    file(GLOB room_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/kernelsearch/${room}/*.hpp
      ${PROJECT_SOURCE_DIR}/include/kernelsearch/${room}/*.h)
    file(GLOB room_bodies CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/kernelsearch/${room}/impl/*.hpp)
    list(APPEND headers ${room_headers})
    list(APPEND bodies ${room_bodies})
  endforeach()
  if("core" IN_LIST ARGN)
    file(GLOB top_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/kernelsearch/*.hpp)
    # What a kernel is, the umbrella header needs too; it is of the room `problem`, and needs nothing of it.
    list(APPEND headers ${top_headers} ${PROJECT_SOURCE_DIR}/include/kernelsearch/problem/kernel.hpp)
  endif()
  # How outputs are compared needs problems: it comes with them.
  set(of_problems ${PROJECT_SOURCE_DIR}/include/kernelsearch/evaluator/correctness.hpp)
  list(REMOVE_ITEM headers ${of_problems})
  if("problem" IN_LIST ARGN)
    list(APPEND headers ${of_problems})
  endif()
  set(${headers_to} ${headers} PARENT_SCOPE)
  set(${bodies_to} ${bodies} PARENT_SCOPE)
endfunction()

# The library that kernelsearch_library() declared.
function(kernelsearch_make_library name)
  cmake_parse_arguments(arg "SOURCE_HEADERS;EMBED_DATA;VARIANT" "UNITY;SHARED;VERSION_SCRIPT"
    "ROOMS;DEPENDS;PRIVATE_DEPENDS;DEFINITIONS;OPTIONS;EMBED_TEXT" ${ARGN})
  set(target kernelsearch_${name})
  set(sources)
  foreach(room IN LISTS arg_ROOMS)
    file(GLOB room_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}.cpp ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
    list(APPEND sources ${room_sources})
  endforeach()
  kernelsearch_headers(headers bodies ${arg_ROOMS})
  # In somebody else's build, only what is linked is built.
  set(excluded)
  if(NOT PROJECT_IS_TOP_LEVEL AND NOT KERNELSEARCH_INSTALL)
    set(excluded EXCLUDE_FROM_ALL)
  endif()
  set(kind STATIC)
  set(feature PUBLIC)
  if(arg_SHARED)
    set(kind SHARED)
    set(feature PRIVATE)  # its users may have no C++ compiler
  endif()
  add_library(${target} ${kind} ${excluded} ${sources})
  add_library(kernelsearch::${name} ALIAS ${target})
  set(verified ${PROJECT_IS_TOP_LEVEL})
  if(arg_VARIANT)
    set(verified OFF)
    set_property(GLOBAL APPEND PROPERTY KERNELSEARCH_VARIANTS ${name})
  endif()
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    POSITION_INDEPENDENT_CODE ON
    VERIFY_INTERFACE_HEADER_SETS ${verified}
    # Bodies may include what only they need, Eigen for one, which users of the compiled library need not have.
    INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
  target_sources(${target} PUBLIC
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers}
    FILE_SET bodies TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${bodies})
  target_compile_features(${target} ${feature} cxx_std_20)
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  if(arg_SHARED)
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${arg_SHARED} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${arg_VERSION_SCRIPT})
    # Never unloaded: threads that it started may still be in it. --exclude-libs leaves inline functions of the standard
    # library visible, so a version script it is.
    target_link_options(${target} PRIVATE -Wl,--version-script=${arg_VERSION_SCRIPT} -Wl,-z,nodelete -Wl,--no-undefined)
    if(KERNELSEARCH_SANITIZE)  # whose run-time is in the program
      target_link_options(${target} PRIVATE -Wl,-z,undefs)
    endif()
  endif()

  kernelsearch_require(${arg_DEPENDS} ${arg_PRIVATE_DEPENDS})
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS})
  foreach(link IN LISTS arg_PRIVATE_DEPENDS)
    if(link MATCHES "^(Eigen3::Eigen|Boost::headers|nlohmann_json::nlohmann_json)$")
      # Nothing to link: linked, an export would make users find what only our bodies include.
      target_include_directories(${target} SYSTEM PRIVATE $<TARGET_PROPERTY:${link},INTERFACE_INCLUDE_DIRECTORIES>)
      target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${link},INTERFACE_COMPILE_DEFINITIONS>)
    else()
      target_link_libraries(${target} PRIVATE ${link})
    endif()
  endforeach()
  # Not linked: a build-tree export would then demand that the flags be exported too.
  target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:kernelsearch_build_flags,INTERFACE_COMPILE_OPTIONS>
    ${arg_OPTIONS})
  if(arg_SOURCE_HEADERS)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  endif()
  if(arg_EMBED_DATA)
    kernelsearch_embed_data(${target})
  endif()
  if(arg_EMBED_TEXT)
    list(LENGTH arg_EMBED_TEXT words)
    math(EXPR last "${words} - 1")
    foreach(at RANGE 0 ${last} 3)
      list(SUBLIST arg_EMBED_TEXT ${at} 3 text)
      kernelsearch_embed_text(${target} ${text})
    endforeach()
  endif()
  if(NOT DEFINED arg_UNITY)
    set(arg_UNITY 0)
  endif()
  kernelsearch_unity(${target} ${arg_UNITY})
  if(KERNELSEARCH_SANITIZE)  # whoever links instrumented code needs the run-time
    target_link_options(${target} INTERFACE $<BUILD_INTERFACE:-fsanitize=${KERNELSEARCH_SANITIZE}>)
  endif()
  set_property(GLOBAL APPEND PROPERTY KERNELSEARCH_BUILT ${name})
endfunction()

# kernelsearch_umbrella_targets(): what is made of the libraries once all exist.
#  kernelsearch::kernelsearch  links every library that is built
#  kernelsearch::header_only   the rooms of kernelsearch::core with nothing to link, for builds that compile
#                              everything themselves, also with -fno-exceptions -fno-rtti
function(kernelsearch_umbrella_targets)
  get_property(components GLOBAL PROPERTY KERNELSEARCH_BUILT)
  get_property(variants GLOBAL PROPERTY KERNELSEARCH_VARIANTS)
  list(REMOVE_ITEM components ${variants})
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
  # Installed with it too: it may be the only component that is asked for.
  get_property(arguments GLOBAL PROPERTY KERNELSEARCH_LIBRARY_core)
  cmake_parse_arguments(core "" "UNITY" "ROOMS;DEPENDS;PRIVATE_DEPENDS" ${arguments})
  kernelsearch_headers(headers bodies ${core_ROOMS})
  target_sources(kernelsearch_header_only INTERFACE
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers}
    FILE_SET bodies TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${bodies})
  kernelsearch_require(Threads::Threads Eigen3::Eigen Boost::headers)
  target_link_libraries(kernelsearch_header_only INTERFACE Threads::Threads Eigen3::Eigen Boost::headers)
  set_property(GLOBAL APPEND PROPERTY KERNELSEARCH_BUILT header_only kernelsearch)
endfunction()
