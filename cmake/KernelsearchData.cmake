# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# kernelsearch_embed_data(TARGET): compiles every data/<folder>/<file> into the target as
# kernelsearch::detail::embedded_files(), so that a program works without its share folder; of the proofs of
# transformations what was measured.
function(kernelsearch_embed_data target)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/data/*/*.md ${PROJECT_SOURCE_DIR}/data/*/*.json
    ${PROJECT_SOURCE_DIR}/data/transformations/proofs/*/proof.json)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_files.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DDATA=${PROJECT_SOURCE_DIR}/data -DOUTPUT=${output}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_data.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_data.cmake
    COMMENT "Compiling in the prompts and strategies" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

# kernelsearch_embed_text(TARGET FILE NAMESPACE FUNCTION): compiles the text of src/FILE into the target as
# `std::string_view NAMESPACE::FUNCTION() noexcept`.
function(kernelsearch_embed_text target file namespace function)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFILE=${PROJECT_SOURCE_DIR}/src/${file} -DOUTPUT=${output} -DNAMESPACE=${namespace} -DFUNCTION=${function}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
    DEPENDS ${PROJECT_SOURCE_DIR}/src/${file} ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
    COMMENT "Compiling in ${function}" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
