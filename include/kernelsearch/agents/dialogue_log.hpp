// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kernelsearch/agents/reply_fault.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/llm/chat.hpp"

namespace kernelsearch {

/// One question that a generator asked, and how it was answered.
struct Exchange {
  std::string role;                ///< who asked: `planner`, `coder`, ...
  std::string prompt;              ///< the template's name
  std::string template_hash;       ///< its version
  std::string question_hash;       ///< SHA-256 of the messages as they were sent
  std::string reply_hash;          ///< SHA-256 of the reply's text; empty without one
  std::string model;               ///< what answered, as the provider names it; empty without a reply
  std::uint32_t attempt = 0;       ///< 0, then 1 for what was asked again after a fault, ...
  std::optional<ChatError> error;  ///< why there was no reply
  ReplyJudgement judgement;        ///< of the reply
  bool for_another = false;        ///< the reply is for another role's question: a plan, an analysis
  std::string inapplicable;        ///< why what was asked for does not apply, where the reply says so
  bool last = false;               ///< nothing more is asked for the proposal: used, or given up
  TokenUsage usage;                ///< also of failed attempts that were paid for
  Move move;                       ///< the proposal
  std::string kernel;              ///< `kernel_digest` of the kernel that was read from the reply, if any
};

/// Is told of every exchange when it is over, on the thread that generates; may be called from several at
/// once.
using DialogueLog = std::function<void(const Exchange&)>;

}  // namespace kernelsearch
