// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/vulkan_source.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "evaluator/gpu/call_plan.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/kernel_launch.hpp"
#include "kernelsearch/problem/unused_tunables.hpp"
#include "shader/ready_module.hpp"
#include "shader/shader_text.hpp"

namespace kernelsearch::detail::gpu {
namespace {

constexpr std::string_view shader_mark = "//@shader ";

ShaderParameter shader_parameter(const Argument& argument, ElementType type) {
  return {argument.name, argument.is_array,
          argument.is_array ? 0u : static_cast<std::uint32_t>(size_in_bytes(type))};
}

/// Those that each kernel is launched with; of several launches of one the first counts, and another order
/// fails when it is launched.
std::vector<ShaderSource::Entry> launched_entries(const Problem& problem, const Candidate& candidate) {
  std::vector<ShaderSource::Entry> entries;
  for (const LaunchStep& step : launch_of(problem, *candidate.kernel)) {
    if (step.function.empty()) continue;
    ShaderSource::Entry entry;
    entry.function = expand_tunables(step.function, *candidate.kernel, candidate.config);
    const bool known = std::any_of(entries.begin(), entries.end(),
                                   [&](const auto& one) { return one.function == entry.function; });
    if (known) continue;
    const auto add = [&](const Argument& argument) {
      entry.parameters.push_back(shader_parameter(argument, argument.type));
    };
    for (const Argument& argument : problem.arguments)
      if (step.arguments.empty() && argument.symbol.empty()) add(argument);
    for (const std::string& name : step.arguments)
      for (const Argument& argument : problem.arguments)
        if (argument.name == name) add(argument);
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// `#define NAME VALUE` lines of those tunables that the source does not declare as constants.
std::string macros_of(const Candidate& candidate, const std::vector<std::string>& constants) {
  const std::string all = tunable_definitions(*candidate.kernel, candidate.config);
  std::istringstream in(all);
  std::string text;
  for (std::string line; std::getline(in, line);) {
    constexpr std::size_t define = 8;
    const std::string name = line.substr(define, line.find(' ', define) - define);
    if (std::find(constants.begin(), constants.end(), name) == constants.end()) text += line + "\n";
  }
  return text;
}

/// Messages name the lines of the problem's files, by `#line` with a name.
std::string with_names(ShaderLanguage language, const std::string& head, const std::string& regions) {
  constexpr const char* named = "#extension GL_GOOGLE_cpp_style_line_directive : enable\n";
  return with_version(language, (language == ShaderLanguage::glsl ? named : "") + head, regions);
}

/// The values that a ready module is to have: of all tunables but those that have their use outside of it.
std::vector<NamedValue> constants_of_ready(const Problem& problem, const Candidate& candidate,
                                           const ShaderSource& source) {
  std::vector<NamedValue> values = named_values(candidate.kernel->space, candidate.config);
  const auto words = ready_words(source.text);
  if (!words) return values;
  const auto kernel = read_ready(*words, source.entries.front().function, source.entries.size() == 1, {});
  const std::vector<bool> outside = tunables_outside_kernel(problem);
  std::erase_if(values, [&](const NamedValue& value) {
    const auto place = problem.kernel.space.find(value.first);
    return kernel && place && outside[*place] && !no_constant(*kernel, value.first).empty();
  });
  return values;
}

const char* kind_of(const Value& value) {
  return std::holds_alternative<bool>(value)           ? "bool"
         : std::holds_alternative<std::int64_t>(value) ? "int"
         : std::holds_alternative<double>(value)       ? "float"
                                                       : "text";
}

}  // namespace

std::string written(const ShaderSource& source) {
  std::ostringstream out;
  out << shader_mark
      << (source.ready                              ? "spirv"
          : source.language == ShaderLanguage::hlsl ? "hlsl"
                                                    : "glsl")
      << (source.begins ? " begins" : "") << "\n";
  for (const auto& [name, value] : source.constants)
    out << shader_mark << "constant " << name << " " << kind_of(value) << " " << to_string(value) << "\n";
  for (const ShaderSource::Entry& entry : source.entries) {
    out << shader_mark << "kernel " << entry.function << " "
        << (entry.define.empty() ? "-" : entry.define.c_str());
    for (const ShaderParameter& parameter : entry.parameters)
      out << " " << parameter.name << ":" << (parameter.is_array ? 0u : parameter.bytes);
    out << "\n";
  }
  out << shader_mark << "text\n" << source.text;
  return out.str();
}

std::optional<ShaderSource> shader_source_of(std::string_view text) {
  ShaderSource source;
  bool first = true;
  while (text.starts_with(shader_mark)) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::istringstream line{std::string(text.substr(shader_mark.size(), end - shader_mark.size()))};
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string what, name, word;
    line >> what;
    if (first) {
      if (what != "glsl" && what != "hlsl" && what != "spirv") return std::nullopt;
      source.ready = what == "spirv";
      source.language = what == "hlsl" ? ShaderLanguage::hlsl : ShaderLanguage::glsl;
      source.begins = (line >> word) && word == "begins";
      first = false;
    } else if (what == "constant") {
      std::string kind, value;
      if (!(line >> name >> kind >> value)) return std::nullopt;
      char* last = nullptr;
      if (kind == "bool")
        source.constants.emplace_back(name, value == "true");
      else if (kind == "int")
        source.constants.emplace_back(name,
                                      static_cast<std::int64_t>(std::strtoll(value.c_str(), &last, 10)));
      else if (kind == "float")
        source.constants.emplace_back(name, std::strtod(value.c_str(), &last));
      else
        source.constants.emplace_back(name, value);
    } else if (what == "kernel") {
      ShaderSource::Entry entry;
      if (!(line >> entry.function >> entry.define)) return std::nullopt;
      if (entry.define == "-") entry.define.clear();
      while (line >> word) {
        const std::size_t colon = word.rfind(':');
        if (colon == std::string::npos) return std::nullopt;
        ShaderParameter parameter;
        parameter.name = word.substr(0, colon);
        const char* const digits = word.c_str() + colon + 1;
        if (std::from_chars(digits, word.c_str() + word.size(), parameter.bytes).ec != std::errc())
          return std::nullopt;
        parameter.is_array = parameter.bytes == 0;
        entry.parameters.push_back(std::move(parameter));
      }
      source.entries.push_back(std::move(entry));
    } else if (what == "text") {
      if (source.entries.empty()) return std::nullopt;
      source.text = text;
      return source;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::string vulkan_source(const Problem& problem, const Candidate& candidate) {
  const Regions& regions = candidate.kernel->regions;
  ShaderSource source;
  source.language = shader_language(problem.names.device, regions.device);
  source.entries = launched_entries(problem, candidate);
  if (is_ready_text(regions.device) && !source.entries.empty()) {
    source.ready = true;
    source.text = regions.device;
    source.constants = constants_of_ready(problem, candidate, source);
    return written(source);
  }
  const std::vector<std::string> constants = declared_constants(regions.macros + "\n" + regions.device);
  for (auto& [name, value] : named_values(candidate.kernel->space, candidate.config))
    if (std::find(constants.begin(), constants.end(), name) != constants.end())
      source.constants.emplace_back(name, value);
  source.text = with_names(source.language, macros_of(candidate, constants),
                           named_region(problem, candidate, KernelRegion::macros) +
                               named_region(problem, candidate, KernelRegion::device));
  return written(source);
}

std::string vulkan_reference_source(const Problem& problem, const char* real) {
  ShaderSource source;
  source.language = shader_language(problem.names.reference, problem.reference.source);
  ShaderSource::Entry entry;
  entry.function = problem.reference.function;
  const bool wide = std::string_view(real) == "double";
  for (const Argument& argument : problem.arguments) {
    if (!is_reference_argument(argument)) continue;
    const ElementType type = !is_floating(argument.type) ? argument.type
                             : wide                      ? ElementType::f64
                                                         : ElementType::f32;
    entry.parameters.push_back(shader_parameter(argument, type));
  }
  source.entries.push_back(std::move(entry));
  source.text = with_names(source.language, "#define real " + std::string(real) + "\n",
                           region(problem.names.reference.empty() ? "reference" : problem.names.reference,
                                  problem.reference.source));
  return written(source);
}

std::string vulkan_service_source(std::string_view text) {
  // As apps/gpu_worker/actions.cpp gives them: 0 for a place in memory, else the bytes of a number.
  constexpr const char* parameters[] = {
      "target:0 count:8 type:4 init:4 flavour:4 seed:8 low:8 high:8 top:8 factor:8 magnitudes:4",
      "target:0 count:8 word:8 random:4",
      "target:0 count:8 word:8 random:4",
      "source:0 count:8 word:8 result:0",
      "source:0 count:8 result:0",
      "source:0 count:8 size:4 word:8 result:0",
      "source:0 target:0 count:8 type:4 real:4",
      ("got:0 expected:0 slack:0 count:8 type:4 expected_type:4 absolute:8 relative:8 overflow:8 "
       "got_stride:8 "
       "expected_stride:8 bits:4 result:0"),
      "exact:0 magnitude:0 kernel:0 kernel_type:4 target:0 count:8 relative:8",
      "source:0 index:8 type:4 stride:8 result:0",
      "target:0 words:8 value:8",
  };
  static_assert(std::size(parameters) == service_count);
  std::string out = std::string(shader_mark) + "glsl begins\n";
  for (unsigned service = 0; service < service_count; ++service)
    out += std::string(shader_mark) + "kernel " + service_names()[service] +
           " SERVICE=" + std::to_string(service) + " " + parameters[service] + "\n";
  return out + std::string(shader_mark) + "text\n" + std::string(text);
}

}  // namespace kernelsearch::detail::gpu
