// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>

#include "kernelsearch/core/impl/steady_seconds.hpp"

namespace kernelsearch::detail {

KERNELSEARCH_INLINE double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace kernelsearch::detail
