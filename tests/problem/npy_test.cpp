// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem/npy.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using kernelsearch::detail::NpyHeader;
using kernelsearch::detail::try_npy_header;

namespace {

std::string npy(const std::string& dictionary, char version = 1) {
  std::string text = std::string("\x93NUMPY") + version + '\0';
  text += static_cast<char>(dictionary.size() & 0xff);
  text += static_cast<char>(dictionary.size() >> 8);
  if (version > 1) text += std::string(2, '\0');
  return text + dictionary;
}

}  // namespace

TEST_CASE("npy: type, order, extents and where the elements begin") {
  const std::string text =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }   \n") + "elements";
  const auto header = try_npy_header(text);
  REQUIRE(header);
  CHECK(header->type == "<f4");
  CHECK_FALSE(header->fortran_order);
  CHECK(header->extents == std::vector<std::uint64_t>{3, 5});
  CHECK(header->elements() == 15);
  CHECK(text.substr(header->offset) == "elements");
  const auto second = try_npy_header(npy("{'descr': '|b1', 'fortran_order': True, 'shape': ()}", 2));
  REQUIRE(second);
  CHECK(second->fortran_order);
  CHECK(second->elements() == 1);
}

TEST_CASE("npy: products beyond 64 bits are no small number") {
  NpyHeader header;
  header.extents = {std::uint64_t{1} << 40, std::uint64_t{1} << 40};
  CHECK(header.elements() == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("npy: what is wrong is said") {
  const std::pair<std::string, std::string> wrong[] = {
      {"", "not a .npy file"},
      {"\x93NUMPY", "not a .npy file"},
      {npy("{}", 9), "version is 9"},
      {npy("{}"), "lacks descr"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}").substr(0, 30), "header is cut"},
      {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}"), "records"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': 3}"), "not a tuple"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (a,)}"), "not a list of numbers"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,"), "shape is cut"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}"), "too large"},
  };
  for (const auto& one : wrong) {
    const auto &text = one.first, &words = one.second;
    CAPTURE(words);
    const auto header = try_npy_header(text);
    REQUIRE_FALSE(header);
    CHECK(header.error().find(words) != std::string::npos);
  }
}
