// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/is_trial.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/optimizer/impl/loop.hpp"
#include "kernelsearch/optimizer/impl/pipeline_impl.hpp"

namespace kernelsearch::detail {

/// The objective of an evaluation, infinity unless it is ok. One that is NaN makes it a failure, here
/// and not in each policy: nothing is less than NaN, so the first to have it would stay the best for good.
/// Objectives that cannot be had of the `first` right evaluation are the user's error, and not its own.
inline double judged_objective(Evaluation& evaluation, const OptimizerOptions& options, bool first) {
  constexpr double none = std::numeric_limits<double>::infinity();
  if (evaluation.verdict != Verdict::ok) return none;
  std::string reason = "the objective is not a number (NaN)";
  if (options.objective) {
    const double objective = options.objective(evaluation.measurement);
    if (!std::isnan(objective)) return objective;
  } else {
    const Result<double> objective = options.objectives.try_judge(evaluation);
    if (objective && !std::isnan(*objective)) return *objective;
    if (!objective && first) raise_config_error(objective.error());
    if (!objective) reason = objective.error().text();
  }
  evaluation.verdict = Verdict::wrong_result;
  evaluation.progress = graded_progress(Verdict::wrong_result);
  evaluation.reason = std::move(reason);
  return none;
}

template <class Candidate, class Proposal>
AnyObservers<Candidate, Proposal>::AnyObservers() = default;
template <class Candidate, class Proposal>
AnyObservers<Candidate, Proposal>::~AnyObservers() = default;
template <class Candidate, class Proposal>
void AnyObservers<Candidate, Proposal>::ask(const AskEvent&) {}
template <class Candidate, class Proposal>
void AnyObservers<Candidate, Proposal>::start(TrialId, const Candidate&) {}
template <class Candidate, class Proposal>
void AnyObservers<Candidate, Proposal>::trial(const Trial<Candidate>&, const Proposal&) {}
template <class Candidate, class Proposal>
void AnyObservers<Candidate, Proposal>::best(const Trial<Candidate>&) {}
template <class Candidate, class Proposal>
void AnyObservers<Candidate, Proposal>::revised(const Trial<Candidate>&) {}
template <class Candidate, class Proposal>
void AnyObservers<Candidate, Proposal>::inner(TrialId, const InnerTrial&) {}
template <class Candidate, class Proposal>
void AnyObservers<Candidate, Proposal>::end(std::string_view) {}

template <class Candidate, class Proposal>
Loop<Candidate, Proposal>::Loop(OptimizerOptions options) : options_(std::move(options)) {
  if (options_.in_flight == 0 || options_.generate_threads == 0 || options_.build_threads == 0)
    raise<ConfigError>("OptimizerOptions has a count of 0", "in_flight, generate_threads or build_threads",
                       "give at least 1 of each");
  if (!options_.budget) options_.budget = std::make_shared<TrialBudget>();
  if (options_.objective && !options_.objectives.only_time())
    raise<ConfigError>("OptimizerOptions has objectives and a function instead of them",
                       options_.objectives.text(), "leave one of them out");
}

template <class Candidate, class Proposal>
Loop<Candidate, Proposal>::Loop(Loop&&) = default;
template <class Candidate, class Proposal>
Loop<Candidate, Proposal>& Loop<Candidate, Proposal>::operator=(Loop&&) = default;
template <class Candidate, class Proposal>
Loop<Candidate, Proposal>::~Loop() = default;

template <class Candidate, class Proposal>
void Loop<Candidate, Proposal>::abandon_outstanding() {
  pending_.clear();
}

template <class Candidate, class Proposal>
std::size_t Loop<Candidate, Proposal>::outstanding() const noexcept {
  return pending_.size();
}

template <class Candidate, class Proposal>
auto Loop<Candidate, Proposal>::best() const -> const TrialType* {
  return best_ ? &log_->own(*best_) : nullptr;
}

template <class Candidate, class Proposal>
std::optional<double> Loop<Candidate, Proposal>::incumbent() const {
  if (!best_ || options_.objective || !options_.objectives.only_time()) return std::nullopt;
  return best_objective_;
}

template <class Candidate, class Proposal>
bool Loop<Candidate, Proposal>::may_ask() const {
  return !done_ && options_.budget->remaining() != 0 && !options_.stop.stop_requested() && !is_unreachable();
}

template <class Candidate, class Proposal>
bool Loop<Candidate, Proposal>::is_unreachable() const {
  return options_.unanswered_in_a_row != 0 && unanswered_in_a_row_ >= options_.unanswered_in_a_row;
}

template <class Candidate, class Proposal>
std::string Loop<Candidate, Proposal>::why_no_more() const {
  if (options_.stop.stop_requested()) return "stopped from outside";
  if (is_unreachable())
    return "nobody answered " + std::to_string(unanswered_in_a_row_) +
           " questions in a row: resume the run when the model can be reached";
  return "the trial budget is spent";
}

template <class Candidate, class Proposal>
auto Loop<Candidate, Proposal>::propose(Parts& parts, std::size_t n, Watching& observers)
    -> std::vector<Ticket> {
  std::vector<Ticket> tickets;
  while (!backlog_.empty() && tickets.size() < n) {
    tickets.push_back(std::move(backlog_.front()));
    backlog_.pop_front();
  }
  if (tickets.size() == n) return tickets;

  const std::size_t wanted = n - tickets.size();
  std::vector<Proposal> proposals = parts.ask(wanted);
  if (proposals.size() > wanted)
    raise<ConfigError>("the policy returned more proposals than it was asked for",
                       std::to_string(proposals.size()) + " instead of " + std::to_string(wanted),
                       "return at most n from ask(n)");
  const AskEvent event{wanted, proposals.size()};
  observers.ask(event);
  for (Proposal& proposal : proposals) {
    Ticket ticket;
    ticket.id = ProposalId{next_proposal_++};
    ticket.proposal = std::make_shared<const Proposal>(std::move(proposal));
    ticket.told = log_->own_trials().size();
    ticket.incumbent = incumbent();
    tickets.push_back(std::move(ticket));
  }
  return tickets;
}

template <class Candidate, class Proposal>
auto Loop<Candidate, Proposal>::generate(Parts& parts, const Ticket& ticket) -> Generation<Candidate> {
  return parts.generate(*ticket.proposal, History<Candidate>(*log_, ticket.told));
}

template <class Candidate, class Proposal>
std::vector<TrialId> Loop<Candidate, Proposal>::admit(const Parts& parts, const Ticket& ticket,
                                                      Generation<Candidate> generation, Watching& observers) {
  std::vector<TrialId> ids;
  const auto count = static_cast<std::uint32_t>(generation.candidates.size());
  const auto known = [&ticket](std::uint32_t index) {
    return std::find(ticket.already_told.begin(), ticket.already_told.end(), index) !=
           ticket.already_told.end();
  };
  const auto add = [&](std::uint32_t index, std::optional<Candidate> candidate, std::string failure) {
    // A search inside the evaluation draws its own trials; drawing for the outer candidate would count twice.
    const bool draws = candidate ? !parts.draws_own_budget : generation.applicable && generation.answered;
    if (draws)
      if (!options_.budget->take()) return false;
    const TrialId id{next_trial_++};
    if (candidate) observers.start(id, *candidate);
    pending_.emplace(number(id), Pending{ticket.proposal, Origin{ticket.id, index, count},
                                         std::move(candidate), std::move(failure), generation.applicable,
                                         generation.answered, generation.rationale, generation.twin});
    ids.push_back(id);
    return true;
  };
  if (count > 0) generation.applicable = true;
  if (count == 0 && !known(0))
    add(0, std::nullopt, generation.failure.empty() ? "the generator gave no reason" : generation.failure);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (known(i)) continue;
    if (!add(i, std::move(generation.candidates[i]), {})) break;
  }
  return ids;
}

template <class Candidate, class Proposal>
Outcome Loop<Candidate, Proposal>::make_outcome(TrialId id, const Pending& pending,
                                                Evaluation evaluation) const {
  Outcome outcome;
  outcome.id = id;
  outcome.origin = pending.origin;
  outcome.rationale = pending.rationale;
  outcome.parents = parents_of(*pending.proposal);
  outcome.objective = judged_objective(evaluation, options_, !best_);
  outcome.evaluation = std::move(evaluation);
  return outcome;
}

template <class Candidate, class Proposal>
void Loop<Candidate, Proposal>::tell(Parts& parts, TrialId id, Evaluation evaluation, Watching& observers) {
  auto found = pending_.find(number(id));
  if (found == pending_.end())
    raise<ConfigError>("told the outcome of a candidate that is not outstanding",
                       "trial " + std::to_string(number(id)),
                       "tell each id from ask() once; use revise() to correct a told trial");
  Pending pending = std::move(found->second);
  pending_.erase(found);
  if (!pending.candidate)
    evaluation = !pending.answered ? Evaluation::unanswered(std::move(pending.failure))
                                   : Evaluation::failed(pending.applicable ? Verdict::not_generated
                                                                           : Verdict::not_applicable,
                                                        std::move(pending.failure));
  if (!pending.candidate && pending.twin)
    evaluation.features.set("twin", static_cast<double>(number(*pending.twin)));
  Outcome outcome = make_outcome(id, pending, std::move(evaluation));
  append_and_tell(parts, TrialType{std::move(pending.candidate), std::move(outcome)}, pending.proposal,
                  observers);
}

template <class Candidate, class Proposal>
void Loop<Candidate, Proposal>::append_and_tell(Parts& parts, TrialType trial,
                                                const std::shared_ptr<const Proposal>& proposal,
                                                Watching& observers) {
  trial.outcome.move = move_of(*proposal);  // a stored outcome has none of its own
  log_->append(std::move(trial));
  told_proposals_.push_back(proposal);
  const TrialType& told = log_->own_trials().back();
  observers.trial(told, *proposal);
  ++verdicts_[static_cast<std::size_t>(told.outcome.evaluation.verdict)];
  if (is_trial(told.outcome.evaluation)) ++trials_since_gain_;
  if (told.outcome.origin) {
    const bool unanswered = told.outcome.evaluation.is_unanswered();
    outages_ += unanswered ? 1 : 0;
    unanswered_in_a_row_ = unanswered ? unanswered_in_a_row_ + 1 : 0;
  }
  // Records of earlier versions may hold NaN.
  const bool gain = told.outcome.ok() && !std::isnan(told.outcome.objective) &&
                    (!best_ || told.outcome.objective < best_objective_);
  if (gain) {
    best_ = told.outcome.id;
    best_objective_ = told.outcome.objective;
    trials_since_gain_ = 0;
  }
  tell_policy(parts, *proposal, told.outcome);
  if (gain) observers.best(told);
}

template <class Candidate, class Proposal>
void Loop<Candidate, Proposal>::tell_policy(Parts& parts, const Proposal& proposal, const Outcome& outcome) {
  const Observation<Proposal> observation{proposal, outcome};
  parts.tell(std::span<const Observation<Proposal>>(&observation, 1));
}

template <class Candidate, class Proposal>
EvaluationContext Loop<Candidate, Proposal>::context_for(TrialId id, const Proposal& proposal,
                                                         std::optional<double> incumbent) const {
  EvaluationContext context;
  context.trial = id;
  context.incumbent = incumbent;
  context.stop = options_.stop;
  context.budget = options_.budget;
  context.parents = parents_of(proposal);
  return context;
}

template <class Candidate, class Proposal>
auto Loop<Candidate, Proposal>::ask(Parts& parts, std::size_t n, Watching& observers)
    -> std::vector<Job<Candidate>> {
  std::vector<Job<Candidate>> jobs;
  while (jobs.empty() && may_ask()) {
    const std::vector<Ticket> tickets = propose(parts, n, observers);
    if (tickets.empty()) {
      if (!pending_.empty()) break;
      if (parts.await()) continue;
      done_ = true;
      reason_ = "the policy has nothing more to propose";
      break;
    }
    for (const Ticket& ticket : tickets) {
      Generation<Candidate> generation = generate(parts, ticket);
      // A question that was cut short has no answer: it stays outstanding for a resumed run.
      if (options_.stop.stop_requested()) break;
      for (const TrialId id : admit(parts, ticket, std::move(generation), observers)) {
        const Pending& pending = pending_.at(number(id));
        if (pending.candidate)
          jobs.push_back({id, *pending.candidate, context_for(id, *pending.proposal, ticket.incumbent)});
        else
          tell(parts, id, {}, observers);
      }
    }
  }
  if (jobs.empty() && pending_.empty() && !done_ && !may_ask()) {
    done_ = true;
    reason_ = why_no_more();
  }
  return jobs;
}

template <class Candidate, class Proposal>
auto Loop<Candidate, Proposal>::submit(Parts& parts, Proposal point, Candidate candidate, Watching& observers)
    -> std::optional<Job<Candidate>> {
  if (!parts.draws_own_budget && !options_.budget->take()) return std::nullopt;
  const TrialId id{next_trial_++};
  observers.start(id, candidate);
  Job<Candidate> job{id, candidate, context_for(id, point, incumbent())};
  pending_.emplace(
      number(id),
      Pending{std::make_shared<const Proposal>(std::move(point)), std::nullopt, std::move(candidate), {}});
  return job;
}

template <class Candidate, class Proposal>
TrialId Loop<Candidate, Proposal>::submit(Parts& parts, Proposal point, Candidate candidate,
                                          Evaluation evaluation, Watching& observers) {
  const TrialId id{next_trial_++};
  pending_.emplace(
      number(id),
      Pending{std::make_shared<const Proposal>(std::move(point)), std::nullopt, std::move(candidate), {}});
  tell(parts, id, std::move(evaluation), observers);
  return id;
}

template <class Candidate, class Proposal>
void Loop<Candidate, Proposal>::revise(Parts& parts, TrialId id, Evaluation evaluation, Watching& observers) {
  if (!log_->contains(id))
    raise<ConfigError>("revised a trial that was never told", "trial " + std::to_string(number(id)),
                       "tell it first");
  const std::size_t position = log_->position_of(id);
  Outcome outcome = log_->own_trials()[position].outcome;
  --verdicts_[static_cast<std::size_t>(outcome.evaluation.verdict)];
  outcome.objective = judged_objective(evaluation, options_, !best_);
  ++verdicts_[static_cast<std::size_t>(evaluation.verdict)];
  outcome.evaluation = std::move(evaluation);
  log_->revise(outcome);
  const std::optional<TrialId> before = best_;
  best_.reset();
  for (const TrialType& trial : log_->own_trials()) update_best(trial.outcome);
  const TrialType& trial = log_->own_trials()[position];
  observers.revised(trial);
  tell_policy(parts, *told_proposals_[position], trial.outcome);
  if (best_ && best_ != before) observers.best(log_->own(*best_));
}

template <class Candidate, class Proposal>
void Loop<Candidate, Proposal>::update_best(const Outcome& outcome) {
  if (!outcome.ok() || std::isnan(outcome.objective) || (best_ && outcome.objective >= best_objective_))
    return;
  best_ = outcome.id;
  best_objective_ = outcome.objective;
}

template <class Candidate, class Proposal>
Result<void> Loop<Candidate, Proposal>::resume(Parts& parts, const RunRecord<Candidate, Proposal>& record) {
  if (next_trial_ != 0 || next_proposal_ != 0)
    return Fault{"resumed an optimizer that has already worked", std::to_string(next_trial_) + " trials",
                 "resume right after construction"};
  struct Outstanding {
    Ticket ticket;
    std::uint32_t left = 1;
    bool begun = false;
  };
  std::map<std::uint64_t, Outstanding> outstanding;
  Watching nobody;
  for (const auto& event : record.events) {
    if (const auto* ask = std::get_if<AskEvent>(&event)) {
      std::vector<Ticket> tickets = propose(parts, ask->wanted, nobody);
      if (tickets.size() != ask->returned)
        return Fault{"the policy does not repeat its recorded proposals",
                     std::to_string(tickets.size()) + " instead of " + std::to_string(ask->returned),
                     "resume with the policy, options, seed and version of the first part"};
      // Where the first part waited for the policy's own work, so does this one: it decides what comes next.
      if (tickets.empty() && outstanding.empty()) (void)parts.await();
      for (Ticket& ticket : tickets) {
        const std::uint64_t id = number(ticket.id);
        outstanding.emplace(id, Outstanding{std::move(ticket)});
      }
      continue;
    }
    if (const auto* revised = std::get_if<RevisedEvent>(&event)) {
      if (!log_->contains(revised->outcome.id))
        return Fault{"the record revises a trial that was never told",
                     "trial " + std::to_string(number(revised->outcome.id)),
                     "the record is damaged: start a new run"};
      revise(parts, revised->outcome.id, revised->outcome.evaluation, nobody);
      continue;
    }
    const auto& told = std::get<ToldEvent<Candidate, Proposal>>(event);
    const Outcome& outcome = told.trial.outcome;
    std::shared_ptr<const Proposal> proposal;
    if (outcome.origin) {
      const auto found = outstanding.find(number(outcome.origin->proposal));
      if (found == outstanding.end())
        return Fault{"the record tells a trial of a proposal that was never made",
                     "proposal " + std::to_string(number(outcome.origin->proposal)),
                     "the record is damaged: start a new run"};
      Outstanding& entry = found->second;
      proposal = entry.ticket.proposal;
      if (told.proposal && !(*told.proposal == *proposal))
        return Fault{"the policy does not repeat its recorded proposals",
                     "proposal " + std::to_string(found->first) + " differs",
                     "resume with the policy, options, seed and version of the first part"};
      if (!entry.begun) entry.left = std::max<std::uint32_t>(outcome.origin->count, 1);
      entry.begun = true;
      entry.ticket.already_told.push_back(outcome.origin->index);
      if (is_trial(outcome.evaluation) && (!parts.draws_own_budget || !told.trial.candidate))
        options_.budget->take();
      if (--entry.left == 0) outstanding.erase(found);
    } else {
      if (!told.proposal)
        return Fault{"the record holds a trial from outside without its point",
                     "trial " + std::to_string(number(outcome.id)), "the record is damaged: start a new run"};
      proposal = std::make_shared<const Proposal>(*told.proposal);
    }
    next_trial_ = std::max(next_trial_, number(outcome.id) + 1);
    append_and_tell(parts, told.trial, proposal, nobody);
  }
  if (parts.draws_own_budget)
    for (std::uint64_t i = 0; i < record.inner_trials && options_.budget->take();) ++i;
  for (auto& [id, entry] : outstanding) backlog_.push_back(std::move(entry.ticket));
  seconds_before_ = record.seconds;
  unanswered_in_a_row_ = 0;  // it is resumed because somebody may answer now
  return {};
}

template <class Candidate, class Proposal>
bool Loop<Candidate, Proposal>::step(Parts& parts, const AnyRule& rule, Watching& observers) {
  std::vector<Job<Candidate>> jobs = ask(parts, 1, observers);
  for (Job<Candidate>& job : jobs) {
    job.context.on_inner = [&](const InnerTrial& inner) { observers.inner(job.id, inner); };
    Evaluation evaluation = parts.evaluate(job.candidate, job.context);
    // What was cut short by a stop is not a verdict on the candidate.
    if (options_.stop.stop_requested() && evaluation.verdict != Verdict::ok) break;
    tell(parts, job.id, std::move(evaluation), observers);
    if (rule.reached(progress())) {
      reason_ = rule.describe();
      pending_.clear();
      return false;
    }
  }
  pending_.clear();
  return !done_;
}

template <class Candidate, class Proposal>
RunSummary Loop<Candidate, Proposal>::run(Parts& parts, const AnyRule& rule, Watching& observers) {
  started_ = steady_seconds();
  if (rule.reached(progress())) {
    reason_ = rule.describe();
  } else if (options_.in_flight > 1) {
    Pipeline<Candidate, Proposal> pipeline(*this, parts, rule, observers);
    pipeline.run();
  } else {
    while (step(parts, rule, observers)) {
    }
  }
  observers.end(reason_);
  return summary();
}

template <class Candidate, class Proposal>
std::uint64_t Loop<Candidate, Proposal>::trials() const {
  std::uint64_t trials = 0;
  for (int v = 0; v < verdict_count; ++v)
    if (is_trial(static_cast<Verdict>(v))) trials += verdicts_[static_cast<std::size_t>(v)];
  return trials - outages_;
}

template <class Candidate, class Proposal>
RunProgress Loop<Candidate, Proposal>::progress() const {
  RunProgress progress;
  progress.trials = trials();
  progress.trials_since_gain = trials_since_gain_;
  progress.seconds = seconds_before_ + (steady_seconds() - started_);
  if (best_) {
    progress.best = best_objective_;
    const auto& speedup = log_->own(*best_).outcome.evaluation.measurement.speedup;
    if (speedup) progress.best_speedup = speedup->ratio;
  }
  return progress;
}

template <class Candidate, class Proposal>
RunSummary Loop<Candidate, Proposal>::summary() const {
  RunSummary summary;
  summary.reason = reason_;
  summary.trials = trials();
  summary.verdicts = verdicts_;
  summary.best = best_;
  summary.seconds = progress().seconds;
  return summary;
}

}  // namespace kernelsearch::detail
