# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
cmake_minimum_required(VERSION 3.25)

# Bytes rather than raw literals: no text can end them, and none is too long.
file(GLOB files RELATIVE ${DATA} ${DATA}/*/*.md ${DATA}/*/*.json
  ${DATA}/transformations/proofs/*/proof.json)
list(SORT files)
set(arrays)
set(table)
set(count 0)
foreach(file IN LISTS files)
  file(READ ${DATA}/${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(name ${file} NAME)
  string(APPEND arrays "constexpr unsigned char file_${count}[] = {${bytes}0x00};\n")
  string(APPEND table "    {\"${folder}\", \"${name}\", text(file_${count}, sizeof file_${count} - 1)},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made from data/ by cmake/embed_data.cmake.
#include \"agents/embedded_files.hpp\"

namespace kernelsearch::detail {
namespace {
${arrays}
std::string_view text(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}
}  // namespace

std::span<const DataFile> embedded_files() {
  static const DataFile files[] = {
${table}  };
  return files;
}

}  // namespace kernelsearch::detail
")
