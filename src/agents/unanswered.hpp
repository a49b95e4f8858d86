// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/llm/chat.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch::detail {

/// Times the limit of tokens where thinking has used up a reply's: as RaisedLimit, which not every model is
/// behind.
inline constexpr std::uint32_t roomier = 4;

/// Whether the model could not be reached but may be later. A key that is refused, credit that is spent and
/// our own limits stay as they are, so that to ask on and on would be in vain.
[[nodiscard]] constexpr bool is_outage(ChatFailure failure) noexcept {
  return failure == ChatFailure::rate_limited || failure == ChatFailure::server ||
         failure == ChatFailure::network || failure == ChatFailure::timed_out;
}

/// Why a proposal came to nothing.
struct Unanswered {
  std::string reason;
  bool applicable = true;  ///< false: what was asked for does not apply to the kernel
  bool outage = false;     ///< nobody could be reached: nothing is known of what was asked for

  [[nodiscard]] Generation<Candidate> generation() const {
    if (outage) return Generation<Candidate>::unanswered(reason);
    return applicable ? Generation<Candidate>::none(reason) : Generation<Candidate>::not_applicable(reason);
  }
};

}  // namespace kernelsearch::detail
