// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernelsearch/agents/reply_fault.hpp"

namespace kernelsearch {

/// How a reply begins the line which says that what was asked for by name does not apply to the kernel.
inline constexpr std::string_view refusal_form = "DOES NOT APPLY";

/// A reply which says that what was asked for does not apply.
struct Refusal {
  ReplyJudgement judgement;  ///< what is wrong with it, if anything
  std::string reason;  ///< `NAME: the reason`, on one line, for the one who reads it apart from the question
};

/// The refusal in a reply, a line that begins `DOES NOT APPLY:`, in a block of its own too; nothing where
/// there is no such line. `names` is what was asked for: where there is nothing, there is nothing to refuse,
/// and of several the reason must name the one that does not apply.
[[nodiscard]] std::optional<Refusal> read_refusal(std::string_view reply, std::span<const std::string> names);

}  // namespace kernelsearch
