// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/mcp/method_files.hpp"
#include "kernelsearch/mcp/run_tools.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// Words and the same as data.
[[nodiscard]] ToolReply replied(std::string text, const nlohmann::json& structured);

/// The run that the arguments name; ConfigError where the store has none.
[[nodiscard]] RunId run_of(const RunManager& manager, const nlohmann::json& arguments);
/// The trial of that number; ConfigError where the run has none.
[[nodiscard]] StoredTrial trial_of(const RunManager& manager, RunId run, TrialId id);
/// The one that the argument names; without it the best, else the run's first trial.
[[nodiscard]] StoredTrial trial_or_best(const RunManager& manager, RunId run, const nlohmann::json& arguments,
                                        const char* name = "trial");
/// What an agent should do next in a run that waits for its kernels.
[[nodiscard]] std::string next_text(const RunManager& manager, RunId run);
[[nodiscard]] std::string trial_name(TrialId id);
[[nodiscard]] nlohmann::json regions_json(const StoredKernel& kernel);

/// The tools, as functions of a manager.
struct RunTools {
  RunManager& manager;
  RunToolsOptions options;
  std::shared_ptr<std::mutex> checkpoint_lock;  ///< held while they are read, checked and changed

  using json = nlohmann::json;

  // --- runs
  [[nodiscard]] ToolReply start_run(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply step(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply status(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply best(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply report(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply cancel(const json& arguments, const ToolCall& call) const;

  // --- what is asked for and what can be tried
  [[nodiscard]] ToolReply describe_problem(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply prompt(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply list_methods(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply apply(const json& arguments, const ToolCall& call) const;

  // --- trials
  [[nodiscard]] ToolReply submit_kernel(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply explain_verdict(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply tune(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply profile(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply validate(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply compare(const json& arguments, const ToolCall& call) const;
  [[nodiscard]] ToolReply checkpoints(const json& arguments, const ToolCall& call) const;

  /// The trial that the current checkpoint is, where the run has any.
  [[nodiscard]] std::optional<TrialId> current_checkpoint(RunId run) const;
  /// Machine, problem, kernel, what was measured of it and what was tried from it, as a model is asked.
  [[nodiscard]] std::string facts(RunId run, const StoredTrial& trial) const;
};

}  // namespace kernelsearch::detail
