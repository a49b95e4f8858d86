// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/python_tasks.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "json_document.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/problem/file_word.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "modules_program.hpp"
#include "problem_parts.hpp"
#include "python_text.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t triton_bench_marks = 146;
constexpr std::size_t most_specs = 64;

/// Where the line of `#` begins and ends; nothing in a text without one.
std::optional<std::pair<std::size_t, std::size_t>> cut_of(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.size() == triton_bench_marks && line.find_first_not_of('#') == std::string_view::npos)
      return std::make_pair(begin, std::min(end + 1, text.size()));
    begin = end + 1;
  }
  return std::nullopt;
}

/// Whether a text calls NAME: the word, not behind a dot, followed by a parenthesis.
bool is_called(const std::string& text, const std::string& name) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += name.size()) {
    const char before = at == 0 ? '\n' : text[at - 1];
    if (detail::in_word(before) || before == '.') continue;
    std::size_t after = at + name.size();
    while (after < text.size() && text[after] == ' ') ++after;
    if (after < text.size() && text[after] == '(') return true;
  }
  return false;
}

/// What is defined in the first column of a text: names of functions that Triton does not compile, and of
/// values; and of classes.
struct Defined {
  std::vector<std::string> functions, classes;
};

Defined defined_in(const std::string& text) {
  Defined defined;
  for (detail::PythonDefinition& one : detail::python_definitions(text))
    if (one.kind == detail::PythonDefinition::Kind::type)
      defined.classes.push_back(std::move(one.name));
    else if (!one.compiled)
      defined.functions.push_back(std::move(one.name));
  return defined;
}

/// One entry of a list of specs, `{"size": 32, seed: 4, on: True}`, as JSON: keys need no quotes.
std::string spec_as_json(const std::string& text) {
  std::string json;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    const char one = text[at];
    if (one == '"' && (at == 0 || text[at - 1] != '\\')) quoted = !quoted;
    std::size_t end = at;
    while (!quoted && end < text.size() && detail::in_word(text[end])) ++end;
    if (end == at) {
      json += one;
      ++at;
      continue;
    }
    const std::string word = text.substr(at, end - at);
    const std::size_t next = text.find_first_not_of(" \t", end);
    if (next != std::string::npos && text[next] == ':')
      json += '"' + word + '"';
    else
      json += word == "True" ? "true" : word == "False" ? "false" : word;
    at = end;
  }
  return json;
}

/// A test as it may be loaded: without the lines that run it.
std::string without_runs(const std::string& tests) {
  std::istringstream lines(tests);
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("result_gold") && !line.starts_with("print(")) kept += line + '\n';
  return kept;
}

struct TaskFile {
  std::vector<std::pair<std::string, nlohmann::ordered_json>> tests, benchmarks;
  std::vector<std::pair<std::string, std::string>> files;  ///< name, source
  bool several_devices = false;
};

std::string spec_name(const nlohmann::ordered_json& spec) {
  std::string name;
  for (auto at = spec.begin(); at != spec.end(); ++at)
    if (at.key() != "seed") name += (name.empty() ? "" : ",") + at.key() + "=" + at->dump();
  std::erase(name, '"');
  if (name.size() > 80) name.resize(80);
  return name.empty() ? "call" : name;
}

TaskFile read_task_file(const fs::path& file) {
  TaskFile task;
  const std::string text = detail::whole_text_of(file, file.parent_path());
  std::istringstream lines(text);
  std::string key;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty() && line.front() != ' ' && line.front() != '#' && line.front() != '-') {
      key = line.substr(0, line.find(':'));
      if (key == "multi_gpu" && line.find("true") != std::string::npos) task.several_devices = true;
      continue;
    }
    const std::size_t dash = line.find_first_not_of(' ');
    if (dash == std::string::npos || line[dash] != '-') continue;
    if (key != "tests" && key != "benchmarks" && key != "files") continue;
    const std::size_t brace = line.find('{', dash), close = line.rfind('}');
    const std::string place = file.string() + " line " + std::to_string(number);
    if (brace == std::string::npos || close == std::string::npos || close < brace)
      detail::raise<ConfigError>(place + ": an entry of \"" + key + "\" is not in braces", line,
                                 "write it in one line: - {\"size\": 128, \"seed\": 1}");
    const std::string json = spec_as_json(line.substr(brace, close - brace + 1));
    const auto entry = nlohmann::ordered_json::parse(json, nullptr, false);
    if (!entry.is_object())
      detail::raise<ConfigError>(place + ": an entry of \"" + key + "\" cannot be read", line,
                                 "write it in one line: - {\"size\": 128, \"seed\": 1}");
    if (key == "files") {
      const std::string name = entry.value("name", std::string());
      task.files.emplace_back(name, entry.value("source", std::string()));
      continue;
    }
    if (entry.contains("world_size") || entry.contains("num_gpus")) task.several_devices = true;
    (key == "tests" ? task.tests : task.benchmarks).emplace_back(spec_name(entry), entry);
  }
  return task;
}

}  // namespace

bool is_triton_bench(std::string_view text) {
  return cut_of(text).has_value();
}

Problem triton_bench_problem(std::string_view given, const std::string& name, const fs::path& python) {
  const auto cut = cut_of(given);
  if (!cut)
    detail::raise<ConfigError>("a file without the line that cuts its kernels from its tests", name,
                               "put a line of 146 # between them: docs/tasks.md");
  std::string kernels(given.substr(0, cut->first)), tests(given.substr(cut->second));
  std::string test;
  std::istringstream lines(tests);
  for (std::string line; test.empty() && std::getline(lines, line);)
    if (const std::string function = detail::defined_name(line, "def"); function.starts_with("test"))
      test = function;
  if (test.empty())
    detail::raise<ConfigError>("a file in TritonBench-G's form without its test", name,
                               "add `def test_NAME()` below the line of #");
  const Defined defined = defined_in(kernels);
  std::vector<std::string> called;
  for (const std::string& one : defined.functions)
    if (is_called(tests, one) && std::find(called.begin(), called.end(), one) == called.end())
      called.push_back(one);
  if (called.empty()) {
    for (const std::string& one : defined.classes)
      if (is_called(tests, one) || tests.find(" " + one + ".") != std::string::npos)
        detail::raise<ConfigError>("a test that uses a class of the file instead of calling functions",
                                   name + ": " + one, "add a function that the test calls, with tensors");
    detail::raise<ConfigError>("a test that calls no function of its file", name + ": " + test,
                               "let it call a function that is defined above the line of #");
  }
  Problem problem;
  problem.name = file_word(fs::path(name).stem().string());
  problem.description =
      "Kernels and the functions that launch them; what is sought is a file with the same functions that "
      "give "
      "the same for the calls of the test and are faster.";
  problem.function = called.front();
  problem.kernel.regions.device = kernels;
  problem.names.device = "kernels.py";
  problem.names.reference = "task.py";
  problem.reference.function = called.front();
  // The test is run when calls are to be seen, and not when the file is loaded.
  const std::string quiet = without_runs(tests);
  const nlohmann::ordered_json task{{"form", "tritonbench"}, {"calls", called}, {"test", test}};
  problem.reference.source = kernels + std::string(triton_bench_marks, '#') + "\n" + quiet +
                             "\n\n# Whose calls, made by which test, are judged and timed.\nTASK = " +
                             detail::python_literal(task, 0) + "\n";
  Shape shape;
  shape.name = "calls";
  problem.shapes.push_back(std::move(shape));
  detail::add_modules_program(problem, python);
  return problem;
}

bool is_gpu_mode_folder(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "task.yml", error) &&
         fs::is_regular_file(folder / "reference.py", error);
}

Problem read_gpu_mode_problem(const fs::path& folder, const fs::path& python) {
  const std::string where = folder.string();
  const TaskFile task = read_task_file(folder / "task.yml");
  if (task.several_devices)
    detail::raise<ConfigError>("a task for several GPUs", where,
                               "name a task for one: candidates get one device");
  if (task.benchmarks.empty())
    detail::raise<ConfigError>(
        "a task without benchmarks", where,
        "list them in task.yml: benchmarks:, and below - {\"size\": 1024, \"seed\": 1}");
  std::string reference = detail::whole_text_of(folder / "reference.py", folder);
  for (const char* function : {"ref_kernel", "generate_input"})
    if (!detail::defines(reference, "def", function))
      detail::raise<ConfigError>("a reference without `" + std::string(function) + "`", where,
                                 "define it in reference.py: docs/tasks.md");
  Problem problem;
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  problem.name = file_word(whole.filename().string());
  problem.description =
      "A task in GPU MODE's form: `ref_kernel` says what is right for the input that `generate_input` makes; "
      "what "
      "is sought is a file with `custom_kernel` that gives the same for it and is faster.";
  problem.function = "custom_kernel";
  problem.names.device = "submission.py";
  problem.names.reference = "task_reference.py";
  problem.reference.function = "ref_kernel";
  nlohmann::ordered_json calls = nlohmann::ordered_json::object();
  for (const auto* specs : {&task.benchmarks, &task.tests})
    for (std::size_t i = 0; i < std::min(specs->size(), most_specs); ++i) {
      const auto& [plain, spec] = (*specs)[i];
      Shape shape;
      shape.name = detail::new_key(calls, plain);
      if (specs == &task.tests) shape.weight = 0;
      calls[shape.name] = spec;
      problem.shapes.push_back(std::move(shape));
    }
  if (!reference.ends_with('\n')) reference += '\n';
  problem.reference.source =
      reference + "\n\n# Made of task.yml: each benchmark and test is a shape.\nTASK = " +
      detail::python_literal(nlohmann::ordered_json{{"form", "gpu_mode"}, {"calls", std::move(calls)}}, 0) +
      "\n";
  if (fs::is_regular_file(folder / "submission.py", error))
    problem.kernel.regions.device = detail::whole_text_of(folder / "submission.py", folder);
  else
    problem.kernel.regions.device = reference + "\n\ncustom_kernel = ref_kernel\n";
  detail::add_modules_program(problem, python.empty() ? find_torch_python() : python);
  // What reference and submissions import of the task: these names alone, so that nothing takes the place of
  // a library's module.
  for (const auto& [name, source] : task.files) {
    if (name != "task.py" && name != "utils.py") continue;
    const auto found = detail::path_inside(whole.parent_path().parent_path(), whole / source);
    if (!found || fs::path(source).is_absolute() || found->filename() != name ||
        !fs::is_regular_file(*found, error))
      detail::raise<ConfigError>(
          "a file of the task that is not in its collection", where + ": " + source,
          "put it into the task's folder, or into one next to that or next to the one above");
    problem.external->files.push_back({name, detail::whole_text_of(*found)});
  }
  problem.folder = folder;
  return problem;
}

}  // namespace kernelsearch
