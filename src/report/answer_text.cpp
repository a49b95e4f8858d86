// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/answer_text.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/module_problem.hpp"

namespace kernelsearch {
namespace {

/// What the reader wrote behind the reference: docs/tasks.md; empty where it is a module.
std::string task_of(const Problem& problem) {
  const std::size_t at = problem.reference.source.rfind("\nTASK = {");
  return at == std::string::npos ? std::string() : problem.reference.source.substr(at + 1);
}

/// The text, a literal of Python that is one of JSON too, behind a key of the task; the first of that key.
std::string told(const std::string& task, const std::string& key) {
  const std::string begin = "\"" + key + "\": \"";
  const std::size_t at = task.find(begin);
  if (at == std::string::npos) return {};
  std::size_t end = at + begin.size();
  while (end < task.size() && task[end] != '"') end += task[end] == '\\' ? 2 : 1;
  const auto text =
      nlohmann::json::parse(task.substr(at + begin.size() - 1, end + 2 - at - begin.size()), nullptr, false);
  return text.is_string() ? text.get<std::string>() : std::string();
}

/// The parameters of `def NAME(...)`, of the last one in a text; 0 where it is not there.
std::size_t parameters_of(const std::string& text, const std::string& name) {
  const std::string begin = "def " + name + "(";
  std::size_t at = text.rfind("\n" + begin);
  at = at == std::string::npos ? (text.starts_with(begin) ? begin.size() : text.size())
                               : at + 1 + begin.size();
  std::size_t count = 0;
  bool word = false;
  for (int depth = 1; at < text.size() && depth > 0; ++at) {
    const char one = text[at];
    depth += static_cast<int>(one == '(' || one == '[' || one == '{') -
             static_cast<int>(one == ')' || one == ']' || one == '}');
    if ((one == ',' && depth == 1) || depth == 0) {
      count += word ? 1 : 0;
      word = false;
    } else if (one != ' ' && one != '\n' && one != '\t') {
      word = true;
    }
  }
  return count;
}

std::string solution_text(const Problem& problem, const std::string& answer, const std::string& task,
                          const std::string& device) {
  constexpr const char* mark = "run.destination_passing_style = ";
  const std::size_t marked = answer.rfind(mark);
  const bool passing = marked != std::string::npos
                           ? answer.compare(marked + std::string_view(mark).size(), 4, "True") == 0
                           : parameters_of(answer, "run") > parameters_of(problem.reference.source, "run");
  const bool triton = answer.find("triton") != std::string::npos;
  nlohmann::ordered_json dependencies = {"torch"};
  if (triton) dependencies.push_back("triton");
  const std::string definition = told(task, "name");
  const nlohmann::ordered_json json{{"name", definition + "_kernelsearch_" + sha256(answer).substr(0, 8)},
                                    {"definition", definition},
                                    {"author", "kernelsearch"},
                                    {"description", "The best answer of a run of kernelsearch."},
                                    {"spec",
                                     {{"language", triton ? "triton" : "python"},
                                      {"target_hardware", {device.empty() ? "LOCAL" : clean_text(device)}},
                                      {"entry_point", "main.py::run"},
                                      {"dependencies", dependencies},
                                      {"destination_passing_style", passing}}},
                                    {"sources", {{{"path", "main.py"}, {"content", answer}}}}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// The answer above the line of `#`, and below it the test of the task.
std::string triton_bench_text(const Problem& problem, const std::string& answer, const std::string& task) {
  const std::string marks = std::string(146, '#') + "\n", end = "\n\n\n# Whose calls";
  const std::string& source = problem.reference.source;
  const std::size_t begin = source.find("\n" + marks), stop = source.rfind(end);
  const std::string test = begin == std::string::npos || stop == std::string::npos || stop < begin
                               ? std::string()
                               : source.substr(begin + 1 + marks.size(), stop - begin - 1 - marks.size());
  return answer + (answer.ends_with('\n') ? "" : "\n") + marks + test +
         "\n\nresult_gold = " + told(task, "test") + "()\n";
}

}  // namespace

std::string answer_text(const Problem& problem, const std::string& answer, AnswerFormat format,
                        const std::string& device) {
  const std::string task = has_module_reference(problem) ? task_of(problem) : std::string();
  const std::string form = told(task, "form");
  const char* wanted = format == AnswerFormat::solution     ? "definition"
                       : format == AnswerFormat::submission ? "gpu_mode"
                                                            : "tritonbench";
  const bool fits = format == AnswerFormat::modelnew
                        ? has_module_reference(problem) && form.empty() && problem.function == "ModelNew"
                        : form == wanted;
  if (!fits)
    detail::raise<ConfigError>(
        "the answers to this problem do not have this form",
        problem.name + ", " + std::string(to_string(format)),
        "see docs/tasks.md for which task has which; `kernelsearch best --source` prints "
        "the winner of any problem");
  if (format == AnswerFormat::solution) return solution_text(problem, answer, task, device);
  if (format == AnswerFormat::tritonbench) return triton_bench_text(problem, answer, task);
  return answer;
}

}  // namespace kernelsearch
