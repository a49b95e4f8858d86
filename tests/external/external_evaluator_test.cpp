// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/external/external_evaluator.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "scripted_evaluator.hpp"
#include "support/approx.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

HostOptions few_rounds() {
  HostOptions options;
  options.sampling.budget_seconds = 0.05;
  return options;
}

Evaluation judged_program(const std::string& mode, double microseconds = 500, const std::string& more = "",
                          HostOptions options = few_rounds()) {
  const TemporaryFolder folder;
  ExternalEvaluator evaluator(test::scripted_problem(folder.path(), mode, microseconds, more), options);
  return evaluator.evaluate(evaluator.problem().default_candidate(), {});
}

std::string refused_program(const std::string& mode, const std::string& more = "") {
  const TemporaryFolder folder;
  try {
    ExternalEvaluator evaluator(test::scripted_problem(folder.path(), mode, 500, more), few_rounds());
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace

#define SKIP_WITHOUT_PYTHON                           \
  if (!test::has_system_python()) {                   \
    MESSAGE("skipped: there is no /usr/bin/python3"); \
    return;                                           \
  }

TEST_CASE("ExternalEvaluator: an honest program is timed from outside, and what was checked is said") {
  SKIP_WITHOUT_PYTHON
  const TemporaryFolder folder;
  AnyEvaluator evaluator =
      ExternalEvaluator(test::scripted_problem(folder.path(), "honest", 1000), few_rounds());
  const Evaluation evaluation = evaluator.evaluate(evaluator.problem().default_candidate(), {});
  CHECK(evaluation.reason == "");
  CHECK(evaluation.verdict == Verdict::ok);
  REQUIRE(evaluation.measurement.shapes.size() == 1);
  CHECK(evaluation.measurement.shapes[0].samples.size() >= 5);
  CHECK(evaluation.measurement.seconds > 0);
  CHECK(evaluation.features.find("bytes") == 12.0);
  CHECK(*evaluation.features.find("verified_calls") == *evaluation.features.find("timed_calls"));
  check_has(evaluation.provenance, "scripted 1 on a clock; sandbox ");
  check_has(evaluation.provenance, "; timed by slope; checked from outside: ");
  check_has(evaluation.provenance, "; trusted: that it makes the calls of a request one after the other");
  check_has(evaluator.device_id(), "a clock, by scripted on ");
  check_has(evaluator.toolchain_id(), "external scripted 1, timed by slope, digest ");
}

TEST_CASE("ExternalEvaluator: what does not compute what is asked is wrong or cheats") {
  SKIP_WITHOUT_PYTHON
  const char* repeat = std::getenv("KERNELSEARCH_TEST_EXTERNAL_REPEAT");
  const int times = repeat != nullptr ? std::atoi(repeat) : 1;
  struct Attack {
    const char* mode;
    Verdict verdict;
    const char* reason;
  };
  // What belongs to other inputs may happen to be right in its first elements.
  for (const Attack& attack :
       {Attack{"skip", Verdict::wrong_result, "y[0] is "}, Attack{"first", Verdict::wrong_result, "y[0] is "},
        Attack{"by_slot", Verdict::wrong_result, "y["}, Attack{"by_number", Verdict::wrong_result, "y["},
        Attack{"part", Verdict::wrong_result, "y[63] is "}, Attack{"late", Verdict::wrong_result, "y[0] is "},
        Attack{"outside", Verdict::cheated, "it wrote outside of its arrays"},
        Attack{"lie", Verdict::cheated, "it claims "},
        Attack{"more", Verdict::cheated, "it claims that its calls took"},
        Attack{"edited", Verdict::cheated, "gave a reply that does not belong to its request while it ran"},
        Attack{"kind", Verdict::cheated, "gave a reply that does not belong to its request while it ran"},
        Attack{"twice", Verdict::cheated, "the external evaluator "}}) {
    CAPTURE(attack.mode);
    for (int i = 0; i < times; ++i) {
      const Evaluation evaluation = judged_program(attack.mode);
      CHECK(evaluation.verdict == attack.verdict);
      check_has(evaluation.reason, attack.reason);
      CHECK(evaluation.overrun.has_value() == (std::string_view(attack.mode) == "outside"));
    }
  }
}

TEST_CASE(
    "ExternalEvaluator: who computes ahead, keeps results by content or writes to inputs gains nothing") {
  SKIP_WITHOUT_PYTHON
  for (const char* mode : {"ahead", "by_content", "inputs", "pad"}) {
    CAPTURE(mode);
    const Evaluation evaluation = judged_program(mode, 2000);
    // A call takes 2 ms by the wall's clock at least; a scheduler can only make it longer.
    if (evaluation.verdict == Verdict::ok) CHECK(evaluation.measurement.seconds > 1e-3);
  }
}

TEST_CASE("ExternalEvaluator: a claim that is not seen to be false is still not the time") {
  SKIP_WITHOUT_PYTHON
  const Evaluation evaluation = judged_program("shave", 4000);
  if (evaluation.verdict == Verdict::ok) CHECK(*evaluation.features.find("external.claimed_share") < 0.9);
}

TEST_CASE("ExternalEvaluator: what breaks has a verdict and a reason, and the next candidate is unharmed") {
  SKIP_WITHOUT_PYTHON
  struct Break {
    const char* mode;
    Verdict verdict;
    const char* reason;
  };
  for (const Break& each :
       {Break{"crash", Verdict::crashed, "the external evaluator ended while it ran"},
        Break{"hang", Verdict::timed_out, "did not answer while it ran: within 3 s"},
        Break{"garbage", Verdict::crashed, "answered with what is not a JSON object while it ran"},
        Break{"flood", Verdict::crashed, "answered with a line that does not end while it ran"},
        Break{"nan", Verdict::crashed, "not a JSON object"},
        Break{"count", Verdict::crashed, "times for 1 calls"},
        Break{"build_crash", Verdict::crashed, "ended while it built: it ended with exit code 3"},
        Break{"unbuildable", Verdict::build_failed, "line 3: no such thing"},
        Break{"declines", Verdict::launch_failed, "out of shared memory"}}) {
    CAPTURE(each.mode);
    const Evaluation evaluation = judged_program(each.mode);
    CHECK(evaluation.verdict == each.verdict);
    check_has(evaluation.reason, each.reason);
  }
  const TemporaryFolder folder;
  ExternalEvaluator evaluator(test::scripted_problem(folder.path(), "honest", 300), few_rounds());
  Candidate bad = evaluator.problem().default_candidate();
  bad.config.indices[0] = 1;
  CHECK(evaluator.evaluate(bad, {}).verdict == Verdict::build_failed);
  CHECK(evaluator.evaluate(evaluator.problem().default_candidate(), {}).verdict == Verdict::ok);
}

TEST_CASE("ExternalEvaluator: a program that is none is refused with what to do") {
  SKIP_WITHOUT_PYTHON
  check_has(refused_program("protocol"),
            "the external evaluator speaks another protocol: 7; this version speaks 1");
  check_has(refused_program("silent"), "does not describe itself");
  check_has(refused_program("honest", R"(, "time": "claimed")"), "the external evaluator claims no times");
  const TemporaryFolder folder;
  Problem problem = test::scripted_problem(folder.path(), "honest", 500);
  problem.external->command = {"no-such-program"};
  try {
    ExternalEvaluator evaluator(problem, few_rounds());
    FAIL("it was taken");
  } catch (const ConfigError& error) {
    check_has(error.what(), "the external evaluator does not describe itself: no-such-program: ");
    check_has(error.what(), "No such file or directory");
  }
}

TEST_CASE("ExternalEvaluator: a simulator's times are claims, and said to be") {
  SKIP_WITHOUT_PYTHON
  const Evaluation evaluation = judged_program("simulator", 7, R"(, "time": "claimed")");
  CHECK(evaluation.reason == "");
  CHECK(evaluation.measurement.seconds == approx(7e-6));
  CHECK(evaluation.measurement.shapes.at(0).samples.size() == 3);
  check_has(evaluation.provenance, "; times claimed by the program; checked from outside: ");
  check_has(evaluation.provenance, "; trusted: its times");
}

TEST_CASE("ExternalEvaluator: pairs of two candidates, each in a program of its own") {
  SKIP_WITHOUT_PYTHON
  const TemporaryFolder folder;
  ExternalEvaluator evaluator(test::scripted_problem(folder.path(), "honest", 500), few_rounds());
  const Candidate candidate = evaluator.problem().default_candidate();
  const Speedup speedup = evaluator.compare(candidate, candidate, {.max_pairs = 6, .rounds = 2});
  CHECK(speedup.pairs == 6);
  CHECK(speedup.ratio > 0);
  Candidate bad = candidate;
  bad.config.indices[0] = 1;
  CHECK_THROWS_AS((void)evaluator.compare(candidate, bad), ConfigError);
}

TEST_CASE(
    "ExternalEvaluator: a changed program, argument, tool or version never has the former one's results") {
  SKIP_WITHOUT_PYTHON
  const TemporaryFolder folder;
  const std::string script = (folder.path() / "tool").string();
  std::ofstream(script) << "one\n";
  const auto identities = [&](const Problem& problem) {
    ExternalEvaluator evaluator(problem, few_rounds());
    return problem_digest(problem) + " " + evaluator.toolchain_id();
  };
  Problem problem = test::scripted_problem(folder.path(), "honest", 500);
  const std::string first = identities(problem);
  CHECK(identities(problem) == first);
  Problem changed = problem;
  changed.external->files[0].text += "\n# another one\n";
  CHECK(identities(changed) != first);
  CHECK(problem_digest(changed) != problem_digest(problem));
  changed = problem;
  changed.external->command.emplace_back("2");  // the version that it describes itself with
  check_has(identities(changed), "external scripted 2,");
  changed = problem;
  changed.external->clock = ExternalClock::claimed;
  CHECK(problem_digest(changed) != problem_digest(problem));
  // A program outside of the problem's folder: no digest of the problem knows it.
  Problem named = problem;
  named.external->command.emplace_back("1");
  named.external->command.push_back(script);
  const std::string before = identities(named);
  std::ofstream(script) << "two\n";
  CHECK(identities(named) != before);
  // What its tools print of themselves.
  changed = problem;
  changed.external->identity = {{"echo", "a"}};
  const std::string a = ExternalEvaluator(changed, few_rounds()).toolchain_id();
  changed.external->identity = {{"echo", "b"}};
  CHECK(ExternalEvaluator(changed, few_rounds()).toolchain_id() != a);
}

TEST_CASE("ExternalEvaluator: the same in each sandbox, which is said") {
  SKIP_WITHOUT_PYTHON
  for (const Sandbox sandbox : {Sandbox::none, Sandbox::landlock, Sandbox::bubblewrap}) {
    if (!sandbox_status(sandbox).works) continue;
    CAPTURE(std::string(to_string(sandbox)));
    HostOptions options = few_rounds();
    options.sandbox = sandbox;
    const Evaluation evaluation = judged_program("honest", 300, "", options);
    CHECK(evaluation.reason == "");
    check_has(evaluation.provenance, "; sandbox " + std::string(to_string(sandbox)));
    CHECK(judged_program("honest", 300, R"(, "devices": true)", options).reason == "");
  }
}
