// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernelsearch/core/history.hpp"
#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/optimizer/impl/notify_impl.hpp"
#include "kernelsearch/optimizer/observer.hpp"
#include "kernelsearch/optimizer/stop_rule.hpp"
#include "kernelsearch/policy/search_policy.hpp"

/// What a run is made of, behind virtual functions: the loop is then compiled once for each pair of candidate
/// and proposal types instead of once for each policy, generator, evaluator, rule and set of observers.
namespace kernelsearch::detail {

/// The artifact of a staged evaluator, of whatever type.
struct BuiltArtifact {
  BuiltArtifact() = default;
  BuiltArtifact(const BuiltArtifact&) = delete;
  BuiltArtifact& operator=(const BuiltArtifact&) = delete;
  virtual ~BuiltArtifact() = default;
};

/// Policy, generator and evaluator.
template <class Candidate, class Proposal>
class LoopParts {
 public:
  virtual std::vector<Proposal> ask(std::size_t n) = 0;
  virtual void tell(std::span<const Observation<Proposal>> batch) = 0;
  /// As of AwaitingPolicy; false for every other policy.
  virtual bool await() = 0;
  virtual Generation<Candidate> generate(const Proposal& proposal, const History<Candidate>& history) = 0;
  virtual Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) = 0;
  /// The first phase of a staged evaluator; nothing when the candidate's evaluation ended there, as `ended`.
  virtual std::unique_ptr<BuiltArtifact> build(const Candidate& candidate, const EvaluationContext& context,
                                               Evaluation& ended) = 0;
  /// The second phase, of what build() returned.
  virtual Evaluation run(BuiltArtifact& artifact, const EvaluationContext& context) = 0;
  /// Devices that can be measured on at the same time, at least 1.
  virtual std::size_t lanes() = 0;

  const bool staged;            ///< StagedEvaluator
  const bool draws_own_budget;  ///< DrawsOwnBudget

 protected:
  LoopParts(bool is_staged, bool draws) : staged(is_staged), draws_own_budget(draws) {}
  LoopParts(const LoopParts&) = default;
  ~LoopParts() = default;
};

/// A stop rule of any type.
class AnyRule {
 public:
  [[nodiscard]] virtual bool reached(const RunProgress& progress) const = 0;
  [[nodiscard]] virtual std::string describe() const = 0;

 protected:
  AnyRule() = default;
  AnyRule(const AnyRule&) = default;
  ~AnyRule() = default;
};

template <class Rule>
class RuleOf final : public AnyRule {
 public:
  explicit RuleOf(const Rule& rule) : rule_(rule) {}
  [[nodiscard]] bool reached(const RunProgress& progress) const override { return rule_.reached(progress); }
  [[nodiscard]] std::string describe() const override { return rule_.describe(); }

 private:
  const Rule& rule_;
};

/// Any number of observers; this base has none.
template <class Candidate, class Proposal>
class AnyObservers {
 public:
  AnyObservers();
  AnyObservers(const AnyObservers&) = delete;
  AnyObservers& operator=(const AnyObservers&) = delete;
  virtual ~AnyObservers();
  virtual void ask(const AskEvent& event);
  virtual void start(TrialId id, const Candidate& candidate);
  virtual void trial(const Trial<Candidate>& trial, const Proposal& proposal);
  virtual void best(const Trial<Candidate>& trial);
  virtual void revised(const Trial<Candidate>& trial);
  virtual void inner(TrialId parent, const InnerTrial& trial);
  virtual void end(std::string_view reason);
};

template <class Candidate, class Proposal, class... O>
class ObserversOf final : public AnyObservers<Candidate, Proposal> {
 public:
  explicit ObserversOf(O&... observers) : observers_(observers...) {}

  void ask(const AskEvent& event) override {
    each([&](auto& o) { notify_ask(o, event); });
  }
  void start(TrialId id, const Candidate& candidate) override {
    each([&](auto& o) { notify_start(o, id, candidate); });
  }
  void trial(const Trial<Candidate>& trial, const Proposal& proposal) override {
    each([&](auto& o) { notify_trial(o, trial, proposal); });
  }
  void best(const Trial<Candidate>& trial) override {
    each([&](auto& o) { notify_best(o, trial); });
  }
  void revised(const Trial<Candidate>& trial) override {
    each([&](auto& o) { notify_revised(o, trial); });
  }
  void inner(TrialId parent, const InnerTrial& trial) override {
    each([&](auto& o) { notify_inner(o, parent, trial); });
  }
  void end(std::string_view reason) override {
    each([&](auto& o) { notify_end(o, reason); });
  }

 private:
  template <class F>
  void each(F f) {
    std::apply([&](O&... observers) { (f(observers), ...); }, observers_);
  }

  std::tuple<O&...> observers_;
};

/// The observers of one call: `WatchedBy<Candidate, Proposal, O...> watching(observers...)`.
template <class Candidate, class Proposal, class... O>
using WatchedBy = std::conditional_t<sizeof...(O) == 0, AnyObservers<Candidate, Proposal>,
                                     ObserversOf<Candidate, Proposal, O...>>;

}  // namespace kernelsearch::detail
