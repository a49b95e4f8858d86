// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/llm/chat.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/run/machine_text.hpp"
#include "kernelsearch/run/measurement.hpp"

namespace kernelsearch {

/// What a role of a system would be asked first.
struct FirstQuestion {
  std::string role;
  /// Part of it stands for what only a run has: an earlier reply, a failure. Such parts are in parentheses.
  bool example = false;
  ChatRequest request;
  std::size_t tokens = 0;  ///< of all messages, estimated
};

/// Which system is to be shown, and what is known without asking or measuring.
struct FirstQuestionsOptions {
  std::string system;               ///< one of `system_entries()` that asks a model
  std::string system_options = {};  ///< a JSON object; empty: the system's standard values
  std::uint32_t variant = 0;        ///< Move::variant: a question that was asked that many times before
  std::optional<std::uint64_t> inner_trials = {};  ///< as RunOptions::inner_trials
  std::string methods = {};  ///< folder of the user's prompts, strategies and transformations
  std::uint64_t seed = 0;
  MeasurementOptions measurement = {};
  std::optional<MachineFacts> machine = {};   ///< nothing: those of this machine
  std::optional<Evaluation> evaluation = {};  ///< of the problem's own kernel; nothing: not measured yet
};

/// The first question of each role of a system, in the order in which they would be asked, as the model would
/// get it. Nothing is asked, built or measured but the host's peaks, which are kept. ConfigError for a system
/// that is not known or asks no model.
[[nodiscard]] std::vector<FirstQuestion> first_questions(Problem problem,
                                                         const FirstQuestionsOptions& options);

}  // namespace kernelsearch
