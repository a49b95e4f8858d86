// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/struct_type.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace kernelsearch;

TEST_CASE("StructType: laid out as this compiler lays it out") {
  struct Mixed {
    std::uint8_t a;
    double b;
    std::uint16_t c;
    float d;
    std::uint8_t e;
  };
  const StructType type{"Mixed",
                        {{"a", ElementType::u8},
                         {"b", ElementType::f64},
                         {"c", ElementType::u16},
                         {"d", ElementType::f32},
                         {"e", ElementType::u8}}};
  CHECK(size_in_bytes(type) == sizeof(Mixed));
  CHECK(alignment_of(type) == alignof(Mixed));
  CHECK(offset_of(type, 0) == offsetof(Mixed, a));
  CHECK(offset_of(type, 1) == offsetof(Mixed, b));
  CHECK(offset_of(type, 2) == offsetof(Mixed, c));
  CHECK(offset_of(type, 3) == offsetof(Mixed, d));
  CHECK(offset_of(type, 4) == offsetof(Mixed, e));
  CHECK(offset_of(type, 5) == offsetof(Mixed, e) + 1);
  CHECK(size_in_bytes(StructType{
            "Bytes", {{"a", ElementType::u8}, {"b", ElementType::u8}, {"c", ElementType::u8}}}) == 3);
}
