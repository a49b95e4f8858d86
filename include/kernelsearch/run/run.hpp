// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/ids.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/mcp/tool.hpp"
#include "kernelsearch/service/any_evaluator.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

namespace detail {
struct RunSearch;
}

/// How a run searches; written into the run's row, so that it can be continued.
struct RunPlan {
  std::string policy = "bayesian";  ///< over configurations, or `submit`: kernels come from outside
  std::string suggest =
      "epsilon_greedy_tree";  ///< of `submit`: the policy that suggests moves; see move_policies()
  std::vector<std::string> strategies = {};  ///< that it may name; none: the agent chooses
  std::string budget = "200";                ///< as parse_budget() reads it
  std::uint64_t seed = 0;
  unsigned jobs = 1;  ///< compilers at a time
  int core = -1;      ///< that host kernels are measured on, to be left free by all else; -1: none
};

/// When a step ends; the first that is reached. Without either it ends with the run's budget.
struct StepLimit {
  std::optional<std::uint64_t> trials = {};
  std::optional<double> seconds = {};
};

struct StepReport {
  std::uint64_t trials = 0;  ///< told in this step
  bool finished = false;     ///< the run's budget is spent, or the policy has no more to propose
  bool stopped = false;      ///< someone asked to stop
  std::string reason;        ///< why it ended
};

/// Code or settings from outside. What is not given is as in the parent.
struct Submission {
  std::optional<std::string> device = {}, host = {}, macros = {};  ///< whole regions
  std::vector<NamedValue> settings = {};                           ///< of tunables
  std::optional<TrialId> parent =
      {};  ///< nothing: the suggested move's, else the best, else the problem's kernel
  std::vector<std::string> strategies = {};  ///< what was done, in names
  bool answers = false;                      ///< it carries out the suggested move
};

/// A stored run that is driven a piece at a time: by steps of its policy, or by kernels handed in. Everything
/// told is in the store before a call returns, and a session opened on the same run goes on where it was, in
/// this process or another. One thread at a time.
class RunSession {
 public:
  /// Replays what the run holds. ConfigError where the run was made by another policy, or the record does not
  /// fit. `store` outlives the session.
  RunSession(RunStore& store, RunId run, AnyEvaluator evaluator, const RunPlan& plan);
  ~RunSession();
  RunSession(RunSession&&) noexcept;
  RunSession& operator=(RunSession&&) noexcept;

  /// Lets the policy work. In a `submit` run it measures the problem's own kernel, the first time, and
  /// suggests.
  StepReport step(const StepLimit& limit, const ToolCall& call);

  /// Has a kernel judged; its trial, or nothing where the call was stopped. Runs of policies over
  /// configurations take settings only. ConfigError for what is none, or when the budget is spent.
  std::optional<TrialId> submit(const Submission& submission, const ToolCall& call);

  /// The move that the policy of a `submit` run would like to see carried out; nothing in other runs.
  std::optional<Move> suggestion();
  /// Turns the suggested move down; it counts as a trial of which nothing came. ConfigError where there is
  /// none.
  void decline(const std::string& reason, const ToolCall& call);

  /// A call was stopped midway, or a suggestion declined: open a new session to go on.
  [[nodiscard]] bool spent() const noexcept;
  [[nodiscard]] const Problem& problem() const noexcept;

 private:
  std::unique_ptr<detail::RunSearch> search_;
};

}  // namespace kernelsearch
