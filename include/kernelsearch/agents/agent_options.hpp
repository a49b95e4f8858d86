// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/agents/context_window.hpp"
#include "kernelsearch/agents/dialogue_log.hpp"
#include "kernelsearch/agents/feedback.hpp"
#include "kernelsearch/agents/problem_text.hpp"
#include "kernelsearch/agents/prompt_library.hpp"
#include "kernelsearch/agents/recall.hpp"
#include "kernelsearch/agents/strategy.hpp"
#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/policy/method_choice.hpp"

namespace kernelsearch {

/// Who asks, and how.
struct AgentRole {
  std::string name;                        ///< ChatRequest::role: ledgers and model files go by it
  std::optional<double> temperature = {};  ///< nothing: the provider's own
  std::string model = {};                  ///< empty: the model file's choice for the role
  std::uint32_t max_tokens = 16384;        ///< of a reply; twice as many where one was cut and is asked again
  AnyChatModel chat = {};                  ///< a model of its own; empty: the team's
};

/// What all generators that ask language models have in common.
struct AgentOptions {
  PromptLibrary prompts = PromptLibrary();
  std::vector<Strategy> strategies = {};  ///< empty: those of data/strategies for the problem's backend
  WindowOptions windows = {};
  FeedbackOptions feedback = {};
  std::uint32_t corrections = 1;  ///< how often a reply that cannot be used is sent back with the reason
  bool tunables = true;           ///< whether replies may declare tunables: something searches them
  bool check_conditions = true;   ///< whether a strategy whose condition is false yields nothing, unasked
  /// Whether strategies are listed with those first that the kernel shows most for, each with the reason.
  bool evidence = true;
  /// Whether a question that names no strategy lists those that apply.
  bool list_strategies = true;
  std::string hardware = {};        ///< facts of the machine, for prompts (run/machine_text.hpp)
  std::optional<Config> root = {};  ///< of the problem's kernel, where the search begins; empty: its default
  ProblemFacts facts = {};          ///< how the problem is measured, for prompts
  MethodDevice device = {};         ///< what the device has: strategies show the steps that are for it
  /// For one question, estimated, without its reply. What is worth least is left out first, and is said:
  /// the oldest attempts, other kernels, ancestors. Rules, machine, problem, the kernel's code and what
  /// became of it are never left out.
  std::size_t prompt_tokens = 32000;
  Recall recall = nullptr;  ///< what earlier runs learned; empty: nothing is remembered
  DialogueLog log = nullptr;
  std::stop_token stop = {};  ///< ends questions that are under way
};

}  // namespace kernelsearch
