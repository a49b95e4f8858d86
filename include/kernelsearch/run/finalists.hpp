// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/history.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/evaluator/evaluation_context.hpp"
#include "kernelsearch/evaluator/judging_options.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/store/finalist_comparison.hpp"

namespace kernelsearch {

/// Looks for faults that judging may not show; what it finds replaces the finalist's evaluation.
using FinalistValidator = std::function<std::optional<Evaluation>(const Candidate&)>;

/// What is done with a finalist besides measuring it again.
struct FinalistSteps {
  std::function<void(TrialId)> tell = nullptr;  ///< hears of each before it is looked at
  /// Hears of each pair before it is timed; no opponent: the baseline.
  std::function<void(TrialId, std::optional<TrialId> opponent)> pairing = nullptr;
  FinalistValidator validate = nullptr;  ///< where set, nothing wins that it objects to
  std::string passed = {};               ///< feature that is 1 of those that it did not object to
  std::optional<Candidate> baseline =
      {};  ///< what all are compared with: the problem's default configuration
  /// Few pairs in each of four pairs of fresh processes: by as many in two the interval would be five times
  /// as wide (`combined_speedup`), so that every finalist would have to meet every other.
  PairOptions pairs = {.when = Pairing::always,
                       .min_pairs = 12,
                       .max_pairs = 48,
                       .precision = 0.01,
                       .budget_seconds = 0.6,
                       .rounds = 4};
};

inline constexpr std::size_t fewest_finalists = 3, most_finalists = 8;
/// What is slower than the best by this factor, bound to bound, is not a finalist however few there are: a
/// machine that misleads by as much in a trial misleads in pairs too.
inline constexpr double hopeless = 1.5;

/// The trials to be compared, best first: those that may be as fast as the best one, since the intervals of
/// their times overlap its, at most 8; of those that are not `hopeless` at least 3 where there are. Of equal
/// candidates the first.
[[nodiscard]] std::vector<TrialId> finalists_of(std::vector<const Trial<Candidate>*> trials);

/// Whether the candidates are the same code at the same configuration.
[[nodiscard]] bool same_candidate(const Candidate& a, const Candidate& b);

namespace detail {
/// Says of what was judged again that the validator had no objection.
void mark_passed(const FinalistSteps& steps, Evaluation& evaluation);

/// The shortest time of a right trial besides the best one.
template <class Search>
std::optional<double> next_best(Search& search) {
  std::optional<double> next;
  const TrialId best = search.best()->outcome.id;
  for (const auto& trial : search.trials())
    if (trial.outcome.ok() && trial.outcome.id != best) {
      const double seconds = trial.outcome.evaluation.measurement.seconds;
      next = next ? std::min(*next, seconds) : seconds;
    }
  return next;
}
}  // namespace detail

/// Measures the best again, in a fresh process with new inputs and in pairs with the reference, until the
/// best is one that was measured again: the winner is then not the luckiest of many noisy samples, and its
/// speedup is known. A finalist that the validator objects to loses its verdict, and the next best takes its
/// place. Returns those that it measured again.
template <class Search, class E, class... Observers>
std::set<TrialId> measure_finalists_again(Search& search, E& evaluator, const std::stop_token& stop,
                                          const FinalistSteps& steps, Observers&... observers) {
  constexpr std::size_t most = 10;  // a machine too noisy to agree with itself must not keep the user waiting
  std::set<TrialId> again, done;
  std::size_t measured = 0;
  while (search.best() != nullptr && !done.contains(search.best()->outcome.id)) {
    if (measured == most && !steps.validate) return done;
    const TrialId id = search.best()->outcome.id;
    const bool is_new = again.insert(id).second;  // or it is the best after all, and wants its pairs
    if (steps.tell) steps.tell(id);
    const Candidate candidate = [&]() -> Candidate {
      if constexpr (requires { evaluator.as_run(*search.best()); })
        return evaluator.as_run(*search.best());
      else
        return *search.best()->candidate;
    }();
    std::optional<Evaluation> objection;
    if (steps.validate && is_new) objection = steps.validate(candidate);
    if (stop.stop_requested()) return done;
    if (objection) {
      search.revise(id, std::move(*objection), observers...);
      continue;
    }
    if (measured == most) return done;
    ++measured;
    if constexpr (requires { evaluator.renew(); }) evaluator.renew();
    EvaluationContext context;
    context.stop = stop;
    context.finalist = true;
    if (is_new) context.rival = detail::next_best(search);
    Evaluation evaluation = evaluator.evaluate(*search.best()->candidate, context);
    // What was measured and paired before the stop counts.
    const bool cut = stop.stop_requested();
    if (cut && !(evaluation.verdict == Verdict::ok && evaluation.measurement.speedup)) return done;
    detail::mark_passed(steps, evaluation);
    // Without its pairs it is not known as a winner must be: if it is best after all it is measured again.
    if (!is_new || !evaluation.features.find("unpaired")) done.insert(id);
    search.revise(id, std::move(evaluation), observers...);
    if (cut) return done;
  }
  return done;
}

namespace detail {

/// What `what` gives for each index below `count`, on at most `lanes` threads; on this one where that is 1.
/// What it raises is raised here, once all threads have ended.
[[nodiscard]] std::vector<std::optional<Speedup>> each_on_a_lane(
    std::size_t lanes, std::size_t count, const std::function<std::optional<Speedup>(std::size_t)>& what);

/// The finalists of a search against each other.
template <class Search, class E>
class FinalistMatch {
 public:
  FinalistMatch(Search& search, E& evaluator, const std::stop_token& stop, const FinalistSteps& steps)
      : search_(search), evaluator_(evaluator), stop_(stop), steps_(steps) {
    steps_.pairs.stop = stop;
  }

  /// Times all of them against one opponent, then those that this leaves close against each other.
  void play(const std::vector<TrialId>& ids) {
    // Once: an evaluator that keeps a process (a GPU's) takes seconds to start another.
    if constexpr (requires { evaluator_.renew(); }) evaluator_.renew();
    const TrialId first = ids.front();
    alone_ = ids.size() == 1;
    std::vector<TrialId> others(ids.begin() + 1, ids.end());
    // With several devices the first does not go ahead, although without it there is nothing for the others
    // to meet: that is rare, and a device that waits is lost time.
    std::vector<TrialId> leading{first};
    if (lanes() > 1) leading.insert(leading.end(), others.begin(), others.end());
    std::vector<Entry> met;
    if (steps_.baseline) met = meet_all(leading, std::nullopt);
    baseline_met_ = !met.empty() && met.front().id == first;
    if (baseline_met_) {
      field_ = std::move(met);
      if (lanes() == 1) meet_others(others, std::nullopt);
    } else {
      field_.push_back({first, {1, {1, 1}, 0}});
      meet_others(others, first);
    }
    std::stable_sort(field_.begin(), field_.end(),
                     [](const Entry& a, const Entry& b) { return a.speedup.ratio > b.speedup.ratio; });
  }

  /// The fastest by its pairs that has not been sent off; nothing where fewer than two could be compared, but
  /// for the default configuration that all others are hopelessly behind.
  [[nodiscard]] std::optional<TrialId> winner() {
    const bool default_alone = alone_ && baseline_met_ && field_.size() == 1;
    if (field_.empty() || (pairs_.empty() && !default_alone)) return std::nullopt;
    Entry champion = field_.front();
    for (std::size_t i = 1; i < field_.size() && !stop_.stop_requested(); ++i) {
      const Entry& challenger = field_[i];
      auto speedup = known(challenger.id, champion.id);
      if (!speedup && may_be_faster(challenger.speedup, champion.speedup))
        speedup = meet(challenger.id, champion.id);
      if (speedup && speedup->ratio > 1) champion = challenger;
    }
    return champion.id;
  }

  /// It turned out not to be ok.
  void send_off(TrialId id) {
    std::erase_if(field_, [id](const Entry& entry) { return entry.id == id; });
  }

  [[nodiscard]] Candidate candidate_of(TrialId id) {
    const Trial<Candidate>& trial = search_.log().own(id);
    if constexpr (requires { evaluator_.as_run(trial); })
      return evaluator_.as_run(trial);
    else
      return *trial.candidate;
  }
  [[nodiscard]] bool is_baseline(TrialId id) {
    return steps_.baseline && same_candidate(candidate_of(id), *steps_.baseline);
  }
  /// The trial of the default configuration where the pairs do not show that this finalist is faster: a tie
  /// is the default's.
  [[nodiscard]] std::optional<TrialId> tied_default(TrialId winner) {
    if (!baseline_met_) return std::nullopt;
    const auto over_default = known(winner, std::nullopt);
    if (!over_default || over_default->interval.low > 1) return std::nullopt;
    for (const Trial<Candidate>& trial : search_.trials())
      if (trial.outcome.ok() && trial.candidate && is_baseline(trial.outcome.id)) return trial.outcome.id;
    return std::nullopt;
  }
  [[nodiscard]] std::vector<FinalistPair> pairs() const { return pairs_; }

 private:
  struct Entry {
    TrialId id{};
    Speedup speedup;  ///< over the opponent of all
  };

  /// Pairs that can be timed at the same time, each on a device of its own.
  [[nodiscard]] std::size_t lanes() const {
    if constexpr (requires { evaluator_.lanes(); })
      return static_cast<std::size_t>(evaluator_.lanes());
    else
      return 1;
  }

  void meet_others(const std::vector<TrialId>& ids, std::optional<TrialId> opponent) {
    for (Entry& entry : meet_all(ids, opponent)) field_.push_back(std::move(entry));
  }

  /// Those that could be compared with the opponent, in their order; each pair is timed on one device.
  std::vector<Entry> meet_all(const std::vector<TrialId>& ids, std::optional<TrialId> opponent) {
    std::vector<Candidate> candidates;
    for (const TrialId id : ids) candidates.push_back(candidate_of(id));
    const Candidate other = opponent ? candidate_of(*opponent) : *steps_.baseline;
    const bool together = lanes() > 1;
    for (std::size_t i = 0; together && i < ids.size(); ++i)
      if (!same_candidate(candidates[i], other)) announce(ids[i], opponent);
    const auto speedups = each_on_a_lane(lanes(), ids.size(), [&](std::size_t i) -> std::optional<Speedup> {
      if (same_candidate(candidates[i], other)) return Speedup{1, {1, 1}, 0};
      if (stop_.stop_requested() || !able_) return std::nullopt;
      if (!together) announce(ids[i], opponent);
      return timed(candidates[i], other);
    });
    std::vector<Entry> met;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (speedups[i]) met.push_back(noted(ids[i], opponent, *speedups[i]));
    return met;
  }

  [[nodiscard]] std::optional<Speedup> known(TrialId candidate, std::optional<TrialId> opponent) const {
    for (const FinalistPair& pair : pairs_)
      if (pair.candidate == candidate && pair.opponent == opponent) return pair.speedup;
    return std::nullopt;
  }

  /// Whether what both gained over the opponent of all leaves it open that the challenger is faster than the
  /// champion by more than pairs tell: a match between those that are as good as equal decides nothing.
  [[nodiscard]] bool may_be_faster(const Speedup& challenger, const Speedup& champion) const {
    const double above = std::log(challenger.interval.high / challenger.ratio);
    const double below = std::log(champion.ratio / champion.interval.low);
    const double most = challenger.ratio / champion.ratio * std::exp(std::hypot(above, below));
    return !(most <= 1 + steps_.pairs.precision);
  }

  /// The opponent's time divided by the candidate's; nothing where that cannot be had.
  std::optional<Speedup> meet(TrialId id, TrialId opponent) {
    const std::vector<Entry> met = meet_all({id}, opponent);
    return met.empty() ? std::nullopt : std::optional(met.front().speedup);
  }

  void announce(TrialId id, std::optional<TrialId> opponent) const {
    if (steps_.pairing) steps_.pairing(id, opponent);
  }

  /// From any thread.
  std::optional<Speedup> timed(const Candidate& candidate, const Candidate& other) {
    try {
      std::optional<Speedup> speedup = evaluator_.compare(candidate, other, steps_.pairs);
      if (!speedup) able_ = false;
      if (!speedup || speedup->pairs == 0 || !(speedup->ratio > 0)) return std::nullopt;
      return speedup;
    } catch (const ConfigError&) {
      return std::nullopt;  // one of them is no longer ok
    }
  }

  Entry noted(TrialId id, std::optional<TrialId> opponent, const Speedup& speedup) {
    if (speedup.pairs > 0) pairs_.push_back({id, opponent, speedup});
    return {id, speedup};
  }

  Search& search_;
  E& evaluator_;
  std::stop_token stop_;
  FinalistSteps steps_;
  std::vector<Entry> field_;
  std::vector<FinalistPair> pairs_;
  bool baseline_met_ = false;
  bool alone_ = false;             ///< there was one finalist
  std::atomic<bool> able_ = true;  ///< the evaluator can compare
};

}  // namespace detail

/// Why the winner's time is another than the best that the search showed, for the one who reads both; empty
/// where it is the same trial and its time differs by less than 1 %. `shown` is the outcome of the search's
/// best before finalists were measured again.
[[nodiscard]] std::string winner_remark(const Outcome& shown, const Outcome& winner);

/// Measures the finalists again as `measure_finalists_again`, then times the best few in fresh processes in
/// interleaved pairs: all against the default configuration, and those that this leaves close against each
/// other. The order of the pairs says which won, also where another one was measured to be faster on its own:
/// the smallest of many noisy times is mostly luck. A finalist that is not surely faster than the default
/// configuration leaves the win to it, where it was tried. Nothing where the evaluator cannot compare
/// candidates or the stop came too early; the lowest objective then stands.
template <class Search, class E, class... Observers>
std::optional<FinalistComparison> choose_winner(Search& search, E& evaluator, const std::stop_token& stop,
                                                const FinalistSteps& steps, Observers&... observers) {
  std::set<TrialId> again = measure_finalists_again(search, evaluator, stop, steps, observers...);
  if constexpr (!requires(const Candidate& c) { evaluator.compare(c, c, PairOptions{}); }) {
    return std::nullopt;
  } else {
    if (stop.stop_requested() || search.best() == nullptr) return std::nullopt;
    std::vector<const Trial<Candidate>*> right;
    for (const Trial<Candidate>& trial : search.trials())
      if (trial.outcome.ok() && trial.candidate) right.push_back(&trial);
    const std::vector<TrialId> finalists = finalists_of(std::move(right));
    if (finalists.empty()) return std::nullopt;
    detail::FinalistMatch match(search, evaluator, stop, steps);
    match.play(finalists);
    while (true) {
      std::optional<TrialId> winner = match.winner();
      if (!winner) return std::nullopt;
      if (const auto tied = match.tied_default(*winner)) winner = tied;
      // What wins has passed all that the best on its own has: the validator, and a fresh process.
      if (!again.contains(*winner) && !stop.stop_requested()) {
        const Candidate candidate = match.candidate_of(*winner);
        std::optional<Evaluation> evaluation;
        if (steps.validate) evaluation = steps.validate(candidate);
        if (!evaluation) {
          if constexpr (requires { evaluator.renew(); }) evaluator.renew();
          EvaluationContext context;
          context.stop = stop;
          context.finalist = true;
          evaluation = evaluator.evaluate(*search.log().own(*winner).candidate, context);
          detail::mark_passed(steps, *evaluation);
        }
        if (!stop.stop_requested() || evaluation->verdict == Verdict::ok) {
          again.insert(*winner);
          const bool ok = evaluation->verdict == Verdict::ok;
          search.revise(*winner, *std::move(evaluation), observers...);
          if (!ok) {
            match.send_off(*winner);
            continue;
          }
        }
      }
      if (!again.contains(*winner)) {
        if (steps.validate) return std::nullopt;
        // The stop came before the winner's own pairs: it does not take the place of one that has them.
        const auto has_speedup = [&](TrialId id) {
          return search.log().own(id).outcome.evaluation.measurement.speedup.has_value();
        };
        if (has_speedup(search.best()->outcome.id) && !has_speedup(*winner)) return std::nullopt;
      }
      return FinalistComparison{*winner, search.trials().size(), match.is_baseline(*winner), match.pairs()};
    }
  }
}

}  // namespace kernelsearch
