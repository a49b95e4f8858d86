// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/agents/reply_fault.hpp"
#include "kernelsearch/llm/chat.hpp"

namespace kernelsearch {

/// A reply to the request for one region, read: its new text, or that it stays as it is, and tunables that
/// the model introduces.
struct RegionAnswer {
  ReplyFault fault = ReplyFault::none;
  std::string detail;      ///< of a fault: what was found and what to do, for the model
  bool unchanged = false;  ///< the model says that nothing is to be done here
  std::string text;        ///< the region's new text, unless unchanged
  DeclaredTunables declared;
};

/// Reads a reply: one fenced block of code is the region; a block marked `json` with the key "tunables"
/// declares tunables; the word UNCHANGED alone means no change. All else is prose and has no effect.
[[nodiscard]] RegionAnswer read_region_answer(const ChatReply& reply, std::size_t longest = 200000,
                                              DeclaredTunablesLimits limits = {});

}  // namespace kernelsearch
