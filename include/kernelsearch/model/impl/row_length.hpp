// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {

inline void require_features(std::size_t given, std::size_t expected) {
  if (given == expected) return;
  raise<ConfigError>("the row has another number of features", std::to_string(given),
                     "give " + std::to_string(expected));
}

}  // namespace kernelsearch::detail
