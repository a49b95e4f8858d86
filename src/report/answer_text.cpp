// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/answer_text.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/version.hpp"
#include "problem/modules_program.hpp"

namespace kernelsearch {
namespace {

using TaskJson = nlohmann::ordered_json;

/// A text of what the reader wrote behind the reference: docs/tasks.md; empty where nothing is there.
std::string told(const TaskJson& task, const char* key) {
  return task.is_object() && task.contains(key) && task[key].is_string() ? task[key].get<std::string>()
                                                                         : std::string();
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

std::string solution_name(const std::string& definition, const std::string& answer) {
  return definition + "_kernelsearch_" + sha256(answer).substr(0, 8);
}

std::string solution_text(const Problem& problem, const std::string& answer, const TaskJson& task,
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
  const nlohmann::ordered_json json{{"name", solution_name(definition, answer)},
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

/// The workload of a shape in the data set's own words; what it did not name is named by the shape.
TaskJson workload_json(const TaskJson& known, const std::string& shape) {
  TaskJson inputs = known.value("inputs", TaskJson::object());
  for (TaskJson& given : inputs)
    for (const char* ours : {"file", "stored"}) given.erase(ours);
  return {{"uuid", known.value("uuid", shape)},
          {"axes", known.value("axes", TaskJson::object())},
          {"inputs", std::move(inputs)}};
}

/// Lines of JSON, one for each workload that was timed in pairs with the reference.
std::string trace_text(const Problem& problem, const std::string& answer, const TaskJson& task,
                       const AnswerMeasured& measured) {
  const std::string definition = told(task, "name");
  const TaskJson workloads = task.value("workloads", TaskJson::object());
  const Evaluation& evaluation = *measured.evaluation;
  std::string text;
  for (const ShapeMeasurement& shape : evaluation.measurement.shapes) {
    const auto known = workloads.find(shape.shape);
    const auto absolute = evaluation.features.find("torch.absolute_error." + shape.shape);
    const auto relative = evaluation.features.find("torch.relative_error." + shape.shape);
    if (known == workloads.end() || !shape.speedup || !absolute || !relative) continue;
    const double latency = shape.median * 1e3;
    const TaskJson line{
        {"definition", definition},
        {"workload", workload_json(*known, shape.shape)},
        {"solution", solution_name(definition, answer)},
        {"evaluation",
         {{"status", "PASSED"},
          {"environment",
           {{"hardware", measured.device.empty() ? "LOCAL" : clean_text(measured.device)},
            {"libs",
             {{"kernelsearch", KERNELSEARCH_VERSION}, {"toolchain", clean_text(measured.toolchain)}}}}},
          {"timestamp", measured.at},
          {"log", clean_text(evaluation.provenance)},
          {"correctness", {{"max_relative_error", *relative}, {"max_absolute_error", *absolute}}},
          {"performance",
           {{"latency_ms", latency},
            {"reference_latency_ms", latency * shape.speedup->ratio},
            {"speedup_factor", shape.speedup->ratio}}}}}};
    text += line.dump(-1, ' ', false, TaskJson::error_handler_t::replace) + "\n";
  }
  if (text.empty())
    detail::raise<ConfigError>(
        "no workload of the winner was timed in pairs with the reference", problem.name,
        "tune again: a trace states the reference's time, which only trials that were the best so far have");
  return text;
}

/// The answer above the line of `#`, and below it the test of the task.
std::string triton_bench_text(const Problem& problem, const std::string& answer, const TaskJson& task) {
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
                        const AnswerMeasured& measured) {
  const TaskJson task =
      has_module_reference(problem) ? detail::task_literal(problem.reference.source) : nullptr;
  const std::string form = told(task, "form");
  const bool of_definition = format == AnswerFormat::solution || format == AnswerFormat::evaluation_trace;
  const char* wanted = of_definition                        ? "definition"
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
  if (format == AnswerFormat::solution) return solution_text(problem, answer, task, measured.device);
  if (format == AnswerFormat::evaluation_trace) {
    if (measured.evaluation == nullptr)
      detail::raise<ConfigError>("a trace needs what was measured", problem.name, "name a run");
    return trace_text(problem, answer, task, measured);
  }
  if (format == AnswerFormat::tritonbench) return triton_bench_text(problem, answer, task);
  return answer;
}

}  // namespace kernelsearch
