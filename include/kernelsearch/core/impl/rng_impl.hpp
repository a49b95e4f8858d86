// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>

#include "kernelsearch/core/rng.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE double Rng::normal() noexcept {
  const double u = 1.0 - uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586477 * uniform());
}

}  // namespace kernelsearch
