// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "judge/fresh_inputs.hpp"
#include "judge/input_generator.hpp"
#include "judge/reference.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/correctness.hpp"
#include "kernelsearch/problem/inputs.hpp"

namespace kernelsearch::detail {

/// One set of inputs of a shape and, once asked for, what is right for it. Never leaves the controller but
/// for its inputs.
struct InputSet {
  std::uint64_t seed = 0;
  InputFlavour flavour = InputFlavour::declared;
  Contents contents;
  bool solved = false;
  bool lenient = false;                ///< what rounding costs the reference is in `slack`
  std::vector<OutputValues> expected;  ///< per argument
  /// Per argument, of structs for all elements of one field after those of another; see compare_floating.
  std::vector<std::vector<double>> slack;
};

/// Lets a candidate write what it likes where `set.expected[a]` says that nothing was written.
void allow_unwritten(const PlannedArgument& argument, InputSet& set, std::size_t a);

/// The seeds of the sets that one process was shown.
using ShownSets = std::unordered_set<std::uint64_t>;

/// Draws input sets from the system's entropy and keeps solved ones for later candidates. No process is shown
/// a set twice. Not thread-safe.
class InputSets {
 public:
  /// Sets for timed calls that are kept for one shape where the reference is expensive.
  static constexpr std::size_t library_sets = 16;

  InputSets(const Problem& problem, References& references, InputGenerator& generator, CheckOptions options);

  /// The sets that one candidate is checked on: see CheckOptions. Call it after the candidate is loaded, with
  /// the cheapest shape first.
  [[nodiscard]] std::vector<std::shared_ptr<InputSet>> for_check(const ShapePlan& plan, ShownSets& shown);

  /// A set of declared values for timed calls, those that `fresh` draws drawn in its way. Where the reference
  /// is expensive it is now and then one whose result is known and which this process was not shown
  /// (`solved`), chosen at random: so they come in late rounds and in pairs as well. Else it is new.
  [[nodiscard]] std::shared_ptr<InputSet> for_timing(const ShapePlan& plan, ShownSets& shown);

  /// A set for timed calls of the reference, which nobody verifies.
  [[nodiscard]] std::shared_ptr<InputSet> for_reference(const ShapePlan& plan);

  /// A set that no process was ever shown, drawn as those of timed calls are.
  [[nodiscard]] std::shared_ptr<InputSet> new_for_timing(const ShapePlan& plan);

  /// Whether one run of the reference more would pass what one candidate may cost.
  [[nodiscard]] bool is_expensive(const ShapePlan& plan) const { return expensive(plan, 1); }

  /// A set of these sizes whose result is known; nothing before the first check of the shape.
  [[nodiscard]] std::shared_ptr<InputSet> known(const ShapePlan& plan) const;

  /// Keeps a set for timed calls of later candidates, once it was solved and where it may be needed.
  void keep(const ShapePlan& plan, const InputSet& set);

  /// Solves a set more for timed calls where some are missing and the time spent on them so far is a small
  /// share of what passed; between candidates, as nobody waits for it then.
  void solve_ahead(const ShapePlan& plan);

  /// Declared contents, drawn as those of timed calls are.
  [[nodiscard]] Contents contents(const ShapePlan& plan, std::uint64_t seed);

  /// Contents of what `fresh` does not draw, for calls that are not verified.
  [[nodiscard]] const Contents& others(const ShapePlan& plan);

  /// How timed calls get contents of their own.
  [[nodiscard]] const FreshInputs& fresh(const ShapePlan& plan);

  /// Starts the account of reference time for a new candidate.
  void next_candidate();

  /// Asks the references what is right, unless known.
  void solve(const ShapePlan& plan, InputSet& set);

  /// What is wrong with outputs on a solved set. Where something is, what rounding costs the reference in the
  /// kernel's own precision, four times over, is allowed besides: parameters of a draw may make a plain sum
  /// of many elements less exact than the declared ones would.
  [[nodiscard]] std::optional<Fault> compare(const ShapePlan& plan, InputSet& set,
                                             const std::vector<std::vector<std::byte>>& got);

  /// Sets drawn and sets taken again since `next_candidate`.
  [[nodiscard]] std::pair<std::size_t, std::size_t> drawn_and_reused() const noexcept {
    return {drawn_, reused_};
  }
  /// Seeds of the sets used since `next_candidate`.
  [[nodiscard]] const std::vector<std::uint64_t>& seeds() const noexcept { return seeds_; }

 private:
  using Key = std::tuple<std::size_t, InputFlavour, std::vector<std::size_t>>;  // shape, flavour, array sizes
  using Kept = std::map<Key, std::deque<std::shared_ptr<InputSet>>>;
  [[nodiscard]] Key key_of(const ShapePlan& plan, InputFlavour flavour) const;
  std::shared_ptr<InputSet> draw(const ShapePlan& plan, InputFlavour flavour, ShownSets& shown);
  std::shared_ptr<InputSet> take(const ShapePlan& plan, InputFlavour flavour, ShownSets& shown);
  void note(const InputSet& set, ShownSets& shown);
  /// Whether `runs` of the reference more would pass what one candidate may cost.
  [[nodiscard]] bool expensive(const ShapePlan& plan, double runs) const;
  /// How many sets for timed calls are kept that need as much memory as this one.
  [[nodiscard]] static std::size_t room(const InputSet& set);
  /// Seconds of one run of the reference, from the last one of this shape; 0 before the first.
  [[nodiscard]] double cost(const ShapePlan& plan) const;

  const Problem& problem_;
  References& references_;
  InputGenerator& generator_;
  CheckOptions options_;
  Kept kept_, timing_;
  std::map<Key, FreshInputs> fresh_;
  std::map<Key, Contents> others_;
  std::map<Key, double> cost_;
  double spent_before_ = 0.0;
  double began_ = monotonic_seconds(), ahead_ = 0.0;  ///< of it on sets solved ahead
  Rng rng_{secret_seed()};                            ///< chooses among kept sets
  std::size_t drawn_ = 0, reused_ = 0;
  std::vector<std::uint64_t> seeds_;
};

/// The first output of `slot` that is not as expected, in words, with the share of right elements over all
/// outputs.
[[nodiscard]] std::optional<Fault> compare_outputs(const Problem& problem, const ShapePlan& plan,
                                                   const InputSet& set,
                                                   const std::vector<std::vector<std::byte>>& got);

}  // namespace kernelsearch::detail
