// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/input_sets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "judge/output_text.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::size_t kept_sets = 4;                        // per shape and flavour
constexpr std::size_t kept_bytes = std::size_t{256} << 20;  // larger sets are kept singly
// Rounds of timed calls in which one has a known result, while there are unseen ones: more would be used up
// by the first rounds, and a kernel that begins to cheat later would meet few.
constexpr double known_share = 0.25;
// What solving sets ahead may take of the time that passes: trials get no slower by more than that.
constexpr double ahead_share = 0.05;

bool has_edge_inputs(const PlannedArgument& argument) {
  return argument.is_input() && has_edge_flavour(argument.initialisation);
}

bool has_floats(const PlannedArgument& argument) {
  const auto columns = columns_of(argument);
  return std::any_of(columns.begin(), columns.end(),
                     [](const Column& column) { return is_floating(column.type); });
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

void allow_unwritten(const PlannedArgument& argument, InputSet& set, std::size_t a) {
  const auto& unwritten = set.expected[a].unwritten;
  const std::size_t columns = argument.structure != nullptr ? set.expected[a].fields.size() : 1;
  const std::size_t together = stored_together(argument.type), elements = argument.elements();
  if (!unwritten.empty()) set.slack[a].resize(elements * columns);
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t i = 0; i < unwritten.size() * together; ++i)
      if (unwritten[i / together]) set.slack[a][c * elements + i] = std::numeric_limits<double>::infinity();
}

InputSets::InputSets(const Problem& problem, References& references, InputGenerator& generator,
                     CheckOptions options)
    : problem_(problem), references_(references), generator_(generator), options_(options) {}

InputSets::Key InputSets::key_of(const ShapePlan& plan, InputFlavour flavour) const {
  std::vector<std::size_t> sizes;
  for (const auto& argument : plan.arguments) sizes.push_back(argument.count);
  return {plan.shape, flavour, std::move(sizes)};
}

void InputSets::note(const InputSet& set, ShownSets& shown) {
  shown.insert(set.seed);
  seeds_.push_back(set.seed);
}

std::shared_ptr<InputSet> InputSets::draw(const ShapePlan& plan, InputFlavour flavour, ShownSets& shown) {
  auto set = std::make_shared<InputSet>();
  set->seed = secret_seed();
  set->flavour = flavour;
  set->contents = flavour == InputFlavour::declared ? contents(plan, set->seed)
                                                    : generator_.contents(plan, flavour, set->seed);
  auto& kept = kept_[key_of(plan, flavour)];
  kept.push_back(set);
  while (kept.size() > (bytes_of(*set) > kept_bytes / kept_sets ? 1 : kept_sets)) kept.pop_front();
  ++drawn_;
  note(*set, shown);
  return set;
}

double InputSets::cost(const ShapePlan& plan) const {
  const auto known = cost_.find(key_of(plan, InputFlavour::declared));
  return known == cost_.end() ? 0.0 : known->second;
}

bool InputSets::expensive(const ShapePlan& plan, double runs) const {
  return references_.spent_seconds() - spent_before_ + runs * cost(plan) > options_.fresh_seconds;
}

std::shared_ptr<InputSet> InputSets::take(const ShapePlan& plan, InputFlavour flavour, ShownSets& shown) {
  const auto kept = kept_.find(key_of(plan, flavour));
  if (!expensive(plan, 1) || kept == kept_.end()) return draw(plan, flavour, shown);
  const auto unseen = std::find_if(kept->second.begin(), kept->second.end(),
                                   [&](const auto& set) { return !shown.contains(set->seed); });
  if (unseen == kept->second.end()) return draw(plan, flavour, shown);
  ++reused_;
  note(**unseen, shown);
  return *unseen;
}

std::vector<std::shared_ptr<InputSet>> InputSets::for_check(const ShapePlan& plan, ShownSets& shown) {
  const bool first_shape = drawn_ == 0;
  std::vector<std::shared_ptr<InputSet>> sets;
  sets.push_back(first_shape ? draw(plan, InputFlavour::declared, shown)
                             : take(plan, InputFlavour::declared, shown));
  solve(plan, *sets.front());  // tells what the reference costs
  while (sets.size() < options_.seeds) sets.push_back(take(plan, InputFlavour::declared, shown));
  const auto special = [&](InputFlavour flavour) {
    constexpr double runs = 3;  // exact, of magnitudes, in the kernel's precision
    const auto kept = kept_.find(key_of(plan, flavour));
    const bool known = kept != kept_.end() && !kept->second.empty();
    if (known && expensive(plan, runs) && !shown.contains(kept->second.back()->seed)) {
      ++reused_;
      note(*kept->second.back(), shown);
      sets.push_back(kept->second.back());
    } else if (first_shape || cost(plan) <= options_.special_seconds) {
      sets.push_back(draw(plan, flavour, shown));
    }
  };
  const auto& arguments = plan.arguments;
  if (options_.edge && std::any_of(arguments.begin(), arguments.end(), has_edge_inputs))
    special(InputFlavour::edge);
  if (options_.ill_conditioned &&
      std::any_of(arguments.begin(), arguments.end(), [](const PlannedArgument& argument) {
        return has_edge_inputs(argument) && argument.initialisation != Initialisation::offsets &&
               has_floats(argument);
      }))
    special(InputFlavour::ill_conditioned);
  return sets;
}

const Contents& InputSets::others(const ShapePlan& plan) {
  Contents& contents = others_[key_of(plan, InputFlavour::declared)];
  if (contents.empty())
    contents = generator_.contents(plan, InputFlavour::declared, secret_seed(), fresh(plan).others());
  return contents;
}

Contents InputSets::contents(const ShapePlan& plan, std::uint64_t seed) {
  const FreshInputs& fresh = this->fresh(plan);
  Contents contents = generator_.contents(plan, InputFlavour::declared, seed, fresh.others());
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    if (!fresh.draws(a)) continue;
    contents[a].resize(plan.arguments[a].count * plan.arguments[a].element_bytes());
    fresh.draw(a, plan.arguments[a].count, Rng::stream(seed, problem_.arguments[a].name)(),
               contents[a].data());
  }
  fresh.quantise_into(contents, seed);
  return contents;
}

const FreshInputs& InputSets::fresh(const ShapePlan& plan) {
  const Key key = key_of(plan, InputFlavour::declared);
  const auto known = fresh_.find(key);
  if (known != fresh_.end()) return known->second;
  FreshInputs& fresh = fresh_.emplace(key, FreshInputs(problem_, plan, secret_seed())).first->second;
  // A matrix from a file is the same in every call.
  if (problem_.generator && problem_.generator->matrix_market.empty()) fresh.generate_by(generator_, plan);
  return fresh;
}

std::shared_ptr<InputSet> InputSets::new_for_timing(const ShapePlan& plan) {
  auto set = std::make_shared<InputSet>();
  set->seed = secret_seed();
  set->contents = contents(plan, set->seed);
  return set;
}

std::shared_ptr<InputSet> InputSets::for_timing(const ShapePlan& plan, ShownSets& shown) {
  std::vector<std::shared_ptr<InputSet>> unseen;
  if (expensive(plan, 1) && rng_.chance(known_share))
    for (const auto& set : timing_[key_of(plan, InputFlavour::declared)])
      if (!shown.contains(set->seed)) unseen.push_back(set);
  const bool reuse = !unseen.empty();
  const auto set = reuse ? unseen[rng_.below(unseen.size())] : new_for_timing(plan);
  ++(reuse ? reused_ : drawn_);
  note(*set, shown);
  return set;
}

std::shared_ptr<InputSet> InputSets::for_reference(const ShapePlan& plan) {
  auto set = std::make_shared<InputSet>();
  set->seed = secret_seed();
  set->contents = others(plan);
  return set;
}

std::shared_ptr<InputSet> InputSets::known(const ShapePlan& plan) const {
  const auto kept = kept_.find(key_of(plan, InputFlavour::declared));
  if (kept == kept_.end()) return nullptr;
  const auto solved =
      std::find_if(kept->second.begin(), kept->second.end(), [](const auto& set) { return set->solved; });
  return solved == kept->second.end() ? nullptr : *solved;
}

std::size_t InputSets::room(const InputSet& set) {
  return std::clamp<std::size_t>(kept_bytes / std::max<std::size_t>(bytes_of(set), 1), 1, library_sets);
}

void InputSets::keep(const ShapePlan& plan, const InputSet& set) {
  // A reference that answers for a whole candidate within its time is asked anew for each.
  if (!set.solved || static_cast<double>(library_sets) * cost(plan) < options_.fresh_seconds) return;
  auto& kept = timing_[key_of(plan, InputFlavour::declared)];
  const bool there =
      std::any_of(kept.begin(), kept.end(), [&](const auto& one) { return one->seed == set.seed; });
  if (there || kept.size() >= room(set)) return;
  kept.push_back(std::make_shared<InputSet>(set));
}

void InputSets::solve_ahead(const ShapePlan& plan) {
  const double seconds = cost(plan), left = ahead_share * (monotonic_seconds() - began_) - ahead_;
  if (static_cast<double>(library_sets) * seconds < options_.fresh_seconds || seconds > left) return;
  const auto& kept = timing_[key_of(plan, InputFlavour::declared)];
  if (!kept.empty() && kept.size() >= room(*kept.front())) return;
  const auto set = new_for_timing(plan);
  const double before = references_.spent_seconds();
  solve(plan, *set);
  ahead_ += references_.spent_seconds() - before;
  keep(plan, *set);
}

void InputSets::next_candidate() {
  spent_before_ = references_.spent_seconds();
  drawn_ = reused_ = 0;
  seeds_.clear();
}

void InputSets::solve(const ShapePlan& plan, InputSet& set) {
  if (set.solved) return;
  const double begin = references_.spent_seconds();
  set.expected = problem_.bit_exact ? references_.in_kernel_precision(plan, set.contents)
                                    : references_.exact(plan, set.contents);
  cost_[key_of(plan, InputFlavour::declared)] = references_.spent_seconds() - begin;
  set.slack.resize(plan.arguments.size());
  const bool lenient = set.flavour != InputFlavour::declared && !problem_.bit_exact;
  std::vector<OutputValues> magnitude, kernel;
  if (lenient) {
    Contents absolute = set.contents;
    for (std::size_t a = 0; a < absolute.size(); ++a)
      absolute[a] = without_signs(problem_.arguments[a], std::move(absolute[a]));
    magnitude = references_.exact(plan, absolute);
    kernel = references_.in_kernel_precision(plan, set.contents);
  }
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const PlannedArgument& argument = plan.arguments[a];
    const OutputValues& expected = set.expected[a];
    if (!argument.is_output()) continue;
    std::vector<double>& slack = set.slack[a];
    const std::size_t columns = argument.structure != nullptr ? expected.fields.size() : 1;
    if (lenient) slack.resize(argument.elements() * columns);
    for (std::size_t c = 0; c < columns; ++c) {
      const auto column = [&](const OutputValues& whole) -> const OutputValues& {
        return argument.structure != nullptr ? whole.fields[c] : whole;
      };
      if (lenient && !column(expected).floating.empty()) {
        const Tolerance tolerance = argument.structure != nullptr
                                        ? problem_.tolerance_of(argument.structure->fields[c].type)
                                        : argument.tolerance;
        const auto allowed = slack_of(column(expected), column(magnitude[a]), column(kernel[a]), tolerance);
        std::copy(allowed.begin(), allowed.end(),
                  slack.begin() + static_cast<std::ptrdiff_t>(c * argument.elements()));
      }
    }
    allow_unwritten(argument, set, a);
  }
  set.solved = true;
}

std::optional<Fault> InputSets::compare(const ShapePlan& plan, InputSet& set,
                                        const std::vector<std::vector<std::byte>>& got) {
  auto fault = compare_outputs(problem_, plan, set, got);
  if (!fault || set.lenient || set.flavour != InputFlavour::declared || problem_.bit_exact ||
      !references_.independent())
    return fault;
  set.lenient = true;
  const std::vector<OutputValues> kernel = references_.in_kernel_precision(plan, set.contents);
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const PlannedArgument& argument = plan.arguments[a];
    if (!argument.is_output()) continue;
    const bool fields = argument.structure != nullptr;
    const std::size_t columns = fields ? set.expected[a].fields.size() : 1;
    set.slack[a].resize(argument.elements() * columns);
    for (std::size_t c = 0; c < columns; ++c) {
      const auto& exact = (fields ? set.expected[a].fields[c] : set.expected[a]).floating;
      const auto& rounded = (fields ? kernel[a].fields[c] : kernel[a]).floating;
      for (std::size_t i = 0; i < exact.size(); ++i)
        if (const double error = std::abs(rounded[i] - exact[i]); std::isfinite(error))
          set.slack[a][c * argument.elements() + i] += 4 * error;
    }
  }
  return compare_outputs(problem_, plan, set, got);
}

namespace {

/// The bits of an element.
std::uint64_t bits_at(ElementType type, const std::byte* array, std::size_t index) {
  std::uint64_t value = 0;
  if (!is_packed(type)) {
    const std::size_t size = size_in_bytes(type);
    std::memcpy(&value, array + index * size, size);
    return value;
  }
  return static_cast<std::uint64_t>(array[index / 2]) >> (index % 2 == 0 ? 0 : 4) & 15u;
}

/// The same in hexadecimal.
std::string bits_of(ElementType type, const std::byte* array, std::size_t index) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%0*llx",
                static_cast<int>(is_packed(type) ? 1 : 2 * size_in_bytes(type)),
                static_cast<unsigned long long>(bits_at(type, array, index)));
  return text;
}

/// The bits that the reference's value has in the output's own type.
std::vector<std::byte> expected_bits(ElementType type, const std::vector<double>& values) {
  std::vector<std::byte> bits(values.size() / stored_together(type) * size_in_bytes(type));
  for (std::size_t i = 0; i < values.size(); ++i) store_element(type, values[i], bits.data(), i);
  return bits;
}

Comparison compare_bits(ElementType type, const std::byte* got, const std::byte* expected, std::size_t count,
                        std::span<const double> slack) {
  Comparison result;
  result.elements = count;
  for (std::size_t i = 0; i < count; ++i) {
    if (!slack.empty() && std::isinf(slack[i])) {
      ++result.exempt;
      continue;
    }
    if (bits_at(type, got, i) == bits_at(type, expected, i)) continue;
    const double value = load_element(type, got, i), wanted = load_element(type, expected, i);
    if (is_floating(type) && std::isnan(value) && std::isnan(wanted)) continue;
    if (result.wrong++ == 0) result.first = {i, value, wanted, 0.0};
  }
  return result;
}

}  // namespace

std::optional<Fault> compare_outputs(const Problem& problem, const ShapePlan& plan, const InputSet& set,
                                     const std::vector<std::vector<std::byte>>& got) {
  std::optional<Fault> fault;
  std::size_t elements = 0, wrong = 0;
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const PlannedArgument& argument = plan.arguments[a];
    if (!argument.is_output()) continue;
    const auto columns = columns_of(argument);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Column& column = columns[c];
      const bool field = argument.structure != nullptr;
      const OutputValues& expected = field ? set.expected[a].fields[c] : set.expected[a];
      Tolerance tolerance = tolerance_for(
          column.type, field ? problem.tolerance_of(column.type) : argument.tolerance, expected.floating);
      if (problem.bit_exact) tolerance = Tolerance{};
      const std::size_t count = argument.elements();
      const std::span<const double> all = set.slack[a];
      const auto slack = all.empty() ? all : all.subspan(c * count, count);
      std::vector<std::byte> copy;
      if (field) copy = gathered(column, got[a].data(), argument.count, argument.element_bytes());
      const std::byte* const values = field ? copy.data() : got[a].data();
      std::vector<std::byte> bits;
      if (problem.bit_exact && is_floating(column.type)) bits = expected_bits(column.type, expected.floating);
      const Comparison comparison =
          problem.bit_exact
              ? compare_bits(column.type, values,
                             is_floating(column.type) ? bits.data() : expected.integers.data(), count, slack)
          : is_floating(column.type)
              ? compare_floating(column.type, values, expected.floating, tolerance, slack)
              : compare_integers(column.type, values, expected.integers.data(), count, tolerance);
      elements += comparison.elements - comparison.exempt;
      wrong += comparison.wrong;
      if (comparison.ok(tolerance) || fault) continue;
      constexpr const char* flavours[] = {"declared", "edge", "ill-conditioned"};
      const bool beyond = comparison.beyond != 0 && tolerance.matched_ratio < 1;
      const Mismatch& first = beyond ? *comparison.first_beyond : *comparison.first;
      const std::byte* const wanted = is_floating(column.type) ? bits.data() : expected.integers.data();
      char within[160];
      if (problem.bit_exact)
        std::snprintf(within, sizeof within, "bit by bit (%s, expected %s)",
                      bits_of(column.type, values, first.index).c_str(),
                      bits_of(column.type, wanted, first.index).c_str());
      else
        std::snprintf(within, sizeof within, "within %.3g", first.allowed);
      char seed[32];
      std::snprintf(seed, sizeof seed, "%#llx", static_cast<unsigned long long>(set.seed));
      char numbers[240];
      std::snprintf(numbers, sizeof numbers, " is %.9g, expected %.9g %s; ", first.got, first.expected,
                    within);
      fault = Fault{Verdict::wrong_result,
                    element_text(problem.arguments[a], first.index, column.name) + numbers +
                        share_text(1 - comparison.right_share(), problem.arguments[a].name + column.name,
                                   tolerance, beyond) +
                        " (shape " + problem.shapes[plan.shape].name + ", " +
                        flavours[static_cast<int>(set.flavour)] + " inputs, seed " + seed + ")"};
    }
  }
  if (fault && elements != 0)
    fault->right_share = 1.0 - static_cast<double>(wrong) / static_cast<double>(elements);
  return fault;
}

}  // namespace kernelsearch::detail
