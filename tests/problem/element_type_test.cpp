// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/element_type.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>

using namespace kernelsearch;

TEST_CASE("ElementType: names read back and differ") {
  std::set<std::string> names;
  for (int t = 0; t < element_type_count; ++t) {
    const auto type = static_cast<ElementType>(t);
    CHECK(element_type_from(to_string(type)) == type);
    names.emplace(to_string(type));
  }
  CHECK(names.size() == static_cast<std::size_t>(element_type_count));
  CHECK_FALSE(element_type_from("f31"));
  CHECK(to_string(ElementType::boolean) == "bool");
}

TEST_CASE("ElementType: sizes and C++ names are those of the types") {
  CHECK(size_in_bytes(ElementType::f16) == 2);
  CHECK(size_in_bytes(ElementType::bf16) == 2);
  CHECK(size_in_bytes(ElementType::f32) == sizeof(float));
  CHECK(size_in_bytes(ElementType::f64) == sizeof(double));
  CHECK(size_in_bytes(ElementType::i8) == 1);
  CHECK(size_in_bytes(ElementType::u64) == sizeof(std::uint64_t));
  CHECK(size_in_bytes(ElementType::boolean) == sizeof(bool));
  CHECK(cpp_name(ElementType::f16) == "std::uint16_t");
  CHECK(cpp_name(ElementType::f32) == "float");
  CHECK(cpp_name(ElementType::i64) == "std::int64_t");
  CHECK(cpp_name(ElementType::u8) == "std::uint8_t");
  CHECK(cpp_name(ElementType::boolean) == "bool");
  CHECK(is_floating(ElementType::bf16));
  CHECK_FALSE(is_floating(ElementType::i8));
}
