// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/hidden_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "problem_parts.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t most_hidden = 64;
constexpr std::size_t tries = 1000;
constexpr double least_bytes = 4 << 20, least_operations = 1e8;
constexpr double derived_bytes = 1 << 20, derived_operations = 1e7;

double operations_of(const Problem& problem, const Shape& shape) {
  return problem.operations ? to_number(evaluate(*problem.operations, shape)) : 0.0;
}

/// The tunables of a candidate, then those of the problem that its own space lacks.
std::vector<NamedValue> tunables_of(const Problem& problem, const Candidate& candidate) {
  std::vector<NamedValue> tunables = named_values(candidate.kernel->space, candidate.config);
  for (NamedValue& value : named_values(problem.kernel.space, problem.kernel.space.default_config()))
    tunables.push_back(std::move(value));
  return tunables;
}

std::int64_t first_multiple(const SizeRange& range) {
  const std::int64_t rest = ((range.low % range.multiple_of) + range.multiple_of) % range.multiple_of;
  return rest == 0 ? range.low : range.low + (range.multiple_of - rest);
}

/// How many sizes a range holds beyond its first, and the one of that number, or the last.
std::uint64_t steps_of(const SizeRange& range) {
  return static_cast<std::uint64_t>((range.high - first_multiple(range)) / range.multiple_of);
}
std::int64_t size_at(const SizeRange& range, std::uint64_t step) {
  return first_multiple(range) +
         static_cast<std::int64_t>(std::min(step, steps_of(range))) * range.multiple_of;
}

const Value& size_value(const Shape& shape, const std::string& name) {
  return std::find_if(shape.variables.begin(), shape.variables.end(),
                      [&name](const NamedValue& variable) { return variable.first == name; })
      ->second;
}

/// A size of a remainder, by eight steps of its range, that no listed size has, where a few tries find one:
/// loops over parts of vectors, blocks or tiles may be written for the listed remainders alone.
std::int64_t draw_unlisted_remainder(const SizeRange& range, const std::vector<Shape>& listed, Rng& rng) {
  const std::int64_t period = 8 * range.multiple_of;
  std::int64_t size = 0;
  for (int i = 0; i < 32; ++i) {
    size = size_at(range, rng.below(steps_of(range) + 1));
    if (std::none_of(listed.begin(), listed.end(), [&](const Shape& shape) {
          return (size - std::get<std::int64_t>(size_value(shape, range.name))) % period == 0;
        }))
      break;
  }
  return size;
}

std::int64_t draw_size(const SizeRange& range, const std::vector<Shape>& listed, Rng& rng) {
  const std::int64_t first = first_multiple(range);
  const std::uint64_t steps = steps_of(range);
  const auto at = [&range](std::uint64_t step) { return size_at(range, step); };
  switch (rng.below(8)) {
    case 0:
      return at(rng.below(2) == 0 ? 0 : steps);
    case 1: {  // next to a size that a kernel may have been written for
      const std::int64_t known =
          std::get<std::int64_t>(size_value(listed[rng.below(listed.size())], range.name));
      const std::int64_t near = known + (rng.below(2) == 0 ? -range.multiple_of : range.multiple_of);
      return at(near <= first ? 0 : static_cast<std::uint64_t>((near - first) / range.multiple_of));
    }
    case 2:
    case 3:
      return at(rng.below(steps + 1));
    default:  // sizes of all magnitudes
      return at(static_cast<std::uint64_t>(
          std::floor(std::exp(rng.uniform() * std::log(static_cast<double>(steps) + 2)) - 1)));
  }
}

/// Whether all that is asked of a hidden shape holds, and its work; nothing where it does not.
std::optional<double> accepted(const Problem& problem, const Candidate& candidate, const Shape& shape,
                               std::span<const NamedValue> tunables, const HiddenShapeLimits& limits) {
  try {
    for (const Expression& condition : problem.hidden_shapes->where)
      if (!is_true(evaluate(condition, shape))) return std::nullopt;
    if (!is_valid(problem, shape, candidate)) return std::nullopt;
    // Without a reference of its own the default configuration says what is right.
    if ((problem.reference.source.empty() || problem.hidden_shapes->derived) &&
        !is_valid(problem, shape, problem.kernel.space.default_config()))
      return std::nullopt;
    const double bytes = bytes_of_arrays(problem.arguments, shape, tunables);
    if (!(bytes <= limits.bytes) || !(operations_of(problem, shape) <= limits.operations))
      return std::nullopt;
    for (const Argument& argument : problem.arguments)
      if (argument.is_scalar()) (void)scalar_value(argument, shape);
    return bytes;
  } catch (const ConfigError&) {
    return std::nullopt;  // a size that is not a whole number, say, or does not fit its argument's type
  }
}

/// One shape of the ranges; by `draw`, a size of one range among the listed shapes.
Shape drawn_shape(const Problem& problem, Rng& rng, decltype(draw_size)& draw) {
  Shape shape = problem.shapes[rng.below(problem.shapes.size())];
  shape.weight = 0;
  shape.generated.clear();
  for (const SizeRange& range : problem.hidden_shapes->ranges) {
    const Value value{draw(range, problem.shapes, rng)};
    for (NamedValue& variable : shape.variables)
      if (variable.first == range.name) variable.second = value;
  }
  for (const SizeTie& tie : problem.hidden_shapes->ties)
    for (NamedValue& variable : shape.variables)
      if (variable.first == tie.name)
        variable.second = Value{std::get<std::int64_t>(size_value(shape, tie.of)) * tie.factor};
  shape.name = "hidden";
  for (const NamedValue& variable : shape.variables) {
    (shape.name += ' ') += variable.first;
    (shape.name += '=') += to_string(variable.second);
  }
  return shape;
}

/// Why arrays of other sizes than the listed cannot be made; empty: they can.
std::string bound_to_listed(const Problem& problem) {
  if (std::any_of(problem.arguments.begin(), problem.arguments.end(),
                  [](const Argument& argument) { return !argument.files.empty(); }))
    return "an array is read from a file";
  // Their arrays are known for the listed shapes only.
  if (problem.generator && (!problem.generator->matrix_market.empty() || !problem.generator->sizes.empty()))
    return "the generator has sizes or files of its own";
  return {};
}

/// The values of an integer variable in the listed shapes; empty for others.
std::vector<std::int64_t> listed_values(const Problem& problem, const std::string& name) {
  std::vector<std::int64_t> values;
  for (const Shape& shape : problem.shapes) {
    const auto* value = std::get_if<std::int64_t>(&size_value(shape, name));
    if (value == nullptr) return {};
    values.push_back(*value);
  }
  return values;
}

bool names_size(const Problem& problem, const std::string& variable) {
  return std::any_of(problem.arguments.begin(), problem.arguments.end(), [&](const Argument& argument) {
    if (!argument.is_array || !argument.size) return false;
    const auto& names = argument.size->names();
    return std::find(names.begin(), names.end(), variable) != names.end();
  });
}

bool is_constant(const std::vector<std::int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t one) { return one == values.front(); });
}

/// By how much the one is a multiple of the other in every shape; 0: it is not.
std::int64_t factor_of(const std::vector<std::int64_t>& one, const std::vector<std::int64_t>& other) {
  if (other.front() <= 0 || one.front() % other.front() != 0) return 0;
  const std::int64_t factor = one.front() / other.front();
  for (std::size_t i = 0; i < one.size(); ++i)
    if (one[i] != other[i] * factor) return 0;
  return factor;
}

/// What holds between two variables in every listed shape, as a condition; empty: nothing of interest.
std::string relation(const std::string& name, const std::vector<std::int64_t>& one, const std::string& to,
                     const std::vector<std::int64_t>& other) {
  const auto all = [&](auto&& holds) {
    for (std::size_t i = 0; i < one.size(); ++i)
      if (!holds(one[i], other[i])) return false;
    return true;
  };
  const std::int64_t least = *std::min_element(other.begin(), other.end());
  if (least > 1 && all([](std::int64_t a, std::int64_t b) { return a % b == 0; }))
    return name + " % " + to + " == 0";
  if (*std::max_element(one.begin(), one.end()) > least &&
      all([](std::int64_t a, std::int64_t b) { return a <= b; }))
    return name + " <= " + to;
  return {};
}

}  // namespace

std::optional<HiddenShapes> derived_hidden_shapes(const Problem& problem, std::string& why_not) {
  why_not = bound_to_listed(problem);
  if (!why_not.empty()) return std::nullopt;
  HiddenShapes hidden;
  hidden.derived = true;
  hidden.count = 2;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> known;
  for (const NamedValue& variable : problem.shapes.front().variables)
    if (auto values = listed_values(problem, variable.first); !values.empty())
      known.emplace_back(variable.first, std::move(values));
  for (const auto& [name, values] : known) {
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    if (*least < 1 || is_constant(values) || !names_size(problem, name)) continue;
    const auto tied = std::find_if(hidden.ranges.begin(), hidden.ranges.end(),
                                   [&, &values = values](const SizeRange& range) {
                                     return factor_of(values, listed_values(problem, range.name)) != 0;
                                   });
    if (tied != hidden.ranges.end()) {
      hidden.ties.push_back({name, tied->name, factor_of(values, listed_values(problem, tied->name))});
      continue;
    }
    std::int64_t divisor = 0;
    for (const std::int64_t value : values) divisor = std::gcd(divisor, value);
    hidden.ranges.push_back({name, *least, *greatest, divisor});
  }
  if (hidden.ranges.empty()) {
    why_not = "no size of an array has several values in the listed shapes";
    return std::nullopt;
  }
  for (const SizeRange& range : hidden.ranges)
    for (const auto& [name, values] : known)
      if (name != range.name) {
        const auto own = listed_values(problem, range.name);
        for (const std::string& text :
             {relation(range.name, own, name, values), relation(name, values, range.name, own)})
          if (!text.empty() && std::none_of(hidden.where.begin(), hidden.where.end(),
                                            [&](const Expression& one) { return one.text() == text; }))
            hidden.where.push_back(Expression::parse(text));
      }
  Problem varied = problem;
  varied.hidden_shapes = hidden;
  Rng rng(1);
  if (draw_hidden_shapes(varied, problem.default_candidate(), hidden_shape_limits(problem), rng).empty()) {
    why_not = "between the listed sizes none is accepted by `valid` and by what they have in common";
    return std::nullopt;
  }
  return hidden;
}

Problem with_hidden_shapes(const Problem& problem, std::string& why_not) {
  Problem made = problem;
  if (!made.hidden_shapes) made.hidden_shapes = derived_hidden_shapes(problem, why_not);
  return made;
}

std::string sizes_not_varied(const std::string& why) {
  return "candidates are checked on the listed sizes alone: " + why +
         "; \"hidden_shapes\" gives ranges for sizes, or {\"none\": \"why\"}";
}

HiddenShapeLimits hidden_shape_limits(const Problem& problem) {
  const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
  HiddenShapeLimits limits{least_bytes, least_operations};
  double fewest_bytes = std::numeric_limits<double>::infinity(), fewest_operations = fewest_bytes;
  for (const Shape& shape : problem.shapes) {
    const double bytes = bytes_of_arrays(problem.arguments, shape, tunables),
                 operations = operations_of(problem, shape);
    limits.bytes = std::max(limits.bytes, bytes);
    limits.operations = std::max(limits.operations, operations);
    fewest_bytes = std::min(fewest_bytes, bytes);
    fewest_operations = std::min(fewest_operations, operations);
  }
  // Nobody asked for derived ones: they must not make trials longer.
  if (!problem.hidden_shapes || problem.hidden_shapes->derived)
    return {std::min(limits.bytes, std::max(derived_bytes, 2 * fewest_bytes)),
            std::min(limits.operations, std::max(derived_operations, 2 * fewest_operations))};
  return limits;
}

std::vector<Shape> draw_hidden_shapes(const Problem& problem, const Candidate& candidate,
                                      const HiddenShapeLimits& limits, Rng& rng) {
  std::vector<std::pair<double, Shape>> found;
  if (!problem.hidden_shapes || problem.hidden_shapes->ranges.empty()) return {};
  const auto tunables = tunables_of(problem, candidate);
  const std::size_t wanted = problem.hidden_shapes->count;
  for (std::size_t i = 0; i < wanted * tries && found.size() < wanted; ++i) {
    // One of them has remainders that are not listed; later only every other try, as `valid` may refuse all
    // such.
    const bool other_remainder = found.empty() && (i < 32 || i % 2 == 0);
    Shape shape = drawn_shape(problem, rng, other_remainder ? draw_unlisted_remainder : draw_size);
    const bool known =
        std::any_of(found.begin(), found.end(),
                    [&shape](const auto& one) { return one.second.variables == shape.variables; }) ||
        std::any_of(problem.shapes.begin(), problem.shapes.end(),
                    [&shape](const Shape& one) { return one.variables == shape.variables; });
    if (known) continue;
    if (const auto bytes = accepted(problem, candidate, shape, tunables, limits))
      found.emplace_back(*bytes, std::move(shape));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Shape> shapes;
  for (auto& one : found) shapes.push_back(std::move(one.second));
  return shapes;
}

namespace detail {
namespace {

SizeRange read_size_range(const JsonCursor& place, const std::string& name, const Problem& problem) {
  constexpr const char* todo = "write [1, 5000], or {\"low\": 64, \"high\": 4096, \"multiple_of\": 8}";
  std::vector<std::string> known;
  for (const NamedValue& variable : problem.shapes.front().variables) known.push_back(variable.first);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    const std::string nearest = nearest_name(name, known);
    place.refuse("is not a variable of the shapes", name,
                 nearest.empty() ? "name one of theirs" : "did you mean " + nearest + "?");
  }
  for (const Shape& shape : problem.shapes)
    if (!std::holds_alternative<std::int64_t>(size_value(shape, name)))
      place.refuse("is a range of a variable that is not a whole number in shape \"" + shape.name + '"',
                   to_string(size_value(shape, name)), "give ranges for sizes only");
  SizeRange range;
  range.name = name;
  if (place.kind() == JsonNode::Kind::array) {
    const std::vector<JsonCursor> ends = place.items(todo);
    if (ends.size() != 2) place.refuse("is not a range", std::to_string(ends.size()) + " numbers", todo);
    range.low = ends[0].integer(todo);
    range.high = ends[1].integer(todo);
  } else {
    (void)place.members(todo);
    place.only({"low", "high", "multiple_of"});
    range.low = place.at("low", todo).integer(todo);
    range.high = place.at("high", todo).integer(todo);
    if (const auto step = place.find("multiple_of")) {
      range.multiple_of = step->integer("give a number >= 1");
      if (range.multiple_of < 1) step->refuse("is below 1", "give a number >= 1");
    }
  }
  constexpr std::int64_t most = std::int64_t{1} << 40;  // sums and differences below cannot overflow
  if (range.low < -most || range.high > most || range.multiple_of > most)
    place.refuse("has numbers beyond 2^40", todo);
  if (range.low > range.high || first_multiple(range) > range.high)
    place.refuse("holds no number",
                 std::to_string(range.low) + " to " + std::to_string(range.high) + ", multiples of " +
                     std::to_string(range.multiple_of),
                 todo);
  return range;
}

}  // namespace

HiddenShapes read_hidden_shapes(const JsonCursor& place, const Problem& problem) {
  constexpr const char* todo = "write {\"ranges\": {\"n\": [1, 5000]}}";
  (void)place.members(todo);
  place.only({"count", "ranges", "where", "none"});
  HiddenShapes hidden;
  if (const auto none = place.find("none")) {
    constexpr const char* why = "say why, e.g. {\"none\": \"the tables are made for these sizes\"}";
    place.only({"none"});
    hidden.none = none->string(why);
    if (hidden.none.find_first_not_of(' ') == std::string::npos) none->refuse("gives no reason", why);
    return hidden;
  }
  if (const auto count = place.find("count")) {
    const std::int64_t given = count->integer("give the number of shapes of each evaluation, e.g. 3");
    if (given < 1 || given > static_cast<std::int64_t>(most_hidden))
      count->refuse("is not a number from 1 to 64", "give the number of shapes of each evaluation, e.g. 3");
    hidden.count = static_cast<std::size_t>(given);
  }
  const JsonCursor ranges = place.at("ranges", todo);
  for (const auto& [name, member] : ranges.members(todo))
    hidden.ranges.push_back(read_size_range(member, name, problem));
  if (hidden.ranges.empty()) ranges.refuse("gives no range", todo);
  std::vector<std::string> variables;
  for (const NamedValue& variable : problem.shapes.front().variables) variables.push_back(variable.first);
  if (const auto where = place.find("where")) {
    const auto conditions = where->kind() == JsonNode::Kind::array
                                ? where->items("list expressions, e.g. [\"n >= m\"]")
                                : std::vector<JsonCursor>{*where};
    for (const JsonCursor& condition : conditions)
      hidden.where.push_back(read_expression(condition, variables, "shape variables"));
  }
  if (const std::string why = bound_to_listed(problem); !why.empty())
    place.refuse("needs inputs for any size", why, "remove \"hidden_shapes\", or draw all inputs");
  return hidden;
}

void check_hidden_shapes(const JsonCursor& place, const Problem& problem) {
  if (!problem.hidden_shapes->none.empty()) return;
  Rng rng(1);  // whether any can be drawn does not depend on the seed; a user's error must not come and go
  const HiddenShapeLimits limits = hidden_shape_limits(problem);
  if (!draw_hidden_shapes(problem, problem.default_candidate(), limits, rng).empty()) return;
  char given[160];
  std::snprintf(
      given, sizeof given,
      "none of %zu drawn sizes is accepted by \"where\" and \"valid\" with arrays of at most %.3g MiB",
      problem.hidden_shapes->count * tries, limits.bytes / 0x1p20);
  place.refuse("leaves no shape to draw",
               std::string(given) + (problem.operations ? " and operations as of the shapes" : ""),
               "widen the ranges or relax the conditions; sizes must not be larger than those of the "
               "largest listed shape");
}

}  // namespace detail
}  // namespace kernelsearch
