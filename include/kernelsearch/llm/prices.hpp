// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/llm/chat.hpp"

namespace kernelsearch {

/// What a provider asks for a million tokens, in one currency of the user's choice.
struct Prices {
  double input = 0.0;
  double output = 0.0;          ///< reasoning included
  double cached = -1.0;         ///< input that was read from the provider's cache; negative: as `input`
  double cache_written = -1.0;  ///< input that was written to it; negative: as `input`

  [[nodiscard]] double cost(const TokenUsage& usage) const noexcept {
    const std::uint64_t special = usage.cached + usage.cache_written;
    const double plain = usage.input > special ? static_cast<double>(usage.input - special) : 0.0;
    return (plain * input + static_cast<double>(usage.cached) * (cached < 0 ? input : cached) +
            static_cast<double>(usage.cache_written) * (cache_written < 0 ? input : cache_written) +
            static_cast<double>(usage.output) * output) *
           1e-6;
  }
  friend bool operator==(const Prices&, const Prices&) = default;
};

}  // namespace kernelsearch
