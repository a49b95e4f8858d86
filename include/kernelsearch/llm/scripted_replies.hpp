// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "kernelsearch/llm/chat_model.hpp"

namespace kernelsearch {

/// Answers by the rules of a folder's script.json instead of a model: examples and tests of whole systems
/// without a key (docs/formats/scripts.md). The first rule whose role and texts fit the question gives the
/// reply, so that a reply is a function of the question and an interrupted run resumes as any other.
class ScriptedReplies {
 public:
  /// ConfigError with the file and the rule for a script that cannot be used.
  explicit ScriptedReplies(const std::string& folder);

  /// `not_recorded` where no rule fits; the text says which role asked.
  [[nodiscard]] ChatResult chat(const ChatRequest& request, std::stop_token stop = {}) const;

  /// Whether the folder holds a script.
  [[nodiscard]] static bool has_script(const std::string& folder);

 private:
  struct Rules;
  std::shared_ptr<const Rules> rules_;
};

static_assert(ChatModel<const ScriptedReplies>);

}  // namespace kernelsearch
