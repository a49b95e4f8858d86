// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

/// Whether KERNELSEARCH_TEST_THOROUGH=1 asks for what takes too long for every change: the cases of the suite
/// `thorough`, and all of a long list where some stand for it otherwise (scripts/test.sh --thorough).
inline bool is_thorough() {
  const char* const asked = std::getenv("KERNELSEARCH_TEST_THOROUGH");
  return asked != nullptr && std::string_view(asked) == "1";
}

/// Whether the `index`-th of a list is tested: one in `of`, or all where that is asked for.
inline bool is_tested(std::size_t index, std::size_t of) {
  return is_thorough() || index % of == 0;
}

/// Leaves those of `list` that are tested.
template <class List>
void keep_tested(List& list, std::size_t of) {
  std::size_t index = 0;
  std::erase_if(list, [&](const auto&) { return !is_tested(index++, of); });
}

/// How many times what fails once in a while is to be tried: KERNELSEARCH_TEST_REPEAT, else once.
inline std::size_t repeats_asked() {
  const char* const asked = std::getenv("KERNELSEARCH_TEST_REPEAT");
  return asked != nullptr ? static_cast<std::size_t>(std::max(1L, std::atol(asked))) : 1;
}
