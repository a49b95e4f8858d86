// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/lint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/problem/traits.hpp"
#include "metric.hpp"

namespace kernelsearch {
namespace {

using Severity = LintFinding::Severity;

/// Outputs, and instead of those of structs their fields.
std::vector<Argument> outputs_of(const Problem& problem) {
  std::vector<Argument> outputs;
  for (const Argument& argument : problem.arguments) {
    if (!argument.is_output()) continue;
    if (argument.structure)
      for (const StructField& field : argument.structure->fields)
        outputs.push_back(field_argument(argument, field));
    else
      outputs.push_back(argument);
  }
  return outputs;
}

/// Whether sizes are missing that only the problem's generator knows.
bool waits_for_sizes(const Problem& problem, const Shape& shape) {
  return problem.generator && !problem.generator->sizes.empty() && shape.generated.empty();
}

double bytes_of(const Problem& problem, const Shape& shape) {
  if (waits_for_sizes(problem, shape)) return std::numeric_limits<double>::infinity();
  const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
  double bytes = 0;
  for (const Argument& argument : problem.arguments)
    if (argument.is_scalar() || argument.is_input() || argument.is_output())
      bytes += static_cast<double>(element_count(argument, shape, tunables)) *
               static_cast<double>(argument.element_bytes());
  return bytes;
}

/// The first array that has no elements in the shape; empty where there is none.
std::string empty_array(const Problem& problem, const Shape& shape) {
  if (waits_for_sizes(problem, shape)) return {};
  const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
  for (const Argument& argument : problem.arguments)
    if (argument.is_array && (argument.is_input() || argument.is_output()) &&
        element_count(argument, shape, tunables) == 0)
      return argument.name;
  return {};
}

/// Whether a flag asks for OpenMP.
bool asks_for_openmp(const std::string& flag) {
  return flag == "-fopenmp" || flag.starts_with("-fopenmp=") || flag == "-qopenmp";
}

/// A flag that defines a macro for the kernel which the reference names too, and which its own flags do not
/// define: the reference would compute something else. Empty if there is no such flag.
std::string flag_not_of_reference(const Problem& problem) {
  for (const std::string& flag : problem.build.flags) {
    const std::string macro = flag.starts_with("-D") ? flag.substr(0, flag.find('=')) : "";
    if (macro.size() < 3 || flag.find('{') != std::string::npos) continue;  // of tunables, the kernel's alone
    const auto& own = problem.reference.flags;
    const bool defined = std::any_of(
        own.begin(), own.end(), [&](const auto& each) { return each.substr(0, each.find('=')) == macro; });
    if (!defined && detail::has_whole_word(problem.reference.source, std::string_view(macro).substr(2)))
      return flag;
  }
  return "";
}

bool within(const Tolerance& tolerance, double got, double expected) noexcept {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(got) &&
      (tolerance.infinities == Infinities::none || (tolerance.infinities == Infinities::negative && got > 0)))
    return false;
  if (std::isinf(expected)) return got == expected;
  return std::abs(got - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

/// Whether the element is farther off than any may be: see Tolerance.
bool beyond(const Tolerance& tolerance, double got, double expected) noexcept {
  if (within(tolerance, got, expected)) return false;
  return !std::isfinite(got) || !std::isfinite(expected) || !within(cap_of(tolerance), got, expected);
}

/// The first element outside of the tolerance, where more are than may be or one beyond the cap.
std::optional<std::size_t> first_wrong(const Tolerance& tolerance, const std::vector<double>& got,
                                       const std::vector<double>& expected) {
  std::size_t wrong = 0, first = 0;
  const std::uint64_t allowed = allowed_wrong(tolerance, expected.size());
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    if (within(tolerance, got[i], expected[i])) continue;
    if (beyond(tolerance, got[i], expected[i])) return i;
    if (wrong++ == 0) first = i;
    if (wrong > allowed) return first;
  }
  if (got.size() != expected.size()) return std::min(got.size(), expected.size());
  return std::nullopt;
}

/// Equal, or both not a number.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

std::string number(double value) {
  return to_string(Value{value});
}

/// What a shape of one row or one element may show although the problem is good: a finding only where every
/// shape looked at shows it.
struct Suspicion {
  std::string about;  ///< what it has in common with those of other shapes
  LintFinding finding;
};

/// The checks of one shape. A finding about an output is made once, for the first shape that shows it.
class ShapeLint {
 public:
  ShapeLint(const Problem& problem, LintRunner& runner, const Shape& shape, std::uint64_t seed,
            std::vector<LintFinding>& findings, std::vector<Suspicion>& suspicions)
      : problem_(problem),
        runner_(runner),
        shape_(shape),
        seed_(seed),
        outputs_(outputs_of(problem)),
        findings_(findings),
        suspicions_(suspicions) {}

  /// False where the reference gives nothing to judge by.
  bool run() {
    const CallInputs inputs = runner_.draw(problem_, shape_, seed_);
    const CallInputs others = runner_.draw(problem_, shape_, seed_ + 1);
    const auto expected = call(true, inputs);
    if (!expected) return false;
    check_default(inputs, *expected);
    const auto again = call(true, inputs);
    if (again)
      for (std::size_t o = 0; o < outputs_.size(); ++o)
        if (!same((*expected)[o], (*again)[o]))
          error("two runs of the reference differ in output " + name(o),
                "a reference computes the same every time");
    const auto other = call(true, others);
    if (!other) return false;
    for (std::size_t o = 0; o < outputs_.size(); ++o)
      if (!detail::is_unchecked(outputs_[o])) check_output(o, (*expected)[o], (*other)[o]);
    return check_sensitivity(inputs, *expected);
  }

 private:
  using Outputs = std::vector<std::vector<double>>;

  Tolerance tolerance(std::size_t o, const std::vector<double>& expected) const {
    return tolerance_for(outputs_[o].type, problem_.tolerance_of(outputs_[o]), expected);
  }
  std::string name(std::size_t o) const { return outputs_[o].name + " (shape " + shape_.name + ")"; }

  void add(Severity severity, std::string what, std::string todo) {
    const std::string core = what.substr(0, what.find(" (shape "));
    for (const LintFinding& finding : findings_)
      if (finding.what.substr(0, finding.what.find(" (shape ")) == core) return;
    findings_.push_back({severity, std::move(what), std::move(todo)});
  }
  void error(std::string what, std::string todo) { add(Severity::error, std::move(what), std::move(todo)); }
  void warn(std::string what, std::string todo) { add(Severity::warning, std::move(what), std::move(todo)); }

  void suspect(Severity severity, std::string about, std::string what, std::string todo) {
    suspicions_.push_back({std::move(about), {severity, std::move(what), std::move(todo)}});
  }

  /// The outputs of the reference or of the default; empty after a finding that there are none.
  std::optional<Outputs> call(bool reference, const CallInputs& inputs) {
    // Where a problem has no reference, the default is what it compares with.
    const bool own = reference && !problem_.reference.source.empty();
    const char* who = own ? "the reference" : "the default";
    CallOutputs result =
        reference ? runner_.run_reference(shape_, inputs) : runner_.run_default(shape_, inputs);
    if (!result.failure.empty()) {
      error(std::string(who) + " fails (shape " + shape_.name + "): " + result.failure,
            own ? "correct the reference" : "correct the kernel or choose another default");
      return std::nullopt;
    }
    if (result.outputs.size() != outputs_.size())
      detail::raise<ConfigError>("a lint runner gave the wrong number of outputs",
                                 std::to_string(result.outputs.size()),
                                 "give one for each argument that is an output");
    return std::move(result.outputs);
  }

  void check_default(const CallInputs& inputs, const Outputs& expected) {
    const auto first = call(false, inputs);
    if (!first) return;
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const Tolerance allowed = problem_.bit_exact ? Tolerance{0, 0} : tolerance(o, expected[o]);
      const auto wrong = first_wrong(allowed, (*first)[o], expected[o]);
      if (!wrong) continue;
      const auto at = [&](const std::vector<double>& values) {
        return *wrong < values.size() ? number(values[*wrong]) : std::string("nothing");
      };
      error("the default's output " + name(o) + " is wrong: element " + std::to_string(*wrong) + " is " +
                at((*first)[o]) + ", expected " + at(expected[o]),
            "correct the kernel, the reference or the tolerance");
    }
    const auto second = call(false, inputs);
    if (!second) return;
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      if (same((*first)[o], (*second)[o])) continue;
      if (first_wrong(tolerance(o, (*second)[o]), (*first)[o], (*second)[o]))
        error("two runs of the default differ beyond the tolerance in output " + name(o),
              "look for uninitialised memory, races and elements that are never written");
      else
        warn("two runs of the default differ within the tolerance in output " + name(o),
             "expected where the order of sums varies; otherwise look for races");
    }
  }

  void check_output(std::size_t o, const std::vector<double>& values, const std::vector<double>& others) {
    if (values.empty()) return;
    const Tolerance tolerance = this->tolerance(o, values);
    const auto odd =
        std::count_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
    if (odd == static_cast<std::ptrdiff_t>(values.size())) {
      error("no element of the reference's output " + name(o) + " is finite",
            "choose inputs that the function is defined for");
      return;
    }
    if (odd != 0)
      warn(std::to_string(odd) + " elements of the reference's output " + name(o) + " are not finite",
           "choose inputs that the function is defined for");
    const bool constant =
        std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
    const bool fixed = same(values, others);
    if (constant && fixed) {
      suspect(Severity::error, "fixed " + outputs_[o].name,
              "output " + name(o) + " is always " + number(values.front()),
              "a kernel that writes this constant passes: choose inputs, or check the reference");
      return;
    }
    if (fixed) {
      if (any_random())
        suspect(Severity::error, "fixed " + outputs_[o].name,
                "output " + name(o) + " does not depend on the inputs' values",
                "a kernel that writes a stored answer passes: choose inputs, or check the reference");
      return;
    }
    if (constant && values.size() > 1)
      suspect(Severity::warning, "equal " + outputs_[o].name,
              "all elements of output " + name(o) + " are equal", "choose inputs that tell elements apart");
    check_spread(o, tolerance, values, others);
    check_ratio(o, tolerance, values);
  }

  /// Whether a kernel may leave out as many elements as need not match: nothing but a cap tells it from one
  /// that rounds them badly.
  void check_ratio(std::size_t o, const Tolerance& tolerance, const std::vector<double>& values) {
    const std::uint64_t free = allowed_wrong(tolerance, values.size());
    if (free == 0 || problem_.bit_exact) return;
    std::vector<double> fake = values;
    std::fill(fake.end() - static_cast<std::ptrdiff_t>(free), fake.end(), 0.0);
    if (same(fake, values) || first_wrong(tolerance, fake, values)) return;
    warn("with matched_ratio " + number(tolerance.matched_ratio) + " a kernel that writes 0 in place of " +
             std::to_string(free) + " of " + std::to_string(values.size()) + " elements of output " +
             name(o) + " passes, always the same ones",
         "give the tolerance an \"error_cap\" below the size of the results, or a ratio of 1");
  }

  /// Whether something that is not a result passes as one: zeros, the mean, another call's result.
  void check_spread(std::size_t o, const Tolerance& tolerance, const std::vector<double>& values,
                    const std::vector<double>& others) {
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    const std::vector<double> means(values.size(), mean);
    const std::vector<double> zeros(values.size(), 0.0);
    const struct {
      const char* what;
      const std::vector<double>& fake;
    } fakes[] = {{"another call's result", others}, {"zeros", zeros}, {"its mean everywhere", means}};
    for (const auto& [what, fake] : fakes) {
      if (same(fake, values) || (values.size() == 1 && &fake == &means)) continue;
      std::size_t passing = 0;
      for (std::size_t i = 0; i < values.size() && i < fake.size(); ++i)
        passing += within(tolerance, fake[i], values[i]);
      const double share = static_cast<double>(passing) / static_cast<double>(values.size());
      const std::string bound = "; the bound is " + number(tolerance.absolute) + " + " +
                                number(tolerance.relative) + " * |expected|";
      if (!first_wrong(tolerance, fake, values)) {
        suspect(Severity::error, "wide " + outputs_[o].name,
                "the tolerance of output " + name(o) + " is wider than its spread: " + what + " would pass" +
                    bound,
                "tighten the tolerance, or scale the inputs up");
        return;
      }
      if (share > 0.9) {
        suspect(Severity::warning, "wide " + outputs_[o].name,
                "the tolerance of output " + name(o) +
                    " is as wide as the spread of most of its elements: " + what + " would pass for " +
                    std::to_string(static_cast<int>(100 * share)) + " % of them" + bound,
                "tighten the tolerance, or scale the inputs up");
        return;
      }
    }
  }

  static bool is_random(const Argument& argument) {
    return argument.is_input() &&
           (is_drawn(argument.initialisation) || argument.initialisation == Initialisation::permutation ||
            argument.initialisation == Initialisation::sorted);
  }
  bool any_random() const {
    return std::any_of(problem_.arguments.begin(), problem_.arguments.end(), [](const Argument& argument) {
      return is_random(argument) ||
             (argument.is_input() && argument.initialisation == Initialisation::generator);
    });
  }

  /// Draws each input anew but those of the generator, which belong together, the others unchanged, and
  /// looks whether any output moves.
  bool check_sensitivity(const CallInputs& inputs, const Outputs& expected) {
    const CallInputs redrawn = runner_.draw(problem_, shape_, seed_ + 2);
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
      const Argument& argument = problem_.arguments[i];
      CallInputs changed = inputs;
      if (is_random(argument)) {
        changed[i] = redrawn[i];
      } else if (argument.is_scalar() && is_floating(argument.type)) {
        const double value = load_element(argument.type, inputs[i].data());
        store_element(argument.type, value * 1.5 + 0.25, changed[i].data());
      }
      if (changed[i] == inputs[i]) continue;
      const auto outputs = call(true, changed);
      if (!outputs) return false;
      bool moved = false;
      for (std::size_t o = 0; o < outputs_.size(); ++o) moved = moved || !same((*outputs)[o], expected[o]);
      if (!moved)
        suspect(
            Severity::warning, "ignored " + argument.name,
            "no output depends on input " + argument.name + " (shape " + shape_.name + ")",
            "a kernel that ignores it passes: check the reference, or choose its values so that they matter");
    }
    return true;
  }

  const Problem& problem_;
  LintRunner& runner_;
  const Shape& shape_;
  std::uint64_t seed_;
  std::vector<Argument> outputs_;
  std::vector<LintFinding>& findings_;
  std::vector<Suspicion>& suspicions_;
};

/// The mildest of each kind that every shape shows, of the smallest shape among equals.
void keep_shared(const std::vector<std::vector<Suspicion>>& shapes, std::vector<LintFinding>& findings) {
  if (shapes.empty()) return;
  for (const Suspicion& first : shapes.front()) {
    const LintFinding* mildest = &first.finding;
    for (const auto& others : shapes) {
      const auto same_kind = std::find_if(others.begin(), others.end(),
                                          [&](const Suspicion& other) { return other.about == first.about; });
      if (same_kind == others.end()) {
        mildest = nullptr;
        break;
      }
      if (same_kind->finding.severity < mildest->severity) mildest = &same_kind->finding;
    }
    if (mildest != nullptr) findings.push_back(*mildest);
  }
}

bool power_of_two(double value) {
  int exponent = 0;
  return value >= 1 && std::frexp(value, &exponent) == 0.5;
}

}  // namespace

CallInputs LintRunner::draw(const Problem& problem, const Shape& shape, std::uint64_t seed) {
  return draw_inputs(problem, shape, seed);
}

CallInputs draw_inputs(const Problem& problem, const Shape& shape, std::uint64_t seed) {
  const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
  CallInputs inputs;
  for (const Argument& argument : problem.arguments) {
    std::vector<std::byte>& bytes = inputs.emplace_back();
    if (!argument.is_scalar() && !argument.is_input()) continue;
    const std::size_t count = element_count(argument, shape, tunables);
    bytes.resize(count * argument.element_bytes());
    if (argument.is_array) {
      Rng rng = Rng::stream(seed, argument.name);
      fill_input(at_shape(argument, shape), count, rng, bytes.data());
      continue;
    }
    const Value value = scalar_value(argument, shape);
    if (const auto* whole = std::get_if<std::int64_t>(&value))
      store_element(argument.type, *whole, bytes.data());
    else
      store_element(argument.type, to_number(value), bytes.data());
  }
  return inputs;
}

std::optional<LintFinding> openmp_in_one_thread(const Problem& problem) {
  if (problem.backend != Backend::host || problem.threads > 1 ||
      std::none_of(problem.build.flags.begin(), problem.build.flags.end(), asks_for_openmp))
    return std::nullopt;
  return LintFinding{LintFinding::Severity::note, "the kernel is built with OpenMP and runs in one thread",
                     "set \"threads\" in the problem to the number that it may use"};
}

std::vector<LintFinding> lint_static(const Problem& problem) {
  std::vector<LintFinding> findings;
  std::size_t timed = 0;
  double largest_bytes = 0;
  double most_operations = 0;
  bool round = true;
  for (const Shape& shape : problem.shapes) {
    for (const NamedValue& variable : shape.variables)
      if (const auto size = try_to_number(variable.second); size > 1.0 && !power_of_two(*size)) round = false;
    if (shape.weight <= 0) continue;
    if (const std::string empty = empty_array(problem, shape); !empty.empty())
      findings.push_back({Severity::warning,
                          "array " + empty + " has no elements in shape " + shape.name + ", which is timed",
                          "give the shape the weight 0, or a size above 0"});
    ++timed;
    largest_bytes = std::max(largest_bytes, bytes_of(problem, shape));
    if (problem.operations && !waits_for_sizes(problem, shape))
      most_operations = std::max(most_operations, to_number(evaluate(*problem.operations, shape)));
  }
  const auto add = [&](Severity severity, const char* what, const char* todo) {
    findings.push_back({severity, what, todo});
  };
  if (timed == 0)
    add(Severity::error, "no shape is timed: all weights are 0", "give a shape a weight above 0");
  if (!problem.build.command.empty() && problem.build.identity.empty())
    add(Severity::warning,
        "nothing identifies what the build command uses: kept results stay after its tools have changed",
        "list what prints their versions in build.identity, e.g. [[\"gfortran\", \"--version\"]]");
  if (auto finding = openmp_in_one_thread(problem)) findings.push_back(*std::move(finding));
  if (const std::string flag = flag_not_of_reference(problem); !flag.empty())
    findings.push_back({Severity::warning,
                        "the kernel is built with " + flag + ", and the reference, which names it, is not",
                        "put it into reference.flags as well"});
  if (problem.external && problem.external->identity.empty())
    add(Severity::warning,
        "nothing identifies what the external program uses: kept results stay after its tools have changed",
        "list what prints their versions in external.identity, e.g. [[\"python3\", \"--version\"]]");
  if (problem.kernel.space.size() == 0)
    add(Severity::warning, "there is nothing to tune: no tunables",
        "declare some, or use a generator that rewrites kernels");
  else if (problem.kernel.space.count() == BigCount(1))
    add(Severity::warning, "there is nothing to tune: one configuration",
        "give the tunables more values or relax the constraints");
  if (problem.shapes.size() == 1)
    add(Severity::warning, "there is one shape only",
        "add one of weight 0 with odd sizes, so that remainders are checked");
  else if (round)
    add(Severity::warning, "all sizes are powers of two",
        "add a shape of weight 0 with odd sizes, so that remainders are checked");
  for (const std::string& trait : problem.traits) {
    std::vector<std::string> known(known_traits.begin(), known_traits.end());
    if (std::find(known.begin(), known.end(), trait) != known.end()) continue;
    const std::string near = nearest_name(trait, known);
    findings.push_back(
        {Severity::warning, "trait " + trait + " is not one that our methods ask for",
         near.empty() ? "docs/formats/problem.md lists those that they do" : "did you mean " + near + "?"});
  }
  // A call of a few hundred nanoseconds drowns in the cost of calling and reading the clock.
  constexpr double small_bytes = 4096;
  constexpr double few_operations = 10000;
  if (timed != 0 && largest_bytes < small_bytes && most_operations < few_operations)
    add(Severity::warning, "the timed shapes are too small to time well",
        "time sizes of some microseconds or more");
  return findings;
}

std::vector<const Shape*> linted_shapes(const Problem& problem, std::size_t most) {
  std::vector<const Shape*> shapes;
  for (const Shape& shape : problem.shapes)
    if (is_valid(problem, shape, problem.kernel.space.default_config())) shapes.push_back(&shape);
  std::stable_sort(shapes.begin(), shapes.end(), [&](const Shape* a, const Shape* b) {
    return bytes_of(problem, *a) < bytes_of(problem, *b);
  });
  if (shapes.size() > most) shapes.resize(most);
  return shapes;
}

std::vector<LintFinding> lint(const Problem& problem, LintRunner& runner, LintOptions options) {
  std::vector<LintFinding> findings = lint_static(problem);
  for (const Shape& shape : problem.shapes)
    if (!is_valid(problem, shape, problem.kernel.space.default_config()))
      findings.push_back({Severity::warning, "the default is not valid for shape " + shape.name,
                          "choose a default that is valid for every shape"});
  const std::vector<const Shape*> shapes = linted_shapes(problem, options.max_shapes);
  std::vector<std::vector<Suspicion>> suspicions;
  for (const Shape* shape : shapes) {
    std::vector<Suspicion> of_shape;
    if (ShapeLint(problem, runner, *shape, options.seed, findings, of_shape).run())
      suspicions.push_back(std::move(of_shape));
  }
  keep_shared(suspicions, findings);
  return findings;
}

}  // namespace kernelsearch
