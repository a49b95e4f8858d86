// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "npy.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

namespace kernelsearch::detail {
namespace {

/// The text after `'key':` without the blanks before it; nothing where the key is not there.
std::optional<std::string_view> value_of(std::string_view dictionary, const char* key) {
  for (const char quote : {'\'', '"'}) {
    std::string wanted(1, quote);
    (wanted += key) += quote;
    std::size_t at = dictionary.find(wanted);
    if (at == std::string_view::npos) continue;
    at = dictionary.find_first_not_of(" \t:", at + wanted.size());
    if (at != std::string_view::npos) return dictionary.substr(at);
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t NpyHeader::elements() const noexcept {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : extents) {
    if (extent != 0 && product > std::numeric_limits<std::uint64_t>::max() / extent)
      return std::numeric_limits<std::uint64_t>::max();
    product *= extent;
  }
  return product;
}

Result<NpyHeader, std::string> try_npy_header(std::string_view bytes) {
  constexpr std::string_view magic = "\x93NUMPY";
  if (bytes.substr(0, magic.size()) != magic || bytes.size() < 10)
    return std::string("it is not a .npy file");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i]));
  };
  const std::uint64_t version = byte(6);
  if (version < 1 || version > 3) return "its version is " + std::to_string(version) + ", 1 to 3 are known";
  const std::size_t begin = version == 1 ? 10 : 12;
  if (bytes.size() < begin) return std::string("its header is cut");
  std::uint64_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - begin) return std::string("its header is cut");
  const std::string_view dictionary = bytes.substr(begin, static_cast<std::size_t>(length));
  NpyHeader header;
  header.offset = begin + length;
  const auto type = value_of(dictionary, "descr"), order = value_of(dictionary, "fortran_order"),
             shape = value_of(dictionary, "shape");
  if (!type || !order || !shape) return std::string("its header lacks descr, fortran_order or shape");
  if (type->front() != '\'' && type->front() != '"') return std::string("its elements are records");
  const std::size_t end = type->find(type->front(), 1);
  if (end == std::string_view::npos) return std::string("its element type is cut");
  header.type = std::string(type->substr(1, end - 1));
  header.fortran_order = order->substr(0, 4) == "True";
  if (shape->front() != '(') return std::string("its shape is not a tuple");
  std::size_t at = 1;
  while (true) {
    at = shape->find_first_not_of(" ,", at);
    if (at == std::string_view::npos) return std::string("its shape is cut");
    if ((*shape)[at] == ')') return header;
    std::uint64_t extent = 0;
    const std::size_t first = at;
    for (; at < shape->size() && std::isdigit(static_cast<unsigned char>((*shape)[at])) != 0; ++at) {
      if (extent > (std::uint64_t{1} << 56)) return std::string("its shape is too large");
      extent = extent * 10 + static_cast<std::uint64_t>((*shape)[at] - '0');
    }
    if (at == first) return std::string("its shape is not a list of numbers");
    header.extents.push_back(extent);
  }
}

}  // namespace kernelsearch::detail
