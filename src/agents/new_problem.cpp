// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/new_problem.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>

#include "agents/code_tokens.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/problem/command_task.hpp"
#include "kernelsearch/problem/element_type.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/problem/python_tasks.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "problem/modules_program.hpp"
#include "problem/problem_parts.hpp"
#include "problem/python_text.hpp"
#include "problem/write_files.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;
using Tokens = std::vector<detail::CodeToken>;

/// An element type and how many of them a type of C++ holds.
struct Elements {
  ElementType type = ElementType::f32;
  int count = 1;
};

/// Nothing for a type that no problem has.
std::optional<Elements> elements_of(const std::vector<std::string_view>& words) {
  std::string name;
  for (const std::string_view word : words)
    if (word != "const" && word != "volatile" && word != "std" && word != "::" && word != "__restrict__" &&
        word != "__restrict" && word != "__grid_constant__")
      (name += name.empty() ? "" : " ") += word;
  using enum ElementType;
  struct Known {
    std::string_view name;
    Elements elements;
  };
  constexpr std::array known = std::to_array<Known>({
      {"float", {f32}},
      {"float2", {f32, 2}},
      {"float4", {f32, 4}},
      {"double", {f64}},
      {"double2", {f64, 2}},
      {"half", {f16}},
      {"__half", {f16}},
      {"half2", {f16, 2}},
      {"__half2", {f16, 2}},
      {"__nv_bfloat16", {bf16}},
      {"nv_bfloat16", {bf16}},
      {"__nv_bfloat162", {bf16, 2}},
      {"__hip_bfloat16", {bf16}},
      {"bool", {boolean}},
      {"char", {i8}},
      {"signed char", {i8}},
      {"int8_t", {i8}},
      {"unsigned char", {u8}},
      {"uint8_t", {u8}},
      {"short", {i16}},
      {"int16_t", {i16}},
      {"unsigned short", {u16}},
      {"uint16_t", {u16}},
      {"int", {i32}},
      {"int2", {i32, 2}},
      {"int4", {i32, 4}},
      {"int32_t", {i32}},
      {"unsigned", {u32}},
      {"unsigned int", {u32}},
      {"uint32_t", {u32}},
      {"long", {i64}},
      {"long long", {i64}},
      {"int64_t", {i64}},
      {"unsigned long", {u64}},
      {"unsigned long long", {u64}},
      {"uint64_t", {u64}},
      {"size_t", {u64}},
      {"__nv_fp8_e4m3", {f8e4m3}},
      {"__nv_fp8_e5m2", {f8e5m2}},
  });
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Known& one) { return one.name == name; });
  return found == known.end() ? std::nullopt : std::optional(found->elements);
}

struct Parameter {
  std::string name, text, in_code;  ///< `name`: one that an expression can use
  Elements elements;
  bool array = false, constant = false;
};

/// The place behind what closes the bracket at `open`.
std::size_t behind(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    depth += text == "(" || text == "[" || text == "{"   ? 1
             : text == ")" || text == "]" || text == "}" ? -1
                                                         : 0;
    if (depth == 0) return i + 1;
  }
  return tokens.size();
}

template <class Function>
std::string names_of(const std::vector<Function>& all) {
  return detail::joined(all, ", ", [](const Function& one) -> std::string_view { return one.name; });
}

/// A `__global__` function in the tokens of its file.
struct DeviceFunction {
  std::string name;
  std::size_t open = 0, body = 0, end = 0;  ///< of its parameters and of its body
};

/// The first of each name: others are those of another case of an `#if`.
std::vector<DeviceFunction> device_functions(const Tokens& tokens) {
  std::vector<DeviceFunction> found;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text != "__global__") continue;
    // Its name is the word before the parentheses that a body follows; bounds of launches have some as well.
    for (std::size_t k = i + 1; k + 1 < tokens.size() && tokens[k].text != ";" && tokens[k].text != "{";
         ++k) {
      if (tokens[k + 1].text != "(") continue;
      const std::size_t after = behind(tokens, k + 1);
      const auto known = [&](const DeviceFunction& one) { return one.name == tokens[k].text; };
      if (after < tokens.size() && tokens[after].text == "{" &&
          std::none_of(found.begin(), found.end(), known))
        found.push_back({std::string(tokens[k].text), k + 1, after, behind(tokens, after)});
      k = after - 1;
    }
  }
  return found;
}

std::vector<Parameter> parameters_of(std::string_view code, const Tokens& tokens,
                                     const DeviceFunction& function, const std::string& file) {
  std::vector<Parameter> parameters;
  const std::size_t close = function.body - 1;
  for (std::size_t begin = function.open + 1; begin < close;) {
    std::size_t end = begin;
    for (int depth = 0; end < close && (tokens[end].text != "," || depth > 0); ++end)
      depth += tokens[end].text == "<" || tokens[end].text == "("   ? 1
               : tokens[end].text == ">" || tokens[end].text == ")" ? -1
                                                                    : 0;
    Parameter one;
    one.text = code.substr(tokens[begin].begin,
                           tokens[end - 1].begin + tokens[end - 1].text.size() - tokens[begin].begin);
    std::vector<std::string_view> words;
    std::size_t last = end - 1;
    if (tokens[last].text == "]") {  // `float* const x` and `float x[]` alike
      while (last > begin && tokens[last].text != "[") --last;
      one.array = true;
      --last;
    }
    one.name = tokens[last].text;
    for (std::size_t k = begin; k < last; ++k) {
      if (tokens[k].text == "*") {
        one.array = true;
        break;
      }
      one.constant = one.constant || tokens[k].text == "const";
      words.push_back(tokens[k].text);
    }
    const auto elements = elements_of(words);
    if (!elements)
      detail::raise<ConfigError>(
          "a parameter of a type that no problem has", file + ": " + one.text,
          "pass numbers and pointers to numbers; what has another form, as a struct or a "
          "template's parameter, is described in docs/formats/problem.md");
    one.elements = *elements;
    one.in_code = one.name;
    if (!detail::is_name(one.name)) one.name += '_';  // as `sum`, which is a function of expressions
    parameters.push_back(std::move(one));
    begin = end + 1;
  }
  return parameters;
}

/// Whether the body changes an element of the array rather than only writes it.
bool updates(const Tokens& tokens, const DeviceFunction& function, const std::string& array) {
  for (std::size_t i = function.body; i + 2 < function.end; ++i) {
    if (tokens[i].text != array) continue;
    if (i > 1 && tokens[i - 2].text.starts_with("atomic")) return true;  // atomicAdd(array + ...
    if (i > 2 && tokens[i - 1].text == "&" && tokens[i - 3].text.starts_with("atomic")) return true;
    if (tokens[i + 1].text != "[") continue;
    const std::size_t after = behind(tokens, i + 1);
    if (after + 1 >= function.end) continue;
    const std::string_view next = tokens[after].text, then = tokens[after + 1].text;
    constexpr std::string_view operators = "+-*/|&^";
    const bool together = tokens[after + 1].begin == tokens[after].begin + 1;
    if (next.size() == 1 && operators.find(next) != std::string_view::npos && together &&
        (then == "=" || then == next))
      return true;
  }
  return false;
}

bool is_integer(ElementType type) {
  return type == ElementType::i32 || type == ElementType::u32 || type == ElementType::i64 ||
         type == ElementType::u64 || type == ElementType::i16 || type == ElementType::u16;
}

/// How many sizes a shape has, and how large they are, so that a first run takes no time and no memory.
int first_size(std::size_t sizes) {
  return sizes <= 1 ? 1 << 20 : sizes == 2 ? 1024 : 64;
}

DeviceFunction chosen_function(const Tokens& tokens, const std::string& file, std::string_view function) {
  const std::vector<DeviceFunction> all = device_functions(tokens);
  const std::string names = names_of(all);
  if (all.empty())
    detail::raise<ConfigError>("no kernel is defined there", file, "name a file with a __global__ function");
  if (function.empty()) {
    if (all.size() > 1)
      detail::raise<ConfigError>("several kernels are defined there", file + ": " + names,
                                 "name one of them with --function");
    return all.front();
  }
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const DeviceFunction& one) { return one.name == function; });
  if (found == all.end())
    detail::raise<ConfigError>("no such kernel is defined there", std::string(function),
                               "name one of these with --function: " + names);
  return *found;
}

bool uses(const Tokens& tokens, const DeviceFunction& function, std::string_view variable,
          std::string_view member) {
  for (std::size_t i = function.body; i + 2 < function.end; ++i)
    if (tokens[i].text == variable && tokens[i + 1].text == "." && tokens[i + 2].text == member) return true;
  return false;
}

/// A parameter of a function in Python.
struct PythonParameter {
  std::string name, annotation;
  bool optional = false, by_name = false;  ///< has a value if left out; is passed as `name=`
};

struct PythonFunction {
  std::string name;
  std::vector<PythonParameter> parameters;
};

std::vector<PythonParameter> python_parameters(std::string_view list) {
  std::vector<PythonParameter> parameters;
  int depth = 0;
  bool by_name = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char one = i < list.size() ? list[i] : ',';
    depth += one == '(' || one == '[' || one == '{' ? 1 : one == ')' || one == ']' || one == '}' ? -1 : 0;
    if (one != ',' || depth > 0) continue;
    std::string_view text = detail::trimmed(list.substr(begin, i - begin));
    begin = i + 1;
    if (text.empty() || text == "/") continue;
    if (text.front() == '*') {
      by_name = true;
      continue;
    }
    PythonParameter parameter;
    parameter.by_name = by_name;
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
      parameter.optional = true;
      text = text.substr(0, equals);
    }
    const std::size_t colon = text.find(':');
    parameter.name = detail::trimmed(text.substr(0, colon));
    if (colon != std::string_view::npos) parameter.annotation = detail::trimmed(text.substr(colon + 1));
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// The functions of the file that launch a kernel, `kernel[grid](...)`.
std::vector<PythonFunction> launching_functions(std::string_view code) {
  std::vector<PythonFunction> found;
  for (const detail::PythonDefinition& one : detail::python_definitions(code)) {
    if (one.kind != detail::PythonDefinition::Kind::function || one.compiled ||
        one.text.find("](") == std::string::npos)
      continue;
    const std::size_t open = one.text.find('('), close = one.text.find("):"), arrow = one.text.find("->");
    const std::size_t end = arrow < close ? one.text.rfind(')', arrow) : close;
    if (end == std::string::npos || open >= end) continue;
    found.push_back({one.name, python_parameters(one.text.substr(open + 1, end - open - 1))});
  }
  return found;
}

}  // namespace

DraftProblem draft_of_device_code(std::string_view code, const std::string& name, const std::string& file,
                                  std::string_view wanted) {
  detail::check_quotable(name);
  const Tokens tokens = detail::code_tokens(code);
  const DeviceFunction function = chosen_function(tokens, file, wanted);
  const std::vector<Parameter> parameters = parameters_of(code, tokens, function, file);
  const bool hip = fs::path(file).extension() == ".hip";
  const std::string source = std::string("kernel") + (hip ? ".hip" : ".cu");

  std::vector<std::string> variables;
  for (const Parameter& one : parameters)
    if (!one.array && is_integer(one.elements.type)) variables.push_back(one.name);
  if (variables.empty()) variables.emplace_back("n");
  const std::string all = detail::joined(variables, "*");

  DraftProblem draft;
  std::string arguments;
  bool writes = false;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& one = parameters[i];
    std::string entry =
        fmt::format(R"({{"name": "{}", "type": "{}")", one.name, to_string(one.elements.type));
    std::string comment;
    if (one.array) {
      entry += fmt::format(R"(, "size": "{}{}")",
                           one.elements.count > 1 ? fmt::format("{}*", one.elements.count) : "",
                           one.elements.count > 1 && variables.size() > 1 ? "(" + all + ")" : all);
      if (!one.constant) {
        const bool changed = updates(tokens, function, one.in_code);
        entry += changed ? R"(, "role": "inout")" : R"(, "role": "out")";
        writes = true;
      }
      comment = "  // guessed: how many elements?";
    } else if (!is_integer(one.elements.type)) {
      entry += one.elements.type == ElementType::boolean ? R"(, "value": 1)" : R"(, "value": 1.0)";
      comment = "  // guessed: which value?";
    }
    arguments += fmt::format("    {}}}{}{}\n", entry, i + 1 < parameters.size() ? "," : "", comment);
  }
  if (!writes)
    detail::raise<ConfigError>("a kernel that writes to none of its parameters", file + ": " + function.name,
                               "outputs are parameters: pointers to what is not const");

  const int first = first_size(variables.size());
  std::string large, odd;
  for (const std::string& variable : variables) {
    large += fmt::format(R"(, "{}": {})", variable, first);
    odd += fmt::format(R"(, "{}": {})", variable, first / 2 + 13);
  }
  const bool flat = !uses(tokens, function, "threadIdx", "y") && !uses(tokens, function, "blockIdx", "y");
  const std::string& x = flat ? variables.front() : variables.back();
  const std::string tunables = flat ? R"("BLOCK": {"values": [64, 128, 256, 512, 1024], "default": 256})"
                                    : R"("BLOCK_X": {"values": [8, 16, 32, 64], "default": 16},
    "BLOCK_Y": {"values": [1, 2, 4, 8, 16], "default": 16})";
  const std::string launch =
      flat ? fmt::format(R"("grid": ["({} + BLOCK - 1) // BLOCK"], "block": ["BLOCK"])", x)
           : fmt::format(R"("grid": ["({} + BLOCK_X - 1) // BLOCK_X", "({} + BLOCK_Y - 1) // BLOCK_Y"], )"
                         R"("block": ["BLOCK_X", "BLOCK_Y"])",
                         x, variables.front());
  const std::string json = fmt::format(
      R"({{
  // Made by `kernelsearch new` from the kernel's text; docs/formats/problem.md explains every key. What the
  // kernel computes now is right: without a "reference", its default configuration is it.
  "schema": 1,
  "name": "{name}",
  "backend": "{backend}",
  "function": "{function}",
  "kernel": {{"device": "{source}"}},

  // The parameters in their order. A "size" is an expression over the variables of the shapes below.
  "arguments": [
{arguments}  ],

  // Guessed: sizes that matter to you, and an odd one, which is checked and not timed.
  "shapes": [
    {{"name": "first"{large}, "weight": 1}},
    {{"name": "odd"{odd}, "weight": 0}}
  ],

  // Guessed: how many blocks of how many threads. A kernel that is written for one size of block must have
  // that size here.
  "launch": {{{launch}}},

  // What the search may choose. Each is a macro of the kernel too.
  "tunables": {{
    {tunables}
  }}
}}
)",
      fmt::arg("name", name), fmt::arg("backend", hip ? "hip" : "cuda"), fmt::arg("function", function.name),
      fmt::arg("source", source), fmt::arg("arguments", arguments), fmt::arg("large", large),
      fmt::arg("odd", odd), fmt::arg("launch", launch), fmt::arg("tunables", tunables));
  draft.files = {{"problem.json", json}, {source, std::string(code)}};
  draft.to_edit = {fmt::format("\"arguments\": every array has {} elements", all), "\"shapes\": the sizes",
                   "\"launch\" and \"tunables\": blocks and threads"};
  if (std::any_of(tokens.begin(), tokens.end(),
                  [](const detail::CodeToken& one) { return one.text == "main"; }))
    draft.to_edit.push_back(source + ": take out main() and other code of the host");
  return draft;
}

DraftProblem draft_of_triton(std::string_view code, const std::string& file, std::string_view wanted) {
  const std::vector<PythonFunction> all = launching_functions(code);
  auto found = all.rbegin();
  if (!wanted.empty())
    found =
        std::find_if(all.rbegin(), all.rend(), [&](const PythonFunction& one) { return one.name == wanted; });
  if (found == all.rend()) {
    const std::string names = names_of(all);
    detail::raise<ConfigError>(
        "no such function that launches a kernel", file + (wanted.empty() ? "" : ": " + std::string(wanted)),
        names.empty() ? "add a function that takes tensors, launches the kernel and returns "
                        "the result"
                      : "name one of these with --function: " + names);
  }
  std::string parameters, passed, inputs;
  for (const PythonParameter& one : found->parameters) {
    if (one.optional) continue;
    (parameters += parameters.empty() ? "" : ", ") += one.name;
    (passed += passed.empty() ? "" : ", ") += (one.by_name ? one.name + "=" : "") + one.name;
    (inputs += inputs.empty() ? "" : ", ") += one.annotation == "int"     ? "1024"
                                              : one.annotation == "float" ? "1.0"
                                              : one.annotation == "bool"  ? "True"
                                                                          : "torch.rand(1024, 1024)";
  }
  const std::string text = std::string(code) + (code.ends_with('\n') ? "" : "\n") +
                           fmt::format(R"(

# Added by `kernelsearch new`: what {function} returns now is right. Better: write it in plain PyTorch.
import torch


class Model(torch.nn.Module):
    def forward(self, {parameters}):
        return {function}({passed})


def get_inputs():
    return [{inputs}]  # guessed: shapes and types of the arguments


def get_init_inputs():
    return []
)",
                                       fmt::arg("function", found->name), fmt::arg("parameters", parameters),
                                       fmt::arg("passed", passed), fmt::arg("inputs", inputs));
  return {{{"model.py", text}},
          {fmt::format("get_inputs(): the arguments of {}", found->name),
           "class Model: what is right, in plain PyTorch"}};
}

WrittenDraft write_draft(const fs::path& folder, const std::string& name, const fs::path& from,
                         std::string_view function) {
  if (is_module_file(from)) {
    const std::string code = detail::whole_text_of(from), file = from.filename().string();
    const bool python = from.extension() == ".py";
    const bool complete = python ? detail::is_module_text(code) || is_triton_bench(code) ||
                                       code.find("@triton.jit") == std::string::npos
                                 : is_cub_benchmark(code);
    if (!complete) {
      const DraftProblem draft =
          python ? draft_of_triton(code, file, function) : draft_of_device_code(code, name, file, function);
      detail::write_files(folder, draft.files);
      return {python ? folder / draft.files.front().first : folder, draft.to_edit};
    }
  }
  if (!function.empty())
    detail::raise<ConfigError>("a function is named for a problem that is complete", from.string(),
                               "leave out --function");
  Problem problem = read_problem(from);
  problem.name = name;
  write_problem(problem, folder);
  return {folder, {}};
}

}  // namespace kernelsearch
