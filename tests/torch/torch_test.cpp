// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Answers to the modules of examples/torch, honest and hostile ones, judged on the processor. What is
// expected of each stands in its text. Ends with 77 where no Python has PyTorch.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/external/module_evaluator.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/check_has.hpp"
#include "support/thorough.hpp"

namespace fs = std::filesystem;
using namespace kernelsearch;

namespace {

const fs::path tree = KERNELSEARCH_SOURCE_DIR;

std::string text_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What follows `# KEY: ` in the text; empty where there is no such line.
std::string expected(const std::string& text, const std::string& key) {
  const std::string begin = "# " + key + ": ";
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return {};
  return text.substr(at + begin.size(), text.find('\n', at) - at - begin.size());
}

std::vector<fs::path> files_of(const char* folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(tree / "tests" / "torch" / folder))
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

HostOptions quick() {
  HostOptions options;
  options.sampling.budget_seconds = 0.02;
  options.sampling.min_samples = 3;
  options.pairs.when = Pairing::never;
  return options;
}

/// One evaluator for all answers to a module.
ModuleEvaluator& evaluator_of(const std::string& module) {
  static std::map<std::string, std::unique_ptr<ModuleEvaluator>> known;
  std::unique_ptr<ModuleEvaluator>& one = known[module];
  if (!one) {
    Problem problem = read_problem(tree / "examples" / "torch" / module);
    problem.external->answer_seconds = 20;
    one = std::make_unique<ModuleEvaluator>(std::move(problem), quick());
  }
  return *one;
}

Candidate answer(std::string text) {
  Kernel kernel;
  kernel.regions.device = std::move(text);
  return {std::make_shared<const Kernel>(std::move(kernel)), {}};
}

/// Judges one in `of` of the folder's files, or all of them where that is asked for.
void judge_files(const char* folder, std::size_t of) {
  auto files = files_of(folder);
  keep_tested(files, of);
  for (const fs::path& file : files) {
    const std::string text = text_of_file(file);
    CAPTURE(file.filename().string());
    const Evaluation evaluation = evaluator_of(expected(text, "of")).evaluate(answer(text), {});
    CAPTURE(evaluation.reason);
    CHECK(to_string(evaluation.verdict) == expected(text, "verdict"));
    check_has(evaluation.reason, expected(text, "reason"));
    check_has(evaluation.provenance, expected(text, "provenance"));
    if (evaluation.verdict == Verdict::ok) {
      CHECK(evaluation.measurement.seconds > 0);
      CHECK(*evaluation.features.find("checked_calls") == 4);
      CHECK(*evaluation.features.find("verified_calls") > 0);
      CHECK(*evaluation.features.find("torch.error") < 1);
    }
  }
}

}  // namespace

TEST_CASE("modules: each example is right as its own answer") {
  for (const fs::directory_entry& entry : fs::directory_iterator(tree / "examples" / "torch")) {
    if (entry.path().extension() != ".py") continue;
    CAPTURE(entry.path().filename().string());
    ModuleEvaluator& evaluator = evaluator_of(entry.path().filename().string());
    const Evaluation evaluation = evaluator.evaluate(evaluator.problem().default_candidate(), {});
    CHECK(evaluation.reason == "");
    CHECK(evaluation.verdict == Verdict::ok);
    check_has(evaluation.provenance, " timed calls against the module in f64, ");
    check_has(evaluation.provenance, "; calls PyTorch only");
  }
}

TEST_CASE("modules: honest answers are right") {
  judge_files("honest", 3);
}

TEST_CASE("modules: hostile answers get the verdict that they deserve, and the next one is judged as ever") {
  judge_files("hostile", 2);
  ModuleEvaluator& evaluator = evaluator_of("softmax.py");
  CHECK(evaluator.evaluate(evaluator.problem().default_candidate(), {}).verdict == Verdict::ok);
}

TEST_CASE("modules: what nothing can be said of is refused with the reason") {
  for (const fs::path& file : files_of("refused")) {
    CAPTURE(file.filename().string());
    std::string what;
    try {
      const ModuleEvaluator evaluator(read_problem(file), quick());
    } catch (const ConfigError& error) {
      what = error.what();
    }
    check_has(what, expected(text_of_file(file), "reason"));
    CHECK(what != "");
  }
}

TEST_CASE("modules: two answers are compared in pairs, and one that is not right is refused") {
  ModuleEvaluator& evaluator = evaluator_of("softmax.py");
  const Candidate first = evaluator.problem().default_candidate();
  PairOptions pairs;
  pairs.max_pairs = pairs.min_pairs = 2;
  const Speedup speedup = evaluator.compare(first, first, pairs);
  CHECK(speedup.pairs == 2);
  CHECK(speedup.ratio > 0);
  const Candidate wrong = answer(text_of_file(tree / "tests" / "torch" / "hostile" / "zeros.py"));
  CHECK_THROWS_AS((void)evaluator.compare(wrong, first, pairs), ConfigError);
}

TEST_CASE("modules: the module itself is measured beside an answer") {
  HostOptions options = quick();
  options.pairs = {.when = Pairing::always, .min_pairs = 2, .max_pairs = 2};
  ModuleEvaluator evaluator(read_problem(tree / "examples" / "torch" / "chain.py"), options);
  const Evaluation evaluation = evaluator.evaluate(evaluator.problem().default_candidate(), {});
  CHECK(evaluation.reason == "");
  REQUIRE(evaluation.measurement.speedup);
  CHECK(evaluation.measurement.speedup->pairs == 2);
  check_has(evaluation.provenance, "torch.compile");
}

int main(int count, char** words) {
  try {
    (void)find_torch_python();
  } catch (const ConfigError& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  return doctest::Context(count, words).run();
}
