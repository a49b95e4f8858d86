// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/unused_tunables.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/mlir_schedule.hpp"

namespace kernelsearch {
namespace {

/// The end of the string or character literal that begins at `at`. Raw strings are left to the preprocessor.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

/// The names in C++ code, outside of comments and literals.
void add_names(std::string_view text, std::set<std::string>& names) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else if (text[at] == '"') {
      at = end_of_literal(text, at);
    } else if (text[at] == '\'' && (at == 0 || !detail::in_word(text[at - 1]))) {  // not the one in 1'000
      at = end_of_literal(text, at);
    } else if (detail::in_word(text[at])) {
      const std::size_t begin = at;
      while (at < text.size() && detail::in_word(text[at])) ++at;
      if (detail::begins_word(text[begin])) names.emplace(text.substr(begin, at - begin));
    } else {
      ++at;
    }
  }
}

std::set<std::string> names_in_kernel(const Problem& problem) {
  std::set<std::string> names;
  for (const KernelRegion region : kernel_regions) add_names(text_of(problem.kernel.regions, region), names);
  for (const SourceFile& file : problem.files) add_names(file.text, names);
  return names;
}

/// What an order's elements are called: `NAME_0`, `NAME_1`, ...
bool is_element_of(const std::string& name, const Tunable& tunable) {
  return !tunable.values.empty() && std::holds_alternative<Permutation>(tunable.values.front()) &&
         name.starts_with(tunable.name + "_") && name.size() == tunable.name.size() + 2;
}

bool is_named(const Tunable& tunable, const std::set<std::string>& names) {
  return names.contains(tunable.name) ||
         std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return is_element_of(name, tunable); });
}

/// Marks tunables that expressions and `${NAME}` read.
class Uses {
 public:
  explicit Uses(const Space& space) : space_(space), used_(space.size(), false) {}

  void in(const Expression& expression) {
    for (std::size_t slot = 0; slot < expression.names().size(); ++slot)
      if (const auto found = space_.find(expression.names()[slot]); found && expression.uses(slot))
        used_[*found] = true;
  }
  void in(const std::optional<Expression>& expression) {
    if (expression) in(*expression);
  }
  void in(const std::vector<Expression>& expressions) {
    for (const Expression& expression : expressions) in(expression);
  }
  void in(const LaunchGeometry& geometry) {
    in(geometry.grid);
    in(geometry.block);
    in(geometry.cluster);
    in(geometry.shared_bytes);
    for (const LocalArray& one : geometry.local) in(one.bytes);
  }
  void in(const TensorMap& map) {
    in(map.sizes);
    in(map.strides);
    in(map.box);
    in(map.swizzle);
    in(map.promotion);
  }
  /// In a text with `${NAME}`.
  void in_text(const std::string& text) {
    for (std::size_t i = 0; i < space_.size(); ++i)
      if (text.find("${" + space_.tunable(i).name + "}") != std::string::npos) used_[i] = true;
  }

  std::vector<bool> take() { return std::move(used_); }

 private:
  const Space& space_;
  std::vector<bool> used_;
};

/// Hashes of the preprocessed texts by configuration; an empty one where there is no text.
class Texts {
 public:
  explicit Texts(const Preprocess& preprocess) : preprocess_(preprocess) {}
  std::optional<std::size_t> at(const Config& config) {
    if (const auto known = known_.find(config); known != known_.end()) return known->second;
    std::optional<std::size_t> hash;
    if (const auto text = preprocess_(config)) hash = std::hash<std::string>{}(*text);
    known_.emplace(config, hash);
    return hash;
  }

 private:
  const Preprocess& preprocess_;
  std::map<Config, std::optional<std::size_t>> known_;
};

/// Whether some value of tunable `i` gives another text, the others as in `base`.
bool differs(const Space& space, Texts& texts, Config base, std::size_t i) {
  base.indices[i] = 0;
  const std::optional<std::size_t> first = texts.at(base);
  for (std::uint32_t v = 1; v < space.tunable(i).values.size(); ++v) {
    base.indices[i] = v;
    if (texts.at(base) != first) return true;
  }
  return false;
}

bool changes_text(const Space& space, Texts& texts, std::size_t i, std::size_t max_bases) {
  const Config& start = space.default_config();
  if (differs(space, texts, start, i)) return true;
  std::size_t bases = 1;
  for (std::size_t j = 0; j < space.size(); ++j)
    for (std::uint32_t v = 0; v < space.tunable(j).values.size(); ++v) {
      if (j == i || v == start.indices[j]) continue;
      if (++bases > max_bases) return false;
      Config base = start;
      base.indices[j] = v;
      if (differs(space, texts, std::move(base), i)) return true;
    }
  return false;
}

/// A schedule of MLIR as its build command gets it: its choices are named in attributes, not in code.
std::string filled_schedule(const Problem& problem, const Config& config) {
  const Space& space = problem.kernel.space;
  return filled_mlir_source(problem.kernel.regions.device, [&](std::string_view name) -> const Value* {
    const auto i = space.find(name);
    return i ? &space.value(config, *i) : nullptr;
  });
}

/// `same`: what is the same for all values; empty: only names were looked at.
LintFinding unused(const Space& space, const Tunable& tunable, const std::set<std::string>& names,
                   const std::string& same) {
  const std::string count = std::to_string(tunable.values.size());
  std::vector<std::string> strangers;
  for (const std::string& name : names)
    if (!space.find(name)) strangers.push_back(name);
  const std::string near = is_named(tunable, names) ? "" : nearest_name(tunable.name, strangers);
  return {LintFinding::Severity::warning,
          "tunable " + tunable.name + " is used nowhere: " +
              (same.empty() ? "the kernel does not name it"
                            : same + " is the same for all its " + count + " values") +
              ", and neither flags nor launch nor sizes name it",
          "use it in the kernel, or remove it: it makes the search " + count + " times as large" +
              (near.empty() ? "" : "; the kernel has " + near + ": is that meant?")};
}

}  // namespace

std::vector<bool> tunables_outside_kernel(const Problem& problem) {
  // An external program is told the values of all tunables, and what it does with them is its business.
  if (problem.external) return std::vector<bool>(problem.kernel.space.size(), true);
  Uses uses(problem.kernel.space);
  uses.in_text(problem.build.compiler);
  for (const std::string& flag : problem.build.flags) uses.in_text(flag);
  for (const std::string& part : problem.build.command) uses.in_text(part);
  for (const Argument& argument : problem.arguments) {
    uses.in(argument.size);
    if (argument.tensor_map) uses.in(*argument.tensor_map);
  }
  for (const LaunchStep& step : problem.launch) {
    uses.in_text(step.function);
    uses.in(step.geometry);
    uses.in(step.condition);
  }
  return uses.take();
}

std::vector<UnusedTunable> find_unused_tunables(const Problem& problem, const Preprocess& preprocess,
                                                UnusedTunableOptions options) {
  const Space& space = problem.kernel.space;
  const std::vector<bool> outside = tunables_outside_kernel(problem);
  const std::set<std::string> names = names_in_kernel(problem);
  const bool schedule = is_mlir_source(problem.names.device);
  const Preprocess filled = [&](const Config& config) { return filled_schedule(problem, config); };
  const Preprocess& text_at = schedule ? filled : preprocess;
  Texts texts(text_at);
  std::optional<bool> has_text;  // asked only where some tunable may be unused
  std::vector<UnusedTunable> found;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Tunable& tunable = space.tunable(i);
    if (outside[i] || tunable.values.size() < 2) continue;
    if (!has_text) has_text = text_at && texts.at(space.default_config()).has_value();
    const bool used = *has_text ? changes_text(space, texts, i, options.max_bases) : is_named(tunable, names);
    if (!used)
      found.push_back({i, unused(space, tunable, names,
                                 !*has_text ? ""
                                 : schedule ? "the schedule"
                                            : "the preprocessed kernel")});
  }
  return found;
}

}  // namespace kernelsearch
