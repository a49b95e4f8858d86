// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/external/module_evaluator.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/problem/definition_problem.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "scripted_evaluator.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using test::scripted_module;

namespace {

HostOptions quick_module(Pairing when = Pairing::never) {
  HostOptions options;
  options.sampling.budget_seconds = 0.02;
  options.pairs = {.when = when, .min_pairs = 2, .max_pairs = 2};
  return options;
}

Candidate module_answer(const std::string& text) {
  Kernel kernel;
  kernel.regions.device = text;
  return {std::make_shared<const Kernel>(std::move(kernel)), {}};
}

constexpr const char* two_shapes = R"([{"name": "plain", "added": 0}, {"name": "more", "added": 1}])";

std::string refused_module(const std::string& module, const std::string& shapes = two_shapes) {
  const TemporaryFolder folder;
  try {
    const ModuleEvaluator evaluator(scripted_module(folder.path(), module, shapes), quick_module());
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace

#define NEEDS_SYSTEM_PYTHON                           \
  if (!test::has_system_python()) {                   \
    MESSAGE("skipped: there is no /usr/bin/python3"); \
    return;                                           \
  }

TEST_CASE("ModuleEvaluator: a problem with a Python reference is read, written and told from others") {
  const TemporaryFolder folder;
  const Problem problem = scripted_module(folder.path());
  CHECK(has_module_reference(problem));
  const Problem again = parse_problem(problem_json(problem), ".");
  CHECK(has_module_reference(again));
  CHECK(problem_digest(again) == problem_digest(problem));
  Problem other = problem;
  other.reference.source += "#";
  CHECK(problem_digest(other) != problem_digest(problem));
  other.reference.compiler = "g++";
  CHECK_FALSE(has_module_reference(other));
}

TEST_CASE("ModuleEvaluator: an honest answer is timed and checked, beside the module itself") {
  NEEDS_SYSTEM_PYTHON
  const TemporaryFolder folder;
  ModuleEvaluator evaluator(scripted_module(folder.path()), quick_module(Pairing::always));
  const Evaluation evaluation = evaluator.evaluate(evaluator.problem().default_candidate(), {});
  CHECK(evaluation.reason == "");
  CHECK(evaluation.verdict == Verdict::ok);
  CHECK(evaluation.measurement.seconds > 0);
  CHECK(evaluation.features.find("checked_calls") == 4.0);
  CHECK(*evaluation.features.find("verified_calls") > 0);
  CHECK(evaluation.features.find("torch.error") == 0.1);
  check_has(evaluation.provenance, "scripted 1 on a clock; sandbox ");
  check_has(evaluation.provenance, "weights that no constructor makes, taken by names");
  check_has(evaluation.provenance, "; not compared with torch.compile: there is no torch.compile");
  check_has(evaluator.device_id(), "a clock, by scripted");
  check_has(evaluator.toolchain_id(), "module by scripted 1, timed by slope, digest ");
  CHECK(evaluator.facts() == std::vector<std::string>{"a fact", "a note"});
  CHECK(evaluator.features().empty());
  check_has(refused_module("odd work"), "describes work without a number for \"bytes\"");
}

TEST_CASE("ModuleEvaluator: models are told what its calls do, of the first timed shapes") {
  NEEDS_SYSTEM_PYTHON
  const TemporaryFolder folder;
  constexpr const char* shapes =
      R"([{"name": "a", "weight": 0}, {"name": "b"}, {"name": "c"}, {"name": "d"}, {"name": "e"}])";
  const ModulePeaks unasked = [](bool) -> DevicePeaks { throw std::logic_error("of a processor"); };
  const AnyEvaluator evaluator(
      ModuleEvaluator(scripted_module(folder.path(), "explains", shapes), quick_module(), unasked));
  CHECK(evaluator.facts() ==
        std::vector<std::string>{"a fact", "a note", "operator 1: mul -> f32[64] of shape 1",
                                 "operator 1: mul -> f32[64] of shape 2",
                                 "operator 1: mul -> f32[64] of shape 3", "1 thread, 1 s, peaks []"});
  CHECK(evaluator.features() == std::vector<std::string>{"torch", "gpu", "triton"});
}

TEST_CASE("ModuleEvaluator: a reference that ends while it tells of its calls is started again") {
  NEEDS_SYSTEM_PYTHON
  const TemporaryFolder folder;
  std::string noted;
  HostOptions options = quick_module();
  options.notes = [&noted](std::string_view note) { noted = note; };
  ModuleEvaluator evaluator(scripted_module(folder.path(), "explains and dies"), options);
  const std::vector<std::string> facts = evaluator.facts();
  REQUIRE(facts.size() == 3);
  CHECK(facts[2] == "what its calls do is not known: the reference failed when it was asked");
  check_has(noted, "the reference is gone: the reference ended while it told of the module");
  CHECK(evaluator.evaluate(module_answer("honest"), {}).verdict == Verdict::ok);
}

TEST_CASE(
    "ModuleEvaluator: what does not compute what is asked gets its verdict, and the next one is judged") {
  NEEDS_SYSTEM_PYTHON
  const TemporaryFolder folder;
  ModuleEvaluator evaluator(scripted_module(folder.path()), quick_module());
  struct Answer {
    const char* text;
    Verdict verdict;
    const char* reason;
  };
  for (const Answer& one :
       {Answer{"by_seed", Verdict::ok, ""}, Answer{"no_weights", Verdict::wrong_result, "element 0 is wrong"},
        Answer{"unbuildable", Verdict::build_failed, "line 3: no such thing"},
        Answer{"by_slot", Verdict::wrong_result, " is wrong"},
        Answer{"skips", Verdict::wrong_result, "the same memory for several calls"},
        Answer{"late", Verdict::wrong_result, " is wrong"},
        Answer{"nowhere", Verdict::cheated, "an output lies where it has no memory"},
        Answer{"crashes", Verdict::crashed, "it was ended by signal"},
        Answer{"ends_server", Verdict::crashed, ""}, Answer{"hangs", Verdict::timed_out, "did not answer"},
        Answer{"shape", Verdict::wrong_result, "output 0 is f32[32, 2], expected f32[64]"},
        Answer{"spread", Verdict::cheated, "does not say what its outputs are"},
        Answer{"twice", Verdict::cheated, "spoke without being asked"}, Answer{"honest", Verdict::ok, ""}}) {
    CAPTURE(one.text);
    const Evaluation evaluation = evaluator.evaluate(module_answer(one.text), {});
    CAPTURE(evaluation.reason);
    CHECK(to_string(evaluation.verdict) == to_string(one.verdict));
    check_has(evaluation.reason, one.reason);
  }
}

TEST_CASE("ModuleEvaluator: of a slow reference fewer calls are asked, in further processes and late ones") {
  NEEDS_SYSTEM_PYTHON
  const TemporaryFolder folder;
  SUBCASE("a further process is checked until the reference has taken a quarter of a second") {
    HostOptions options = quick_module(Pairing::always);
    options.finalist_rounds = 2;
    ModuleEvaluator evaluator(scripted_module(folder.path(), "plain again, slow at 1 for 0.3 s"), options);
    EvaluationContext context;
    context.finalist = true;
    const Evaluation finalist = evaluator.evaluate(module_answer("honest"), context);
    CHECK(finalist.reason == "");
    check_has(finalist.provenance, "; 4 calls checked before");
    CHECK(finalist.measurement.speedup.has_value());
    ModuleEvaluator quick(scripted_module(folder.path(), "plain again"), options);
    check_has(quick.evaluate(module_answer("honest"), context).reason, "element 0 is wrong");
  }
  SUBCASE("after four seconds one request of four is asked about") {
    HostOptions options = quick_module();
    options.sampling = {.precision = 1e-9, .min_samples = 100, .max_samples = 100, .budget_seconds = 60};
    ModuleEvaluator evaluator(scripted_module(folder.path(), "slow at 5 for 4.1 s"), options);
    const Evaluation honest = evaluator.evaluate(module_answer("honest"), {});
    CHECK(honest.reason == "");
    // At most 64 calls of the first request, then one of a quarter of about 300 requests.
    CHECK(*honest.features.find("verified_calls") > 66);
    CHECK(*honest.features.find("verified_calls") < 250);
  }
}

TEST_CASE("ModuleEvaluator: an answer is checked and timed on every shape") {
  NEEDS_SYSTEM_PYTHON
  const TemporaryFolder folder;
  ModuleEvaluator evaluator(scripted_module(folder.path(), "y = w x + added", two_shapes), quick_module());
  const Evaluation right = evaluator.evaluate(module_answer("adds"), {});
  CHECK(right.reason == "");
  CHECK(right.verdict == Verdict::ok);
  CHECK(right.features.find("checked_calls") == 8.0);
  REQUIRE(right.measurement.shapes.size() == 2);
  CHECK(right.measurement.shapes[0].shape == "plain");
  CHECK(right.measurement.shapes[1].shape == "more");
  for (const ShapeMeasurement& shape : right.measurement.shapes) CHECK(shape.samples.size() >= 5);
  const Evaluation wrong = evaluator.evaluate(module_answer("honest"), {});
  CHECK(to_string(wrong.verdict) == to_string(Verdict::wrong_result));
  check_has(wrong.reason, "shape more: element 0 is wrong");
}

TEST_CASE("ModuleEvaluator: pairs of two answers, each in a process of its own") {
  NEEDS_SYSTEM_PYTHON
  const TemporaryFolder folder;
  ModuleEvaluator evaluator(scripted_module(folder.path()), quick_module());
  const PairOptions pairs{.min_pairs = 2, .max_pairs = 2};
  CHECK(evaluator.compare(module_answer("honest"), module_answer("by_seed"), pairs).pairs == 2);
  CHECK_THROWS_AS((void)evaluator.compare(module_answer("by_slot"), module_answer("no_weights"), pairs),
                  ConfigError);
}

TEST_CASE("ModuleEvaluator: a module that is declined, and another protocol, are told at once") {
  NEEDS_SYSTEM_PYTHON
  check_has(refused_module("declined"), "it drops out elements at random");
  check_has(refused_module("old"), "speaks another protocol");
  check_has(refused_module("one"), "does not describe the problem's 2 shapes");
}

TEST_CASE(
    "ModuleEvaluator: a write around an input that a call may change is told with the index and the side") {
  NEEDS_SYSTEM_PYTHON
  const TemporaryFolder folder;
  ModuleEvaluator evaluator(scripted_module(folder.path(), "changes x"), quick_module());
  CHECK(evaluator.evaluate(module_answer("honest"), {}).reason == "");
  const Evaluation past = evaluator.evaluate(module_answer("past"), {});
  CHECK(past.verdict == Verdict::cheated);
  CHECK(past.overrun == Overrun{"input 0", 69, 64});
  check_has(past.reason,
            "it wrote outside of its arrays: input 0[69], past the end of input 0 (64 elements)");
  const Evaluation ahead = evaluator.evaluate(module_answer("ahead"), {});
  CHECK(ahead.overrun == Overrun{"input 0", -2, 64});
  check_has(ahead.reason, "input 0[-2], before the beginning of input 0 (64 elements)");
}

TEST_CASE("ModuleEvaluator: an answer is also paired with the baseline, and has the score S over it") {
  NEEDS_SYSTEM_PYTHON
  const TemporaryFolder folder;
  DevicePeaks peaks;
  peaks.levels = {{"memory", std::numeric_limits<double>::infinity(), 1e6}};
  const auto judged = [&](const std::string& baseline, const char* shapes, bool with_peaks = true) {
    Problem problem = scripted_module(folder.path(), "y = w x", shapes);
    if (!baseline.empty()) {
      std::ofstream(folder.path() / "baseline.py") << "ModelNew = 0\n" << baseline << "\n";
      add_baseline(problem, folder.path() / "baseline.py");
    }
    peaks.f32 = 1e9;
    ModuleEvaluator evaluator(std::move(problem), quick_module(Pairing::always),
                              with_peaks ? ModulePeaks([&](bool on_device) {
                                CHECK_FALSE(on_device);
                                return peaks;
                              })
                                         : nullptr);
    return evaluator.evaluate(module_answer("adds"), {});
  };
  const char* one_shape = R"([{"name": "plain"}])";
  const Evaluation with = judged("adds", two_shapes);
  CHECK(with.reason == "");
  CHECK(*with.features.find("torch.over_baseline") > 0);
  CHECK(*with.features.find("torch.over_baseline_low") <= *with.features.find("torch.over_baseline"));
  CHECK(*with.features.find("torch.over_baseline_high") >= *with.features.find("torch.over_baseline"));
  check_has(with.provenance, ") over the baseline");
  check_has(with.provenance, " over the baseline, by a roofline bound");
  CHECK(with.features.find("sol.seconds.plain") == 512 / 1e6);
  CHECK(*with.features.find("sol.score") > 0);
  CHECK(*with.features.find("sol.score") <= 1);
  CHECK(with.features.find("torch.absolute_error.more") == 2e-7);
  CHECK(with.features.find("torch.relative_error.plain") == 3e-7);
  const Evaluation without = judged("", one_shape);
  CHECK_FALSE(without.features.find("torch.over_baseline"));
  check_has(without.provenance, " over the module, by a roofline bound");
  const Evaluation broken = judged("unbuildable", one_shape);
  CHECK(broken.reason == "");
  check_has(broken.provenance, "; not compared with the baseline, which fails: line 3: no such thing");
  check_has(broken.provenance, " over the module, by a roofline bound");
  CHECK_FALSE(judged("", one_shape, false).features.find("sol.score"));
}
