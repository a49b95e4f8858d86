// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

#include "kernelsearch/core/verdict.hpp"

namespace kernelsearch {

/// The verdict as people and models are told it: a write outside of the arrays, which an honest kernel
/// without a mask does too, is `out_of_bounds` and no accusation. Stores and exports keep the verdict's own
/// name.
[[nodiscard]] constexpr std::string_view shown_verdict(Verdict verdict, std::string_view reason) noexcept {
  // As the judges of host, GPU and external kernels say it.
  constexpr std::string_view outside = "it wrote outside of its array";
  const bool strayed = verdict == Verdict::cheated && reason.substr(0, outside.size()) == outside;
  return strayed ? std::string_view("out_of_bounds") : to_string(verdict);
}

}  // namespace kernelsearch
