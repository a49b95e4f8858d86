// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/arena.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("poison_by_chance: none of floating types and of few elements, some of many integers") {
  using detail::poison_by_chance;
  for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::u64, ElementType::u8})
    CHECK(poison_by_chance(type, std::uint64_t{1} << 30) == 0);
  CHECK(poison_by_chance(ElementType::u32, 0) == 0);
  CHECK(poison_by_chance(ElementType::u32, 4000) == 0);
  CHECK(poison_by_chance(ElementType::i32, 100000) == 1);
  // 1/32 expected in 2^27 random words: more than 3 come up 4 times in 10^8.
  CHECK(poison_by_chance(ElementType::u32, std::uint64_t{1} << 27) == 3);
  CHECK(poison_by_chance(ElementType::u16, 4096) == 4);
}
