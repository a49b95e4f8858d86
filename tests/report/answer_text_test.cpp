// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/answer_text.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/definition_problem.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/problem/python_tasks.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using namespace kernelsearch;

namespace {

constexpr const char* any_python = "/usr/bin/python3";

Problem example_definition() {
  return read_definition_problem(
      fs::path(KERNELSEARCH_SOURCE_DIR) / "examples" / "torch" / "definition" / "definition.json",
      any_python);
}

bool passes_outputs(const std::string& answer) {
  const auto json = nlohmann::json::parse(
      answer_text(example_definition(), answer, AnswerFormat::solution, {.device = "some device"}));
  return json["spec"]["destination_passing_style"].get<bool>();
}

/// The Python that has flashinfer-bench; empty, and said, where that is not installed.
std::string flashinfer_python() {
  const char* named = std::getenv("KERNELSEARCH_PYTHON");
  const std::string python = named != nullptr ? named : "python3";
  if (std::system(("'" + python + "' -c 'import flashinfer_bench' 2>/dev/null").c_str()) == 0) return python;
  MESSAGE("skipped: the Python of KERNELSEARCH_PYTHON, or python3, has no flashinfer-bench");
  return {};
}

}  // namespace

TEST_CASE("answer_text: a solution of a definition, in the language and style of its text") {
  const Problem problem = example_definition();
  const std::string answer = "import triton\n\n\ndef run(xg, weight, epsilon):\n    return xg\n";
  const auto json =
      nlohmann::json::parse(answer_text(problem, answer, AnswerFormat::solution, {.device = "some device"}));
  CHECK(json["definition"] == "gated_row_scale");
  CHECK(json["name"].get<std::string>().starts_with("gated_row_scale_kernelsearch_"));
  CHECK(json["spec"]["language"] == "triton");
  CHECK(json["spec"]["entry_point"] == "main.py::run");
  CHECK(json["spec"]["target_hardware"] == nlohmann::json{"some device"});
  CHECK(json["spec"]["dependencies"] == nlohmann::json{"torch", "triton"});
  CHECK(json["sources"][0]["content"] == answer);
  CHECK_FALSE(passes_outputs(answer));
  CHECK(passes_outputs("def run(xg, weight, epsilon, y):\n    pass\n"));
  CHECK_FALSE(
      passes_outputs("def run(\n    xg: 'a[1, 2]',\n    weight=(1, 2),\n    epsilon=0,\n):\n    pass\n"));
  CHECK(passes_outputs("def go(*all):\n    pass\n\n\nrun = go\nrun.destination_passing_style = True\n"));
  CHECK_FALSE(
      passes_outputs("def run(a, b, c, d=1):\n    pass\n\n\nrun.destination_passing_style = False\n"));
}

TEST_CASE("answer_text: a solution is read back, and by flashinfer-bench where that is installed") {
  const Problem problem = example_definition();
  const TemporaryFolder folder;
  const fs::path example = fs::path(KERNELSEARCH_SOURCE_DIR) / "examples" / "torch" / "definition";
  for (const char* file : {"definition.json", "workload.jsonl"})
    fs::copy_file(example / file, folder.path() / file);
  const fs::path file = folder.path() / "answer.json";
  std::ofstream(file) << answer_text(problem, problem.kernel.regions.device, AnswerFormat::solution, {});
  const Problem again = read_definition_problem(file, any_python);
  CHECK(again.kernel.regions.device ==
        problem.kernel.regions.device + "run.destination_passing_style = False\n");
  const std::string python = flashinfer_python();
  if (python.empty()) return;
  std::ofstream(folder.path() / "load.py")
      << "import sys\nfrom flashinfer_bench.data import Definition, Solution\n"
         "solution = Solution.model_validate_json(open(sys.argv[1]).read())\n"
         "assert solution.definition == 'gated_row_scale' and solution.get_entry_symbol() == 'run'\n"
         "assert solution.spec.destination_passing_style is False\n";
  CHECK(
      std::system(("'" + python + "' '" + (folder.path() / "load.py").string() + "' '" + file.string() + "'")
                      .c_str()) == 0);
}

TEST_CASE(
    "answer_text: traces of a definition's workloads, and flashinfer-bench reads them where it is "
    "installed") {
  const Problem problem = example_definition();
  const std::string answer = problem.kernel.regions.device;
  Evaluation evaluation;
  evaluation.provenance = "measured";
  Speedup twice;
  twice.ratio = 2;
  twice.pairs = 4;
  for (const char* name : {"rows=8", "rows=512"}) {
    ShapeMeasurement shape;
    shape.shape = name;
    shape.median = 0.25;
    if (name == std::string("rows=8")) shape.speedup = twice;
    evaluation.measurement.shapes.push_back(shape);
    evaluation.features.set(std::string("torch.absolute_error.") + name, 1e-6);
    evaluation.features.set(std::string("torch.relative_error.") + name, 1e-5);
  }
  AnswerMeasured measured{"some device", "torch 1", "2026-01-02T03:04:05.000Z", &evaluation};
  const std::string lines = answer_text(problem, answer, AnswerFormat::evaluation_trace, measured);
  const auto trace = nlohmann::json::parse(lines);  // one line: the other workload was not paired
  CHECK(trace["definition"] == "gated_row_scale");
  CHECK(trace["workload"]["uuid"] == "few");
  CHECK(trace["workload"]["axes"] == nlohmann::json{{"rows", 8}});
  CHECK(trace["workload"]["inputs"]["epsilon"] == nlohmann::json{{"type", "scalar"}, {"value", 1e-6}});
  CHECK(trace["evaluation"]["performance"] ==
        nlohmann::json{{"latency_ms", 250.0}, {"reference_latency_ms", 500.0}, {"speedup_factor", 2.0}});
  CHECK(trace["evaluation"]["correctness"] ==
        nlohmann::json{{"max_absolute_error", 1e-6}, {"max_relative_error", 1e-5}});
  CHECK(trace["evaluation"]["environment"]["hardware"] == "some device");
  CHECK(trace["evaluation"]["timestamp"] == "2026-01-02T03:04:05.000Z");
  const std::string solution = answer_text(problem, answer, AnswerFormat::solution, measured);
  CHECK(trace["solution"] == nlohmann::json::parse(solution)["name"]);
  Evaluation alone = evaluation;
  alone.measurement.shapes.front().speedup.reset();
  measured.evaluation = &alone;
  CHECK_THROWS_WITH_AS((void)answer_text(problem, answer, AnswerFormat::evaluation_trace, measured),
                       doctest::Contains("no workload of the winner was timed in pairs"), ConfigError);

  const std::string python = flashinfer_python();
  if (python.empty()) return;
  const TemporaryFolder folder;
  for (const char* part : {"definitions", "solutions", "workloads", "traces"})
    fs::create_directories(folder.path() / part);
  auto definition = nlohmann::json::parse(std::ifstream(fs::path(KERNELSEARCH_SOURCE_DIR) / "examples" /
                                                        "torch" / "definition" / "definition.json"));
  definition["axes"]["twice"] = {{"type", "const"}, {"value", 512}};  // expressions are SOL-ExecBench's alone
  std::ofstream(folder.path() / "definitions" / "gated_row_scale.json") << definition.dump();
  std::ofstream(folder.path() / "solutions" / "answer.json") << solution;
  std::ofstream(folder.path() / "traces" / "gated_row_scale.jsonl") << lines;
  std::ofstream(folder.path() / "load.py")
      << "import sys\nfrom flashinfer_bench.data import TraceSet\n"
         "known = TraceSet.from_path(sys.argv[1])\n"
         "traces = known.traces['gated_row_scale']\n"
         "assert len(traces) == 1 and traces[0].is_successful(), traces\n"
         "assert known.get_solution(traces[0].solution).definition == 'gated_row_scale'\n"
         "best = known.get_best_trace('gated_row_scale', max_abs_error=1, max_rel_error=1)\n"
         "assert best.evaluation.performance.speedup_factor == 2.0\n";
  CHECK(std::system(("'" + python + "' '" + (folder.path() / "load.py").string() + "' '" +
                     folder.path().string() + "'")
                        .c_str()) == 0);
}

TEST_CASE("answer_text: files of KernelBench, GPU MODE and TritonBench-G, each for its own task alone") {
  const Problem module =
      module_problem("class Model:\n    pass\n\n\ndef get_inputs():\n    return []\n", "one.py", any_python);
  const std::string answer = "class ModelNew:\n    pass\n";
  CHECK(answer_text(module, answer, AnswerFormat::modelnew, {}) == answer);

  const std::string marks(146, '#');
  const std::string kernels = "def scale(x):\n    return x\n";
  const std::string test = "\n\ndef test_scale():\n    return scale(1)\n\n\nresult_gold = test_scale()\n";
  const Problem calls = triton_bench_problem(kernels + marks + "\n" + test, "scale.py", any_python);
  const std::string faster = "def scale(x):\n    return 1 * x\n";
  const std::string written = answer_text(calls, faster, AnswerFormat::tritonbench, {});
  CHECK(written.starts_with(faster + marks + "\n"));
  check_has(written, "\ndef test_scale():\n    return scale(1)\n");
  CHECK(written.ends_with("\nresult_gold = test_scale()\n"));
  CHECK(written.find("TASK") == std::string::npos);
  CHECK(triton_bench_problem(written, "scale.py", any_python).reference.function == "scale");

  const TemporaryFolder folder;
  std::ofstream(folder.path() / "task.yml") << "benchmarks:\n  - {\"size\": 1}\n";
  std::ofstream(folder.path() / "reference.py")
      << "def ref_kernel(data):\n    return data\n\n\ndef generate_input(size):\n    return size\n";
  const Problem mode = read_gpu_mode_problem(folder.path(), any_python);
  CHECK(answer_text(mode, "def custom_kernel(data):\n    return data\n", AnswerFormat::submission, {}) ==
        "def custom_kernel(data):\n    return data\n");

  const Problem* problems[] = {&module, &calls, &mode};
  const AnswerFormat formats[] = {AnswerFormat::modelnew, AnswerFormat::tritonbench,
                                  AnswerFormat::submission};
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_AS((void)answer_text(*problems[i], answer, AnswerFormat::solution, {}), ConfigError);
    CHECK_THROWS_AS((void)answer_text(example_definition(), answer, formats[i], {}), ConfigError);
    for (int j = 0; j < 3; ++j)
      if (i != j)
        CHECK_THROWS_WITH_AS((void)answer_text(*problems[i], answer, formats[j], {}),
                             doctest::Contains("do not have this form"), ConfigError);
  }
}

TEST_CASE("answer_text: names of the forms") {
  for (const char* name : {"solution", "modelnew", "submission", "tritonbench", "evaluation-trace"})
    CHECK(to_string(answer_format_from(name).value()) == name);
  CHECK_FALSE(answer_format_from("jsonl"));
}
