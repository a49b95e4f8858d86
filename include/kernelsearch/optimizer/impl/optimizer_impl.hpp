// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "kernelsearch/optimizer/impl/notify_impl.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"

namespace kernelsearch {

template <class Policy, class Gen, class Eval>
Optimizer<Policy, Gen, Eval>::Optimizer(Policy policy, Gen generator, Eval evaluator,
                                        OptimizerOptions options)
    : policy_(std::move(policy)),
      generator_(std::move(generator)),
      evaluator_(std::move(evaluator)),
      options_(std::move(options)) {
  if (options_.in_flight == 0 || options_.generate_threads == 0 || options_.build_threads == 0)
    detail::raise<ConfigError>("OptimizerOptions has a count of 0",
                               "in_flight, generate_threads or build_threads", "give at least 1 of each");
  if (!options_.budget) options_.budget = std::make_shared<TrialBudget>();
  if (!options_.objective) options_.objective = [](const Measurement& m) { return m.seconds; };
}

template <class Policy, class Gen, class Eval>
bool Optimizer<Policy, Gen, Eval>::may_ask() const {
  return !done_ && options_.budget->remaining() != 0 && !options_.stop.stop_requested();
}

template <class Policy, class Gen, class Eval>
template <class... Observers>
auto Optimizer<Policy, Gen, Eval>::propose(std::size_t n, Observers&... observers) -> std::vector<Ticket> {
  std::vector<Ticket> tickets;
  while (!backlog_.empty() && tickets.size() < n) {
    tickets.push_back(std::move(backlog_.front()));
    backlog_.pop_front();
  }
  if (tickets.size() == n) return tickets;

  const std::size_t wanted = n - tickets.size();
  std::vector<Proposal> proposals = policy_.ask(wanted);
  if (proposals.size() > wanted)
    detail::raise<ConfigError>("the policy returned more proposals than it was asked for",
                               std::to_string(proposals.size()) + " instead of " + std::to_string(wanted),
                               "return at most n from ask(n)");
  [[maybe_unused]] const AskEvent event{wanted, proposals.size()};
  (detail::notify_ask(observers, event), ...);
  for (Proposal& proposal : proposals) {
    Ticket ticket;
    ticket.id = ProposalId{next_proposal_++};
    ticket.proposal = std::make_shared<const Proposal>(std::move(proposal));
    ticket.told = log_->own_trials().size();
    if (best_) ticket.incumbent = best_objective_;
    tickets.push_back(std::move(ticket));
  }
  return tickets;
}

template <class Policy, class Gen, class Eval>
auto Optimizer<Policy, Gen, Eval>::generate(const Ticket& ticket) -> Generation<Candidate> {
  return generator_.generate(*ticket.proposal, History<Candidate>(*log_, ticket.told));
}

template <class Policy, class Gen, class Eval>
template <class... Observers>
std::vector<TrialId> Optimizer<Policy, Gen, Eval>::admit(const Ticket& ticket,
                                                         Generation<Candidate> generation,
                                                         Observers&... observers) {
  std::vector<TrialId> ids;
  const auto count = static_cast<std::uint32_t>(generation.candidates.size());
  const auto known = [&ticket](std::uint32_t index) {
    return std::find(ticket.already_told.begin(), ticket.already_told.end(), index) !=
           ticket.already_told.end();
  };
  const auto add = [&](std::uint32_t index, std::optional<Candidate> candidate, std::string failure) {
    // A search inside the evaluation draws its own trials; drawing for the outer candidate would count twice.
    if (!DrawsOwnBudget<Eval> || !candidate)
      if (!options_.budget->take()) return false;
    const TrialId id{next_trial_++};
    if (candidate) (detail::notify_start(observers, id, *candidate), ...);
    pending_.emplace(number(id), Pending{ticket.proposal, Origin{ticket.id, index, count},
                                         std::move(candidate), std::move(failure)});
    ids.push_back(id);
    return true;
  };
  if (count == 0 && !known(0))
    add(0, std::nullopt, generation.failure.empty() ? "the generator gave no reason" : generation.failure);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (known(i)) continue;
    if (!add(i, std::move(generation.candidates[i]), {})) break;
  }
  return ids;
}

template <class Policy, class Gen, class Eval>
Outcome Optimizer<Policy, Gen, Eval>::make_outcome(TrialId id, const Pending& pending,
                                                   Evaluation evaluation) const {
  Outcome outcome;
  outcome.id = id;
  outcome.origin = pending.origin;
  outcome.parents = parents_of(*pending.proposal);
  if (evaluation.verdict == Verdict::ok) outcome.objective = options_.objective(evaluation.measurement);
  outcome.evaluation = std::move(evaluation);
  return outcome;
}

template <class Policy, class Gen, class Eval>
template <class... Observers>
void Optimizer<Policy, Gen, Eval>::complete(TrialId id, Evaluation evaluation, Observers&... observers) {
  auto found = pending_.find(number(id));
  if (found == pending_.end())
    detail::raise<ConfigError>("told the outcome of a candidate that is not outstanding",
                               "trial " + std::to_string(number(id)),
                               "tell each id from ask() once; use revise() to correct a told trial");
  Pending pending = std::move(found->second);
  pending_.erase(found);
  if (!pending.candidate) evaluation = Evaluation::failed(Verdict::not_generated, std::move(pending.failure));
  Outcome outcome = make_outcome(id, pending, std::move(evaluation));
  append_and_tell(TrialType{std::move(pending.candidate), std::move(outcome)}, pending.proposal,
                  observers...);
}

template <class Policy, class Gen, class Eval>
template <class... Observers>
void Optimizer<Policy, Gen, Eval>::append_and_tell(TrialType trial,
                                                   const std::shared_ptr<const Proposal>& proposal,
                                                   Observers&... observers) {
  log_->append(std::move(trial));
  told_proposals_.push_back(proposal);
  const TrialType& told = log_->own_trials().back();
  (detail::notify_trial(observers, told, *proposal), ...);
  ++verdicts_[static_cast<std::size_t>(told.outcome.evaluation.verdict)];
  ++trials_since_gain_;
  const bool gain = told.outcome.ok() && (!best_ || told.outcome.objective < best_objective_);
  if (gain) {
    best_ = told.outcome.id;
    best_objective_ = told.outcome.objective;
    trials_since_gain_ = 0;
  }
  tell_policy(*proposal, told.outcome);
  if (gain) (detail::notify_best(observers, told), ...);
}

template <class Policy, class Gen, class Eval>
void Optimizer<Policy, Gen, Eval>::tell_policy(const Proposal& proposal, const Outcome& outcome) {
  const Observation<Proposal> observation{proposal, outcome};
  policy_.tell(std::span<const Observation<Proposal>>(&observation, 1));
}

template <class Policy, class Gen, class Eval>
EvaluationContext Optimizer<Policy, Gen, Eval>::context_for(TrialId id, const Proposal& proposal,
                                                            std::optional<double> incumbent) const {
  EvaluationContext context;
  context.trial = id;
  context.incumbent = incumbent;
  context.stop = options_.stop;
  context.budget = options_.budget;
  context.parents = parents_of(proposal);
  return context;
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
auto Optimizer<Policy, Gen, Eval>::ask(std::size_t n, Observers&... observers)
    -> std::vector<Job<Candidate>> {
  std::vector<Job<Candidate>> jobs;
  while (jobs.empty() && may_ask()) {
    const std::vector<Ticket> tickets = propose(n, observers...);
    if (tickets.empty()) {
      if (!pending_.empty()) break;
      if constexpr (AwaitingPolicy<Policy>)
        if (policy_.await()) continue;
      done_ = true;
      reason_ = "the policy has nothing more to propose";
      break;
    }
    for (const Ticket& ticket : tickets)
      for (const TrialId id : admit(ticket, generate(ticket), observers...)) {
        const Pending& pending = pending_.at(number(id));
        if (pending.candidate)
          jobs.push_back({id, *pending.candidate, context_for(id, *pending.proposal, ticket.incumbent)});
        else
          complete(id, {}, observers...);
      }
  }
  if (jobs.empty() && pending_.empty() && !done_ && !may_ask()) {
    done_ = true;
    reason_ = options_.stop.stop_requested() ? "stopped from outside" : "the trial budget is spent";
  }
  return jobs;
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
void Optimizer<Policy, Gen, Eval>::tell(TrialId id, Evaluation evaluation, Observers&... observers) {
  complete(id, std::move(evaluation), observers...);
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
auto Optimizer<Policy, Gen, Eval>::submit(Proposal point, Candidate candidate, Observers&... observers)
    -> std::optional<Job<Candidate>> {
  if (!DrawsOwnBudget<Eval> && !options_.budget->take()) return std::nullopt;
  const TrialId id{next_trial_++};
  (detail::notify_start(observers, id, candidate), ...);
  Job<Candidate> job{id, candidate,
                     context_for(id, point, best_ ? std::optional(best_objective_) : std::nullopt)};
  pending_.emplace(
      number(id),
      Pending{std::make_shared<const Proposal>(std::move(point)), std::nullopt, std::move(candidate), {}});
  return job;
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
TrialId Optimizer<Policy, Gen, Eval>::submit(Proposal point, Candidate candidate, Evaluation evaluation,
                                             Observers&... observers) {
  const TrialId id{next_trial_++};
  pending_.emplace(
      number(id),
      Pending{std::make_shared<const Proposal>(std::move(point)), std::nullopt, std::move(candidate), {}});
  complete(id, std::move(evaluation), observers...);
  return id;
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
void Optimizer<Policy, Gen, Eval>::revise(TrialId id, Evaluation evaluation, Observers&... observers) {
  if (!log_->contains(id))
    detail::raise<ConfigError>("revised a trial that was never told", "trial " + std::to_string(number(id)),
                               "tell it first");
  const std::size_t position = log_->position_of(id);
  Outcome outcome = log_->own_trials()[position].outcome;
  --verdicts_[static_cast<std::size_t>(outcome.evaluation.verdict)];
  ++verdicts_[static_cast<std::size_t>(evaluation.verdict)];
  outcome.objective = evaluation.verdict == Verdict::ok ? options_.objective(evaluation.measurement)
                                                        : std::numeric_limits<double>::infinity();
  outcome.evaluation = std::move(evaluation);
  log_->revise(outcome);
  const std::optional<TrialId> before = best_;
  best_.reset();
  for (const TrialType& trial : log_->own_trials()) update_best(trial.outcome);
  [[maybe_unused]] const TrialType& trial = log_->own_trials()[position];
  (detail::notify_revised(observers, trial), ...);
  tell_policy(*told_proposals_[position], trial.outcome);
  if (best_ && best_ != before) (detail::notify_best(observers, log_->own(*best_)), ...);
}

template <class Policy, class Gen, class Eval>
void Optimizer<Policy, Gen, Eval>::update_best(const Outcome& outcome) {
  if (!outcome.ok() || (best_ && outcome.objective >= best_objective_)) return;
  best_ = outcome.id;
  best_objective_ = outcome.objective;
}

template <class Policy, class Gen, class Eval>
void Optimizer<Policy, Gen, Eval>::resume(const RunRecord<Candidate, Proposal>& record) {
  if (next_trial_ != 0 || next_proposal_ != 0)
    detail::raise<ConfigError>("resumed an optimizer that has already worked",
                               std::to_string(next_trial_) + " trials", "resume right after construction");
  struct Outstanding {
    Ticket ticket;
    std::uint32_t left = 1;
    bool begun = false;
  };
  std::map<std::uint64_t, Outstanding> outstanding;
  for (const auto& event : record.events) {
    if (const auto* ask = std::get_if<AskEvent>(&event)) {
      std::vector<Ticket> tickets = propose(ask->wanted);
      if (tickets.size() != ask->returned)
        detail::raise<ConfigError>(
            "the policy does not repeat its recorded proposals",
            std::to_string(tickets.size()) + " instead of " + std::to_string(ask->returned),
            "resume with the policy, options, seed and version of the first part");
      // Where the first part waited for the policy's own work, so does this one: it decides what comes next.
      if constexpr (AwaitingPolicy<Policy>)
        if (tickets.empty() && outstanding.empty()) (void)policy_.await();
      for (Ticket& ticket : tickets) {
        const std::uint64_t id = number(ticket.id);
        outstanding.emplace(id, Outstanding{std::move(ticket)});
      }
      continue;
    }
    if (const auto* revised = std::get_if<RevisedEvent>(&event)) {
      revise(revised->outcome.id, revised->outcome.evaluation);
      continue;
    }
    const auto& told = std::get<ToldEvent<Candidate, Proposal>>(event);
    const Outcome& outcome = told.trial.outcome;
    std::shared_ptr<const Proposal> proposal;
    if (outcome.origin) {
      const auto found = outstanding.find(number(outcome.origin->proposal));
      if (found == outstanding.end())
        detail::raise<ConfigError>("the record tells a trial of a proposal that was never made",
                                   "proposal " + std::to_string(number(outcome.origin->proposal)),
                                   "the record is damaged: start a new run");
      Outstanding& entry = found->second;
      proposal = entry.ticket.proposal;
      if (told.proposal && !(*told.proposal == *proposal))
        detail::raise<ConfigError>("the policy does not repeat its recorded proposals",
                                   "proposal " + std::to_string(found->first) + " differs",
                                   "resume with the policy, options, seed and version of the first part");
      if (!entry.begun) entry.left = std::max<std::uint32_t>(outcome.origin->count, 1);
      entry.begun = true;
      entry.ticket.already_told.push_back(outcome.origin->index);
      if (!DrawsOwnBudget<Eval> || !told.trial.candidate) options_.budget->take();
      if (--entry.left == 0) outstanding.erase(found);
    } else {
      if (!told.proposal)
        detail::raise<ConfigError>("the record holds a foreign trial without its point",
                                   "trial " + std::to_string(number(outcome.id)),
                                   "the record is damaged: start a new run");
      proposal = std::make_shared<const Proposal>(*told.proposal);
    }
    next_trial_ = std::max(next_trial_, number(outcome.id) + 1);
    append_and_tell(told.trial, proposal);
  }
  if constexpr (DrawsOwnBudget<Eval>)
    for (std::uint64_t i = 0; i < record.inner_trials && options_.budget->take();) ++i;
  for (auto& [id, entry] : outstanding) backlog_.push_back(std::move(entry.ticket));
  seconds_before_ = record.seconds;
}

template <class Policy, class Gen, class Eval>
Evaluation Optimizer<Policy, Gen, Eval>::evaluate(const Candidate& candidate,
                                                  const EvaluationContext& context) {
  return evaluator_.evaluate(candidate, context);
}

template <class Policy, class Gen, class Eval>
template <class Rule, class... Observers>
bool Optimizer<Policy, Gen, Eval>::step_until(const Rule& rule, Observers&... observers) {
  std::vector<Job<Candidate>> jobs = ask(1, observers...);
  for (Job<Candidate>& job : jobs) {
    job.context.on_inner = [&](const InnerTrial& inner) {
      (detail::notify_inner(observers, job.id, inner), ...);
    };
    Evaluation evaluation = evaluate(job.candidate, job.context);
    // What was cut short by a stop is no verdict on the candidate.
    if (options_.stop.stop_requested() && evaluation.verdict != Verdict::ok) break;
    complete(job.id, std::move(evaluation), observers...);
    if (rule.reached(progress())) {
      reason_ = rule.describe();
      pending_.clear();
      return false;
    }
  }
  pending_.clear();
  return !done_;
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
requires(!std::same_as<Eval, External>) bool Optimizer<Policy, Gen, Eval>::step(Observers&... observers) {
  return step_until(Never{}, observers...);
}

template <class Policy, class Gen, class Eval>
template <StopRule Rule, class... Observers>
RunSummary Optimizer<Policy, Gen, Eval>::run(Rule rule, Observers&... observers) {
  static_assert(!std::same_as<Eval, External>, "run needs an evaluator; without one use ask and tell");
  static_assert(((sizeof(detail::ObserverCheck<Observers, Candidate, Proposal>) != 0) && ...));
  started_ = Clock::now();
  if (rule.reached(progress())) {
    reason_ = rule.describe();
  } else if (options_.in_flight > 1) {
    detail::Pipeline<Optimizer, Rule, Observers...> pipeline(*this, rule, observers...);
    pipeline.run();
  } else {
    while (step_until(rule, observers...)) {
    }
  }
  (detail::notify_end(observers, std::string_view(reason_)), ...);
  return summary();
}

template <class Policy, class Gen, class Eval>
RunProgress Optimizer<Policy, Gen, Eval>::progress() const {
  RunProgress progress;
  progress.trials = log_->own_trials().size();
  progress.trials_since_gain = trials_since_gain_;
  progress.seconds = seconds_before_ + std::chrono::duration<double>(Clock::now() - started_).count();
  if (best_) {
    progress.best = best_objective_;
    const auto& speedup = log_->own(*best_).outcome.evaluation.measurement.speedup;
    if (speedup) progress.best_speedup = speedup->ratio;
  }
  return progress;
}

template <class Policy, class Gen, class Eval>
RunSummary Optimizer<Policy, Gen, Eval>::summary() const {
  RunSummary summary;
  summary.reason = reason_;
  summary.trials = log_->own_trials().size();
  summary.verdicts = verdicts_;
  summary.best = best_;
  summary.seconds = progress().seconds;
  return summary;
}

}  // namespace kernelsearch
