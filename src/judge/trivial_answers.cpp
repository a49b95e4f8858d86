// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/judge/trivial_answers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "judge/compile.hpp"
#include "judge/input_sets.hpp"
#include "judge/stretches.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "problem/metric.hpp"

namespace kernelsearch {
namespace {

using detail::Column;
using detail::InputSet;
using detail::OutputValues;
using detail::PlannedArgument;
using detail::ShapePlan;
using Bytes = std::vector<std::byte>;

/// An answer must pass on that many sets of inputs, and what leaves out half of an input on more: the largest
/// of a single row is in the first half of it every second time.
constexpr std::size_t least_sets = 2, sets_of_halves = 6;
/// Axes of one input of which a half is left out, at most.
constexpr std::size_t most_axes = 6;
/// Elements along an axis that are a copy of as many before them: more than drawn values alternate by.
constexpr std::size_t copied_stretch = 16;

/// What an output of the reference would be as a candidate's.
Bytes stored(const PlannedArgument& argument, const OutputValues& values) {
  const std::size_t each = argument.element_bytes();
  Bytes bytes(argument.count * each);
  const auto columns = columns_of(argument);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const OutputValues& column = argument.structure != nullptr ? values.fields[c] : values;
    const std::size_t size = size_in_bytes(columns[c].type);
    if (is_packed(columns[c].type) && !column.floating.empty()) {
      for (std::size_t i = 0; i < argument.elements(); ++i)
        store_element(columns[c].type, column.floating[i], bytes.data(), i);
      continue;
    }
    for (std::size_t i = 0; i < argument.count; ++i) {
      std::byte* const at = bytes.data() + i * each + columns[c].offset;
      if (is_floating(columns[c].type))
        store_element(columns[c].type, column.floating[i], at);
      else
        std::memcpy(at, column.integers.data() + i * size, size);
    }
  }
  return bytes;
}

/// The elements of an output in the range of its values, as numbers.
std::vector<double> numbers(const PlannedArgument& argument, const Bytes& bytes) {
  std::vector<double> values(argument.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_element(argument.type, bytes.data(), i);
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

Bytes constant(const PlannedArgument& argument, double value) {
  Bytes bytes(argument.count * argument.element_bytes());
  if (!is_floating(argument.type)) value = std::nearbyint(value);
  for (std::size_t i = 0; i < argument.elements(); ++i) store_element(argument.type, value, bytes.data(), i);
  return bytes;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value / static_cast<double>(values.size());
  return sum;
}

double middle(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

/// One timed shape of a problem.
class ShapeTrial {
 public:
  ShapeTrial(const Problem& problem, detail::References& references, detail::InputGenerator& generator,
             const CheckOptions& options, std::size_t shape, TrivialAnswers& found)
      : problem_(problem),
        references_(references),
        inputs_(problem, references, generator, options),
        limit_(options.trivial_seconds),
        begin_(detail::monotonic_seconds()),
        plan_(detail::plan_shape(problem, problem.default_candidate(), shape)),
        found_(found) {}

  void run() {
    for (std::size_t a = 0; a < plan_.arguments.size(); ++a)
      if (plan_.arguments[a].is_output() && plan_.arguments[a].count > 0 &&
          !detail::is_unchecked(problem_.arguments[a]))
        try_output(a);
    try_halves();
    if (!late_) return;
    char text[160];
    std::snprintf(text, sizeof text,
                  "trivial answers on shape %s: not all tried, as the reference takes %.2g s a call",
                  problem_.shapes[plan_.shape].name.c_str(), seconds_);
    found_.left_out.emplace_back(text);
  }

 private:
  struct Solved {
    std::shared_ptr<InputSet> set;
    std::vector<Bytes> right;  ///< outputs, per argument
  };
  /// A trivial answer on a set, by its number; nothing where there is none.
  using Answer = std::function<std::optional<Bytes>(std::size_t)>;

  bool time_left() {
    if (detail::monotonic_seconds() - begin_ + seconds_ <= limit_) return true;
    late_ = true;
    return false;
  }

  /// A set and what is right for it.
  const Solved& solved(std::size_t number) {
    while (sets_.size() <= number) {
      Solved next;
      next.set = std::make_shared<InputSet>();
      next.set->seed = detail::secret_seed();
      next.set->contents = inputs_.contents(plan_, next.set->seed);
      const double before = references_.spent_seconds();
      inputs_.solve(plan_, *next.set);
      seconds_ = references_.spent_seconds() - before;
      next.right.resize(plan_.arguments.size());
      for (std::size_t a = 0; a < plan_.arguments.size(); ++a)
        if (plan_.arguments[a].is_output()) next.right[a] = stored(plan_.arguments[a], next.set->expected[a]);
      sets_.push_back(std::move(next));
    }
    return sets_[number];
  }

  /// Whether the outputs pass on a set although one of them is not what is right.
  bool passes(std::size_t number, const std::vector<Bytes>& outputs) {
    return !detail::compare_outputs(problem_, plan_, *sets_[number].set, outputs);
  }

  bool passes(std::size_t a, std::size_t sets, const Answer& answer) {
    bool differs = false;
    for (std::size_t number = 0; number < sets; ++number) {
      if (number >= least_sets && !time_left()) break;
      const Solved& one = solved(number);
      const auto bytes = answer(number);
      if (!bytes) return false;
      if (*bytes == one.right[a]) continue;  // it is the right answer: nothing is shown by that
      differs = true;
      std::vector<Bytes> outputs = one.right;
      outputs[a] = *bytes;
      if (!passes(number, outputs)) return false;
    }
    return differs;
  }

  void report(std::size_t a, const std::string& answer) {
    const PlannedArgument& argument = plan_.arguments[a];
    const Tolerance tolerance =
        argument.structure != nullptr ? Tolerance{} : problem_.tolerance_of(problem_.arguments[a]);
    char bound[96] = "";
    if (argument.structure == nullptr)
      std::snprintf(bound, sizeof bound, " within %.3g + %.3g * |expected|", tolerance.absolute,
                    tolerance.relative);
    found_.passed.push_back(
        {answer + " passes as output " + problem_.arguments[a].name + bound + " (shape " +
             problem_.shapes[plan_.shape].name + ")",
         "tighten the tolerance, give the inputs a range that makes the results differ, or "
         "time another size; \"trivial_answers\" with the reason leaves this out"});
  }

  void try_output(std::size_t a) {
    const PlannedArgument& argument = plan_.arguments[a];
    const auto other = [](std::size_t number) { return number == 0 ? std::size_t{1} : number - 1; };
    if (passes(a, least_sets + 1, [&](std::size_t) -> std::optional<Bytes> {
          return Bytes(argument.count * argument.element_bytes());
        }))
      return report(a, "an output of zeros");
    if (passes(a, least_sets + 1,
               [&](std::size_t number) -> std::optional<Bytes> { return solved(other(number)).right[a]; }))
      return report(a, "another call's result");
    if (argument.structure == nullptr)
      if (const char* name = passing_constant(a)) return report(a, name);
    for (std::size_t i = 0; i < plan_.arguments.size(); ++i) {
      const PlannedArgument& input = plan_.arguments[i];
      if (!input.is_input() || input.count != argument.count || input.type != argument.type ||
          input.structure != argument.structure)
        continue;
      if (passes(a, least_sets + 1,
                 [&](std::size_t number) -> std::optional<Bytes> { return solved(number).set->contents[i]; }))
        return report(a, "input " + problem_.arguments[i].name);
    }
  }

  /// The constant of the set before, or the set's own mean where the elements differ.
  const char* passing_constant(std::size_t a) {
    const PlannedArgument& argument = plan_.arguments[a];
    const auto of = [&](std::size_t number, double (*value)(std::vector<double>)) -> std::optional<Bytes> {
      const std::vector<double> values = numbers(argument, solved(number).right[a]);
      if (values.empty()) return std::nullopt;
      return constant(argument, value(values));
    };
    constexpr auto middle_of = [](std::vector<double> values) { return middle(std::move(values)); };
    constexpr auto mean_of = [](std::vector<double> values) { return mean(values); };
    if (passes(a, least_sets + 1, [&](std::size_t number) { return of(number == 0 ? 1 : 0, middle_of); }))
      return "a constant";
    if (argument.count == 1) return nullptr;
    // For elements that are all equal the mean is the answer: such a set shows nothing.
    const auto own = [&](double (*value)(std::vector<double>)) {
      return [&, value](std::size_t number) -> std::optional<Bytes> {
        const Bytes& right = solved(number).right[a];
        const std::size_t size = argument.element_bytes();
        if (std::equal(right.begin() + static_cast<std::ptrdiff_t>(size), right.end(), right.begin()))
          return right;
        return of(number, value);
      };
    };
    if (passes(a, least_sets + 1, own(mean_of))) return "the mean of the output";
    if (passes(a, least_sets + 1, own(middle_of))) return "the median of the output";
    return nullptr;
  }

  /// Lengths by which an array may be divided: values of the shape's variables that divide its size.
  std::vector<std::size_t> axes_of(std::size_t count) const {
    std::set<std::size_t> axes;
    const Shape& shape = problem_.shapes[plan_.shape];
    for (const auto* variables : {&shape.variables, &shape.generated})
      for (const NamedValue& variable : *variables)
        if (const auto* whole = std::get_if<std::int64_t>(&variable.second);
            whole != nullptr && *whole >= 2 && count % static_cast<std::size_t>(*whole) == 0)
          axes.insert(static_cast<std::size_t>(*whole));
    return {axes.rbegin(), axes.rend()};
  }

  /// What is left out of an axis: its second half is 0, or each second stretch is a copy of the one before.
  enum class Omission { second_half, second_stretches };

  /// The contents of the set without half of each stretch of `axis` elements, which lie `apart` elements
  /// apart.
  detail::Contents without_half(std::size_t number, std::size_t input, std::size_t axis, std::size_t apart,
                                Omission omission) {
    detail::Contents contents = solved(number).set->contents;
    const std::size_t size = plan_.arguments[input].element_bytes();
    std::byte* const bytes = contents[input].data();
    for (std::size_t i = 0; i < plan_.arguments[input].count; ++i) {
      const std::size_t along = i / apart % axis;
      if (omission == Omission::second_half) {
        if (along >= (axis + 1) / 2) std::memset(bytes + i * size, 0, size);
      } else if (along / copied_stretch % 2 == 1) {
        std::memcpy(bytes + i * size, bytes + (i - copied_stretch * apart) * size, size);
      }
    }
    return contents;
  }

  std::vector<OutputValues> reference(const detail::Contents& contents) {
    return problem_.bit_exact ? references_.in_kernel_precision(plan_, contents)
                              : references_.exact(plan_, contents);
  }

  /// Whether all outputs pass although half of an axis was left out, and some output is another for it.
  bool half_passes(std::size_t input, std::size_t axis, std::size_t apart, Omission omission) {
    bool differs = false;
    for (std::size_t number = 0; number < sets_of_halves; ++number) {
      if (!time_left()) return false;
      const Solved& one = solved(number);
      const auto values = reference(without_half(number, input, axis, apart, omission));
      std::vector<Bytes> outputs(plan_.arguments.size());
      for (std::size_t a = 0; a < outputs.size(); ++a)
        if (detail::is_unchecked(problem_.arguments[a]))
          outputs[a] = one.right[a];  // it shows nothing
        else if (plan_.arguments[a].is_output())
          outputs[a] = stored(plan_.arguments[a], values[a]);
      if (outputs == one.right) {
        if (number == 0) return false;  // it does not matter here
        continue;
      }
      differs = true;
      if (!passes(number, outputs)) return false;
    }
    return differs;
  }

  void try_halves() {
    for (const Omission omission : {Omission::second_half, Omission::second_stretches})
      for (std::size_t i = 0; i < plan_.arguments.size(); ++i) {
        const Argument& argument = problem_.arguments[i];
        if (!argument.is_input() || argument.structure || !is_drawn(argument.initialisation)) continue;
        if (omission == Omission::second_half &&
            !detail::declared_range(at_shape(argument, problem_.shapes[plan_.shape])).zero)
          continue;
        const std::size_t count = plan_.arguments[i].count;
        auto axes = axes_of(count);
        if (omission == Omission::second_stretches)
          std::erase_if(axes, [](std::size_t axis) { return axis < 4 * copied_stretch; });
        if (axes.size() > most_axes) axes.resize(most_axes);
        for (const std::size_t axis : axes)
          for (const std::size_t apart : std::set<std::size_t>{1, count / axis}) {
            if (!half_passes(i, axis, apart, omission)) continue;
            return report_half(i, axis, apart, omission);
          }
      }
  }

  void report_half(std::size_t input, std::size_t axis, std::size_t apart, Omission omission) {
    const std::string& name = problem_.arguments[input].name;
    found_.passed.push_back(
        {"what the reference gives without half of input " + name + " (of each " + std::to_string(axis) +
             " elements" + (apart > 1 ? " that lie " + std::to_string(apart) + " apart" : "") +
             (omission == Omission::second_half
                  ? " the second half was 0"
                  : " every second " + std::to_string(copied_stretch) + " were copies of those before") +
             ") passes within the tolerances (shape " + problem_.shapes[plan_.shape].name + ")",
         "tighten the tolerance of the outputs, give " + name +
             " a range that makes its elements matter, or time another size; \"trivial_answers\" with the "
             "reason leaves this out"});
  }

  const Problem& problem_;
  detail::References& references_;
  detail::InputSets inputs_;
  double limit_, begin_, seconds_ = 0;
  bool late_ = false;
  ShapePlan plan_;
  std::deque<Solved> sets_;  ///< of which references stay while others come
  TrivialAnswers& found_;
};

}  // namespace

TrivialAnswers try_trivial_answers(const Problem& given, const HostOptions& options) {
  TrivialAnswers found;
  if (options.check.trivial_seconds <= 0) return found;
  if (!given.trivial_answers.empty()) {
    found.left_out.push_back("trivial answers: " + given.trivial_answers);
    return found;
  }
  Problem problem = given;
  HostOptions chosen = options;
  chosen.sandbox = resolved(chosen.sandbox);
  fill_generated_sizes(problem, chosen);
  const HostMachine machine = host_machine();
  detail::CompileCache compiler(chosen, machine.id(), machine.cores);
  detail::References references(
      problem, compiler,
      detail::worker_settings(chosen, detail::any_cores(chosen, problem.threads), problem));
  detail::InputGenerator generator(problem, chosen);
  for (std::size_t s = 0; s < problem.shapes.size(); ++s)
    if (problem.shapes[s].weight > 0 &&
        is_valid(problem, problem.shapes[s], problem.kernel.space.default_config()))
      ShapeTrial(problem, references, generator, chosen.check, s, found).run();
  return found;
}

void refuse_trivial_answers(const Problem& problem, const TrivialAnswers& tried) {
  if (tried.passed.empty()) return;
  detail::raise<ConfigError>("problem " + problem.name + " cannot tell results from answers without any work",
                             tried.passed.front().what, tried.passed.front().todo);
}

}  // namespace kernelsearch
