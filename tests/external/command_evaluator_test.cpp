// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/external/command_evaluator.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "problem/modules_program.hpp"
#include "scripted_evaluator.hpp"
#include "support/approx.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

/// A task whose harness needs nothing but Python: an answer is `SLOW = seconds` and what it does.
Problem harness_task(const std::filesystem::path& folder,
                     const std::string& time = "python3 harness.py time") {
  std::ofstream(folder / "config.yaml")
      << "task_type: python2python\nsource_file_path: kernel.py\ncompile_command: python3 -c 'import "
         "kernel'\n"
         "correctness_command: python3 harness.py check\ncorrectness_timeout: 5\nperformance_command: "
      << '"' << time << "\"\n";
  std::ofstream(folder / "kernel.py") << "MS = 4.0\n\n\ndef value():\n    return 3\n";
  std::ofstream(folder / "expected.txt") << "3";
  std::ofstream(folder / "harness.py")
      << "import json, os, sys\nimport kernel\n"
         "if sys.argv[1] == 'check':\n"
         "    assert kernel.value() == int(open('expected.txt').read()), 'another value'\n"
         "else:\n"
         "    os.makedirs('build', exist_ok=True)\n"
         "    cases = [{'test_case_id': n, 'execution_time_ms': kernel.MS * f} for n, f in (('a', 1), ('b', "
         "4))]\n"
         "    json.dump(cases, open('build/performance_report.json', 'w'))\n";
  return read_command_task(folder, "/usr/bin/python3");
}

Candidate task_answer(const std::string& text) {
  Kernel kernel;
  kernel.regions.device = text;
  return {std::make_shared<const Kernel>(std::move(kernel)), {}};
}

}  // namespace

TEST_CASE("CommandEvaluator: a task's commands build, check and time an answer") {
  if (!test::has_system_python()) {
    MESSAGE("skipped: there is no /usr/bin/python3");
    return;
  }
  const TemporaryFolder folder;
  HostOptions options;
  options.pairs.when = Pairing::never;
  CommandEvaluator evaluator(harness_task(folder.path()), options);
  const Evaluation own = evaluator.evaluate(evaluator.problem().default_candidate(), {});
  CHECK(own.reason == "");
  CHECK(own.verdict == Verdict::ok);
  CHECK(own.measurement.seconds == approx(8e-3));
  CHECK(own.measurement.shapes.front().samples.size() == 3);
  CHECK(own.features.find("task.cases") == 2.0);
  CHECK(own.features.find("task.ms.b") == 16.0);
  CHECK_FALSE(own.measurement.speedup);
  check_has(own.provenance, "trusted: what they call right, and the times that they report");
  check_has(evaluator.toolchain_id(), "commands of python2python, times claimed, digest ");
  struct Answer {
    const char* text;
    Verdict verdict;
    const char* reason;
  };
  const std::string right = "MS = 1.0\n\n\ndef value():\n    return 3\n";
  for (const Answer& one :
       {Answer{"def (", Verdict::build_failed,
               "the command that builds: `python3 -c 'import kernel'` ended with 1: "},
        Answer{"def value():\n    return 4\n", Verdict::wrong_result, "AssertionError: another value"},
        Answer{"def value():\n    while True: pass\n", Verdict::timed_out, "no end within 5 s"},
        Answer{"def value():\n    return 3\n", Verdict::launch_failed, "has no attribute 'MS'"},
        Answer{"MS = 'x'\n\n\ndef value():\n    return 3\n", Verdict::launch_failed, "states no time"},
        Answer{right.c_str(), Verdict::ok, ""}}) {
    CAPTURE(one.text);
    const Evaluation evaluation = evaluator.evaluate(task_answer(one.text), {});
    CHECK(to_string(evaluation.verdict) == to_string(one.verdict));
    check_has(evaluation.reason, one.reason);
  }
  // What an answer writes over the harness while it is built is put back before the check.
  const std::string liar = "open('expected.txt', 'w').write('8')\n\n\ndef value():\n    return 8\n";
  CHECK(evaluator.evaluate(task_answer("import sys\nif sys.argv[0] == '-c':\n    " + liar), {}).verdict ==
        Verdict::wrong_result);
}

TEST_CASE("CommandEvaluator: an answer is timed in turns with the task's own text, and with others") {
  if (!test::has_system_python()) {
    MESSAGE("skipped: there is no /usr/bin/python3");
    return;
  }
  const TemporaryFolder folder;
  HostOptions options;
  options.pairs.when = Pairing::always;
  CommandEvaluator evaluator(harness_task(folder.path()), options);
  const Candidate twice = task_answer("MS = 2.0\n\n\ndef value():\n    return 3\n");
  const Evaluation evaluation = evaluator.evaluate(twice, {});
  REQUIRE(evaluation.measurement.speedup);
  CHECK(evaluation.measurement.speedup->ratio == approx(2));
  CHECK(evaluation.measurement.speedup->pairs == 3);
  PairOptions pairs;
  pairs.min_pairs = 4;
  const Speedup again = evaluator.compare(evaluator.problem().default_candidate(), twice, pairs);
  CHECK(again.ratio == approx(0.5));
  CHECK(again.pairs == 4);
  CHECK_THROWS_AS((void)evaluator.compare(task_answer("def ("), twice, pairs), ConfigError);
  CHECK_THROWS_AS((void)CommandEvaluator(Problem(), options), ConfigError);
}

TEST_CASE("CommandEvaluator: a time that is printed counts where no report states one") {
  if (!test::has_system_python()) {
    MESSAGE("skipped: there is no /usr/bin/python3");
    return;
  }
  for (const auto& [printed, seconds] :
       {std::pair("GEAK_RESULT_LATENCY_MS=0.5 of 9 ms", 0.5e-3), std::pair("Performance: 2 s", 2.0),
        std::pair("avg time: 3 ms", 3e-3), std::pair("took 7.5 ms", 7.5e-3)}) {
    const TemporaryFolder folder;
    HostOptions options;
    options.pairs.when = Pairing::never;
    CommandEvaluator evaluator(harness_task(folder.path(), std::string("echo '") + printed + "'"), options);
    const Evaluation evaluation = evaluator.evaluate(evaluator.problem().default_candidate(), {});
    CHECK(evaluation.reason == "");
    CHECK(evaluation.measurement.seconds == approx(seconds));
  }
}

TEST_CASE(
    "CommandEvaluator: commands have the values of tunables, and NVBench's times of the device are read") {
  if (!test::has_system_python()) {
    MESSAGE("skipped: there is no /usr/bin/python3");
    return;
  }
  const TemporaryFolder root;
  std::filesystem::create_directories(root.path() / "nvbench_helper" / "nvbench_helper");
  std::ofstream(root.path() / "nvbench_helper" / "nvbench_helper" / "nvbench_helper.cuh") << "\n";
  std::ofstream(root.path() / "sum.cu") << "// %RANGE% TUNE_A a 2:4:1\n";
  Problem problem = read_cub_benchmark(root.path() / "sum.cu", "/usr/bin/python3");
  CommandTask task = command_task_of(problem);
  // In the place of nvcc and of NVBench: the time is that of the value.
  const std::string state =
      R"({\"name\": \"s\", \"summaries\": [{\"tag\": \"nv/cold/time/gpu/mean\", \"data\": )"
      R"([{\"name\": \"value\", \"value\": \"0.00$a\"}]}]})";
  task.build = {"printf %s \"$KERNELSEARCH_DEFINES\" > defines.txt"};
  task.check = {"grep -q TUNE_BASE=[01] defines.txt"};
  task.time = {
      "a=$(sed 's/.*TUNE_A=//' defines.txt); echo \"{\\\"benchmarks\\\": [{\\\"name\\\": \\\"base\\\", "
      "\\\"states\\\": [" +
      state + ", {\\\"name\\\": \\\"skipped\\\", \\\"summaries\\\": null}]}]}\" > nvbench.json"};
  problem.reference.source = detail::command_task_json(task);
  HostOptions options;
  options.pairs.when = Pairing::never;
  CommandEvaluator evaluator(problem, options);
  const Candidate own = problem.default_candidate();
  CHECK(evaluator.evaluate(own, {}).measurement.seconds == approx(2e-3));
  const Space& space = problem.kernel.space;
  const std::vector<Value> values{std::int64_t{0}, std::int64_t{4}};
  const Evaluation four = evaluator.evaluate({own.kernel, space.config_of(values).value()}, {});
  CHECK(four.reason == "");
  CHECK(four.measurement.seconds == approx(4e-3));
  CHECK(four.features.find("task.ms.base s") == approx(4.0));
}
