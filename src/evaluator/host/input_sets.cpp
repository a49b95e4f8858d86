// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/input_sets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace kernelsearch::detail {
namespace {

constexpr std::size_t kept_sets = 4;                        // per shape and flavour
constexpr std::size_t kept_bytes = std::size_t{256} << 20;  // larger sets are kept singly

bool drawn_at_random(const PlannedArgument& argument) {
  return argument.is_input() && (argument.initialisation == Initialisation::uniform ||
                                 argument.initialisation == Initialisation::normal);
}

std::size_t bytes_of(const InputSet& set) {
  std::size_t bytes = 0;
  for (const auto& content : set.contents) bytes += content.size();
  return bytes;
}

// What an honest kernel may be off by on inputs made to provoke rounding. Two parts for each element: the
// relative tolerance applied to the result that the absolute values of the inputs give (for sums of products
// the sum of magnitudes, the usual condition-aware bound; Higham, Accuracy and Stability, section 3.1), and
// four times the error that the reference itself makes in the kernel's precision. Where that overflows,
// nothing is asked.
std::vector<double> slack_of(const OutputValues& exact, const OutputValues& magnitude,
                             const OutputValues& kernel, const Tolerance& tolerance) {
  std::vector<double> slack(exact.floating.size());
  for (std::size_t i = 0; i < slack.size(); ++i) {
    const double e = exact.floating[i], m = std::abs(magnitude.floating[i]), k = kernel.floating[i];
    if (std::isinf(e) && k == e) continue;
    const bool tame = std::isfinite(e) && std::isfinite(m) && std::isfinite(k);
    slack[i] = tame ? tolerance.relative * std::max(0.0, m - std::abs(e)) + 4 * std::abs(k - e)
                    : std::numeric_limits<double>::infinity();
  }
  return slack;
}

}  // namespace

InputSets::InputSets(const Problem& problem, References& references, CheckOptions options)
    : problem_(problem), references_(references), options_(options) {}

InputSets::Key InputSets::key_of(const ShapePlan& plan, InputFlavour flavour) const {
  std::vector<std::size_t> sizes;
  for (const auto& argument : plan.arguments) sizes.push_back(argument.count);
  return {plan.shape, flavour, std::move(sizes)};
}

std::shared_ptr<InputSet> InputSets::draw(const ShapePlan& plan, InputFlavour flavour) {
  auto set = std::make_shared<InputSet>();
  set->seed = secret_seed();
  set->flavour = flavour;
  set->contents.resize(plan.arguments.size());
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const PlannedArgument& argument = plan.arguments[a];
    if (!argument.is_input()) continue;
    set->contents[a].resize(argument.count * size_in_bytes(argument.type));
    Rng rng = Rng::stream(set->seed, problem_.arguments[a].name);
    fill_input(problem_.arguments[a], argument.count, flavour, rng, set->contents[a].data());
  }
  auto& kept = kept_[key_of(plan, flavour)];
  kept.push_back(set);
  while (kept.size() > (bytes_of(*set) > kept_bytes / kept_sets ? 1 : kept_sets)) kept.pop_front();
  ++drawn_;
  seeds_.push_back(set->seed);
  return set;
}

double InputSets::cost(const ShapePlan& plan) const {
  const auto known = cost_.find(key_of(plan, InputFlavour::declared));
  return known == cost_.end() ? 0.0 : known->second;
}

bool InputSets::dear(const ShapePlan& plan, double runs) const {
  return references_.spent_seconds() - spent_before_ + runs * cost(plan) > options_.fresh_seconds;
}

std::shared_ptr<InputSet> InputSets::take(const ShapePlan& plan, InputFlavour flavour) {
  const auto kept = kept_.find(key_of(plan, flavour));
  // Two at least, in turns, so that timed calls do not see the set that they were checked on last.
  if (!dear(plan, 1) || kept == kept_.end() || kept->second.size() < 2) return draw(plan, flavour);
  auto set = kept->second.front();
  kept->second.pop_front();
  kept->second.push_back(set);
  ++reused_;
  seeds_.push_back(set->seed);
  return set;
}

std::vector<std::shared_ptr<InputSet>> InputSets::for_check(const ShapePlan& plan) {
  const bool first_shape = drawn_ == 0;
  std::vector<std::shared_ptr<InputSet>> sets;
  sets.push_back(first_shape ? draw(plan, InputFlavour::declared) : take(plan, InputFlavour::declared));
  solve(plan, *sets.front());  // tells what the reference costs
  while (sets.size() < options_.seeds) sets.push_back(take(plan, InputFlavour::declared));
  const auto special = [&](InputFlavour flavour) {
    constexpr double runs = 3;  // exact, of magnitudes, in the kernel's precision
    const auto kept = kept_.find(key_of(plan, flavour));
    const bool known = kept != kept_.end() && !kept->second.empty();
    if (known && dear(plan, runs)) {
      ++reused_;
      seeds_.push_back(kept->second.back()->seed);
      sets.push_back(kept->second.back());
    } else if (first_shape || cost(plan) <= options_.special_seconds) {
      sets.push_back(draw(plan, flavour));
    }
  };
  const auto& arguments = plan.arguments;
  if (options_.edge && std::any_of(arguments.begin(), arguments.end(), drawn_at_random))
    special(InputFlavour::edge);
  if (options_.ill_conditioned &&
      std::any_of(arguments.begin(), arguments.end(), [](const PlannedArgument& argument) {
        return drawn_at_random(argument) && is_floating(argument.type);
      }))
    special(InputFlavour::ill_conditioned);
  return sets;
}

std::shared_ptr<InputSet> InputSets::for_timing(const ShapePlan& plan) {
  return take(plan, InputFlavour::declared);
}

void InputSets::next_candidate() {
  spent_before_ = references_.spent_seconds();
  drawn_ = reused_ = 0;
  seeds_.clear();
}

void InputSets::solve(const ShapePlan& plan, InputSet& set) {
  if (set.solved) return;
  const double begin = references_.spent_seconds();
  set.expected = references_.exact(plan, set.contents);
  cost_[key_of(plan, InputFlavour::declared)] = references_.spent_seconds() - begin;
  set.slack.resize(plan.arguments.size());
  const bool lenient = set.flavour != InputFlavour::declared;
  std::vector<OutputValues> magnitude, kernel;
  if (lenient) {
    Contents absolute = set.contents;
    for (std::size_t a = 0; a < absolute.size(); ++a) {
      const ElementType type = plan.arguments[a].type;
      if (!is_floating(type)) continue;
      const std::size_t size = size_in_bytes(type);
      for (std::size_t i = size - 1; i < absolute[a].size(); i += size)
        absolute[a][i] &= std::byte{0x7f};  // the sign
    }
    magnitude = references_.exact(plan, absolute);
    kernel = references_.in_kernel_precision(plan, set.contents);
  }
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const PlannedArgument& argument = plan.arguments[a];
    const OutputValues& expected = set.expected[a];
    if (!argument.is_output()) continue;
    if (lenient && is_floating(argument.type))
      set.slack[a] = slack_of(expected, magnitude[a], kernel[a], argument.tolerance);
    if (expected.unwritten.empty()) continue;
    set.slack[a].resize(argument.count);
    for (std::size_t i = 0; i < argument.count; ++i)
      if (expected.unwritten[i]) set.slack[a][i] = std::numeric_limits<double>::infinity();
  }
  set.solved = true;
}

std::optional<Fault> compare_outputs(const Problem& problem, const ShapePlan& plan, const InputSet& set,
                                     const std::vector<std::vector<std::byte>>& got) {
  std::optional<Fault> fault;
  std::size_t elements = 0, wrong = 0;
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const PlannedArgument& argument = plan.arguments[a];
    if (!argument.is_output()) continue;
    const Comparison comparison =
        is_floating(argument.type)
            ? compare_floating(argument.type, got[a].data(), set.expected[a].floating, argument.tolerance,
                               set.slack[a])
            : compare_integers(argument.type, got[a].data(), set.expected[a].integers.data(), argument.count,
                               argument.tolerance);
    elements += comparison.elements - comparison.exempt;
    wrong += comparison.wrong;
    if (comparison.ok() || fault) continue;
    constexpr const char* flavours[] = {"declared", "edge", "ill-conditioned"};
    char text[512];
    std::snprintf(
        text, sizeof text,
        "%s[%zu] is %.9g, expected %.9g within %.3g; %.4g %% of %s wrong (shape %s, %s inputs, seed %#llx)",
        problem.arguments[a].name.c_str(), comparison.first->index, comparison.first->got,
        comparison.first->expected, comparison.first->allowed, 100 * (1 - comparison.right_share()),
        problem.arguments[a].name.c_str(), problem.shapes[plan.shape].name.c_str(),
        flavours[static_cast<int>(set.flavour)], static_cast<unsigned long long>(set.seed));
    fault = Fault{Verdict::wrong_result, text};
  }
  if (fault && elements != 0)
    fault->right_share = 1.0 - static_cast<double>(wrong) / static_cast<double>(elements);
  return fault;
}

}  // namespace kernelsearch::detail
