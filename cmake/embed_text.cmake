# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
cmake_minimum_required(VERSION 3.25)

# Writes to OUTPUT a source that defines `std::string_view NAMESPACE::FUNCTION() noexcept`, the text of FILE. Bytes
# rather than a raw literal: no text can end them, and none is too long.
file(READ ${FILE} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
get_filename_component(name ${FILE} NAME)
file(WRITE ${OUTPUT} "// Made from ${name} by cmake/embed_text.cmake.
#include <string_view>

namespace ${NAMESPACE} {
namespace {
constexpr unsigned char ${FUNCTION}_bytes[] = {
${bytes}0x00};
}  // namespace

std::string_view ${FUNCTION}() noexcept;
std::string_view ${FUNCTION}() noexcept {
  return {reinterpret_cast<const char*>(${FUNCTION}_bytes), sizeof ${FUNCTION}_bytes - 1};
}

}  // namespace ${NAMESPACE}
")
