// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/history.hpp"
#include "kernelsearch/core/impl/steady_seconds.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/optimizer/impl/loop_parts.hpp"
#include "kernelsearch/optimizer/job.hpp"
#include "kernelsearch/optimizer/optimizer_options.hpp"
#include "kernelsearch/optimizer/run_record.hpp"
#include "kernelsearch/optimizer/run_summary.hpp"
#include "kernelsearch/optimizer/stop_rule.hpp"

namespace kernelsearch::detail {

template <class Candidate, class Proposal>
class Pipeline;

/// The loop of `Optimizer`, which documents it: what it knows of a run, and the steps of it. The parts are
/// handed in at each call, so that both can be moved.
template <class Candidate, class Proposal>
class Loop {
 public:
  using Parts = LoopParts<Candidate, Proposal>;
  using Watching = AnyObservers<Candidate, Proposal>;
  using TrialType = Trial<Candidate>;

  explicit Loop(OptimizerOptions options);
  Loop(Loop&&);
  Loop& operator=(Loop&&);
  ~Loop();

  RunSummary run(Parts& parts, const AnyRule& rule, Watching& observers);
  /// One proposal; false once nothing more will come or the rule is reached.
  bool step(Parts& parts, const AnyRule& rule, Watching& observers);
  std::vector<Job<Candidate>> ask(Parts& parts, std::size_t n, Watching& observers);
  void tell(Parts& parts, TrialId id, Evaluation evaluation, Watching& observers);
  std::optional<Job<Candidate>> submit(Parts& parts, Proposal point, Candidate candidate,
                                       Watching& observers);
  TrialId submit(Parts& parts, Proposal point, Candidate candidate, Evaluation evaluation,
                 Watching& observers);
  void revise(Parts& parts, TrialId id, Evaluation evaluation, Watching& observers);
  [[nodiscard]] Result<void> resume(Parts& parts, const RunRecord<Candidate, Proposal>& record);
  void abandon_outstanding();

  [[nodiscard]] bool done() const noexcept { return done_; }
  [[nodiscard]] std::size_t outstanding() const noexcept;
  [[nodiscard]] const TrialLog<Candidate>& log() const noexcept { return *log_; }
  [[nodiscard]] const TrialType* best() const;
  [[nodiscard]] RunProgress progress() const;
  [[nodiscard]] RunSummary summary() const;

 private:
  friend class Pipeline<Candidate, Proposal>;

  /// A proposal on its way to the generator, with what was known when it was made.
  struct Ticket {
    ProposalId id{};
    std::shared_ptr<const Proposal> proposal;
    std::size_t told = 0;
    std::optional<double> incumbent;
    std::vector<std::uint32_t> already_told;  ///< indices of candidates told before the run was resumed
  };
  struct Pending {
    std::shared_ptr<const Proposal> proposal;
    std::optional<Origin> origin;
    std::optional<Candidate> candidate;
    std::string failure;
    bool applicable = true;
    bool answered = true;
    std::string rationale = {};
    std::optional<TrialId> twin = {};
  };

  std::vector<Ticket> propose(Parts& parts, std::size_t n, Watching& observers);
  [[nodiscard]] Generation<Candidate> generate(Parts& parts, const Ticket& ticket);
  std::vector<TrialId> admit(const Parts& parts, const Ticket& ticket, Generation<Candidate> generation,
                             Watching& observers);
  void append_and_tell(Parts& parts, TrialType trial, const std::shared_ptr<const Proposal>& proposal,
                       Watching& observers);
  void tell_policy(Parts& parts, const Proposal& proposal, const Outcome& outcome);
  [[nodiscard]] Outcome make_outcome(TrialId id, const Pending& pending, Evaluation evaluation) const;
  void update_best(const Outcome& outcome);
  [[nodiscard]] EvaluationContext context_for(TrialId id, const Proposal& proposal,
                                              std::optional<double> incumbent) const;
  /// The best time, for evaluators that end early; none where something else is minimized.
  [[nodiscard]] std::optional<double> incumbent() const;
  [[nodiscard]] bool may_ask() const;
  [[nodiscard]] bool is_unreachable() const;      ///< nobody answered for long enough to end it
  [[nodiscard]] std::string why_no_more() const;  ///< where `may_ask` says no
  [[nodiscard]] std::uint64_t trials() const;     ///< told, without what turned out not to apply, and outages

  OptimizerOptions options_;
  std::unique_ptr<TrialLog<Candidate>> log_ = std::make_unique<TrialLog<Candidate>>();
  std::deque<std::shared_ptr<const Proposal>> told_proposals_;  ///< by position in the log
  std::unordered_map<std::uint64_t, Pending> pending_;
  std::deque<Ticket> backlog_;  ///< outstanding proposals of a resumed run
  std::optional<TrialId> best_;
  double best_objective_ = 0.0;
  std::uint64_t next_trial_ = 0;
  std::uint64_t next_proposal_ = 0;
  std::uint64_t trials_since_gain_ = 0;
  std::uint64_t outages_ = 0;              ///< told
  std::uint32_t unanswered_in_a_row_ = 0;  ///< the last ones told, of this part of the run
  std::array<std::uint64_t, verdict_count> verdicts_{};
  double started_ = steady_seconds();
  double seconds_before_ = 0.0;
  std::string reason_ = "still running";
  bool done_ = false;
};

}  // namespace kernelsearch::detail
