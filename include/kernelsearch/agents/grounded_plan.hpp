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

/// What a planner wants: places of one region, and an instruction for each.
struct GroundedPlan {
  ReplyJudgement judgement;
  KernelRegion region = KernelRegion::device;
  std::vector<AnchorSpan> spans;  ///< of that region's text
  std::string instructions;       ///< the planner's prose
};

/// Reads a planner's reply: the last block that holds anchors must be a region of the kernel with anchors put
/// in and nothing else changed; outside of the blocks there must be an instruction for each place, numbered
/// from 1 unless there is only one.
[[nodiscard]] GroundedPlan read_plan(std::string_view reply, bool cut, const ReplyExpectation& expectation);

/// Reads a coder's reply to a plan: the region with its places filled, and perhaps a declaration of tunables.
[[nodiscard]] ReplyCode read_filled_plan(std::string_view reply, bool cut, const GroundedPlan& plan,
                                         const ReplyExpectation& expectation);

}  // namespace kernelsearch
