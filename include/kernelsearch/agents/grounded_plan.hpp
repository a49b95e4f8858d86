// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/agents/anchors.hpp"
#include "kernelsearch/agents/reply_code.hpp"
#include "kernelsearch/agents/reply_fault.hpp"

namespace kernelsearch {

/// What a planner wants: places of one or more regions, and an instruction for each.
struct GroundedPlan {
  struct Part {
    KernelRegion region = KernelRegion::device;
    std::vector<AnchorSpan> spans;  ///< of that region's text
  };
  ReplyJudgement judgement;
  std::vector<Part> parts;   ///< in the order of the reply; each region once
  std::string instructions;  ///< the planner's prose

  [[nodiscard]] std::size_t places() const noexcept {
    std::size_t count = 0;
    for (const Part& part : parts) count += part.spans.size();
    return count;
  }
};

/// Reads a planner's reply: each block that holds anchors must be a region of the kernel with anchors put in
/// and no code changed (of several blocks of one region the last counts); outside of the blocks there must be
/// an instruction for each place, numbered from 1 through all blocks unless there is only one.
[[nodiscard]] GroundedPlan read_plan(std::string_view reply, bool cut, const ReplyExpectation& expectation);

/// Reads a coder's reply to a plan: each of its regions with the places filled, and perhaps a declaration of
/// tunables.
[[nodiscard]] ReplyCode read_filled_plan(std::string_view reply, bool cut, const GroundedPlan& plan,
                                         const ReplyExpectation& expectation);

}  // namespace kernelsearch
