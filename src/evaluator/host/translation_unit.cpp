// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/translation_unit.hpp"

#include <algorithm>
#include <sstream>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {
namespace {

std::string definition_of(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
  if (const auto* order = std::get_if<Permutation>(&value)) {
    std::string text = "{";
    for (std::size_t i = 0; i < order->size(); ++i)
      text += (i == 0 ? "" : ", ") + std::to_string((*order)[i]);
    return text + "}";
  }
  return to_string(value);
}

// The entry point. `real` is empty for kernels, whose floating arguments keep their own types.
std::string entry(const Problem& problem, const std::string& function, std::string_view real) {
  std::string text =
      "#line 1 \"kernelsearch_entry\"\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) void kernelsearch_entry(void* const* "
      "arguments) {\n  ";
  text += function + "(";
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    const std::string type(!real.empty() && is_floating(argument.type) ? real : cpp_name(argument.type));
    const std::string position = "(arguments[" + std::to_string(i) + "])";
    if (i != 0) text += ", ";
    if (!argument.is_array)
      text += "*static_cast<const " + type + "*>" + position;
    else
      text +=
          "static_cast<" + std::string(argument.role == Role::in ? "const " : "") + type + "*>" + position;
  }
  return text + ");\n}\n";
}

constexpr std::string_view prologue = "#include <cstddef>\n#include <cstdint>\n";

}  // namespace

std::string region(std::string_view name, const std::string& text) {
  if (text.empty()) return {};
  return "#line 1 \"" + std::string(name) + "\"\n" + text + (text.back() == '\n' ? "" : "\n");
}

std::string_view cpp_name(Real real) noexcept {
  return real == Real::kernel ? "float" : real == Real::f64 ? "double" : "long double";
}

bool uses_f64(const Problem& problem) noexcept {
  return std::any_of(problem.arguments.begin(), problem.arguments.end(),
                     [](const Argument& argument) { return argument.type == ElementType::f64; });
}

std::string tunable_definitions(const Kernel& kernel, const Config& config) {
  std::string text;
  for (std::size_t i = 0; i < kernel.space.size(); ++i) {
    const std::string& name = kernel.space.tunable(i).name;
    const Value& value = kernel.space.value(config, i);
    text += "#define " + name + " " + definition_of(value) + "\n";
    if (const auto* order = std::get_if<Permutation>(&value))
      for (std::size_t k = 0; k < order->size(); ++k)
        text += "#define " + name + "_" + std::to_string(k) + " " + std::to_string((*order)[k]) + "\n";
  }
  return text;
}

std::string candidate_source(const Problem& problem, const Candidate& candidate) {
  const Regions& regions = candidate.kernel->regions;
  return std::string(prologue) + tunable_definitions(*candidate.kernel, candidate.config) +
         region("macros", regions.macros) + region("device", regions.device) + region("host", regions.host) +
         entry(problem, problem.function, {});
}

std::string reference_source(const Problem& problem, Real real) {
  const std::string_view type = real == Real::kernel && uses_f64(problem) ? "double" : cpp_name(real);
  return std::string(prologue) + "using real = " + std::string(type) + ";\n" +
         region("reference", problem.reference.source) + entry(problem, problem.reference.function, type);
}

std::string expand_tunables(std::string_view text, const Kernel& kernel, const Config& config) {
  std::string expanded;
  while (true) {
    const auto begin = text.find("${");
    expanded += text.substr(0, begin);
    if (begin == std::string_view::npos) return expanded;
    const auto end = text.find('}', begin);
    const std::string name(text.substr(begin + 2, end == std::string_view::npos ? end : end - begin - 2));
    const auto found = kernel.space.find(name);
    if (end == std::string_view::npos || !found)
      detail::raise<ConfigError>("the build names an unknown tunable", std::string(text),
                                 "use ${NAME} of a tunable");
    expanded += definition_of(kernel.space.value(config, *found));
    text.remove_prefix(end + 1);
  }
}

namespace {

void add_words(const std::string& text, const Candidate& candidate, std::vector<std::string>& words) {
  std::istringstream stream(expand_tunables(text, *candidate.kernel, candidate.config));
  for (std::string word; stream >> word;) words.push_back(word);
}

}  // namespace

std::vector<std::string> candidate_flags(const Problem& problem, const Candidate& candidate) {
  std::vector<std::string> flags;
  for (const std::string& flag : problem.build.flags) add_words(flag, candidate, flags);
  return flags;
}

std::vector<std::string> compile_command(const Problem& problem, const Candidate& candidate) {
  std::vector<std::string> command;
  add_words(problem.build.compiler, candidate, command);
  if (command.size() != 1)
    detail::raise<ConfigError>("the build's compiler is not one program", problem.build.compiler,
                               "put its options into flags");
  for (std::string& flag : candidate_flags(problem, candidate)) command.push_back(std::move(flag));
  return command;
}

}  // namespace kernelsearch
