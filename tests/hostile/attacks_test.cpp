// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hostile/attacks.hpp"

#include <doctest/doctest.h>

#include <set>

#include "hostile/naive_tasks.hpp"
#include "kernelsearch/evaluator/host/host_lint_runner.hpp"
#include "kernelsearch/judge/trivial_answers.hpp"
#include "support/temporary_folder.hpp"
#include "support/thorough.hpp"

using hostile::Attack;
using hostile::Judgement;
using kernelsearch::to_string;
using kernelsearch::Verdict;

namespace {

// One folder of compiled kernels for all cases: each is built once.
const TemporaryFolder& cache() {
  static const TemporaryFolder folder;
  return folder;
}

std::map<std::string, std::vector<Attack>> by_place() {
  std::map<std::string, std::vector<Attack>> all;
  const char* only = std::getenv("KERNELSEARCH_TEST_ATTACK");  // to look at one by hand
  for (Attack& attack : hostile::attacks())
    if (only == nullptr || attack.name == only) all[hostile::place_of(attack)].push_back(std::move(attack));
  return all;
}

}  // namespace

TEST_CASE("attacks: each says what it is, and each kind has at least two variants") {
  std::map<std::string, int> kinds;
  std::set<int> hacks;
  const auto all = hostile::attacks();
  CHECK(all.size() >= 130);
  for (const Attack& attack : all) {
    CAPTURE(attack.name);
    CHECK(std::filesystem::exists(hostile::test_data() / "hostile" / "problems" /
                                  (attack.value("problem") + ".json")));
    CHECK((attack.may_be_rejected() || attack.may_be_ok() || attack.blames_the_problem()));
    const std::string naive = attack.value("naive");
    CHECK((naive == "notices" || naive == "not tried" || naive.starts_with("fooled")));
    ++kinds[attack.value("kind")];
    if (attack.value("hack") != "-") hacks.insert(std::atoi(attack.value("hack").c_str()));
  }
  for (const char* kind : {"forged clock",
                           "patched library calls",
                           "edited replies",
                           "deferred work",
                           "lazy pages",
                           "signal handlers",
                           "timers",
                           "sibling threads",
                           "remapped arenas",
                           "caches by content",
                           "skipping by call count",
                           "skipping by address",
                           "skipping by clock",
                           "skipping by content",
                           "known sets",
                           "guessed seeds",
                           "slowed baselines",
                           "fused calls",
                           "precomputing at load",
                           "freezing tricks",
                           "cold caches",
                           "early done words",
                           "expensive references",
                           "statistics of inputs",
                           "caches of generated arrays",
                           "state left behind",
                           "listed shapes only"}) {
    CAPTURE(kind);
    CHECK(kinds[kind] >= 2);
  }
  for (const int hack :
       {1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 21, 22, 23, 24, 25, 26}) {
    CAPTURE(hack);
    CHECK(hacks.contains(hack));
  }
}

TEST_CASE("attacks: those that say so are taken for right and fast by a naive harness" *
          doctest::test_suite("thorough")) {
  for (const auto& [name, attacks] : by_place()) {
    hostile::Arbiter arbiter(name, hostile::light(cache().path()));
    if (std::all_of(attacks.begin(), attacks.end(),
                    [](const Attack& attack) { return !attack.value("naive").starts_with("fooled"); }))
      continue;
    const naive::Task task = hostile::naive_task(attacks.front().value("problem"));
    const auto honest_library = arbiter.evaluator().build(arbiter.twin(), {}).artifact;
    REQUIRE(honest_library);
    for (const Attack& attack : attacks) {
      const std::string says = attack.value("naive");
      CAPTURE(attack.name);
      if (!says.starts_with("fooled")) continue;
      const auto built = arbiter.evaluator().build(arbiter.candidate(attack), {});
      CAPTURE(built.evaluation.reason);
      REQUIRE(built.artifact);
      const naive::Habits habits = hostile::naive_habits(says);
      const bool by_baseline = says.find("baseline") != std::string::npos;
      bool fooled = false;
      naive::Report report;
      // Of a few attempts one must succeed: on a busy machine one of them may be disturbed.
      for (int attempt = 0; attempt < 4 && !fooled; ++attempt) {
        const TemporaryFolder folder;
        const auto honest = naive::judge_library(honest_library->library, task, folder.path(), habits);
        REQUIRE_MESSAGE(honest.accepted, honest.text);
        report = naive::judge_library(built.artifact->library, task, folder.path(), habits);
        fooled = report.accepted &&
                 (by_baseline ? report.speedup() > 2 * honest.speedup() : report.seconds < honest.seconds);
        if (std::getenv("KERNELSEARCH_TEST_TELL") != nullptr)
          MESSAGE(attack.name, ": naive ", honest.seconds / report.seconds, " ", report.accepted);
      }
      CAPTURE(report.text);
      CHECK(fooled);
    }
  }
}

TEST_CASE("attacks: none gets a time that it did not earn") {
  std::size_t index = 0;
  for (const auto& [place, attacks] : by_place()) {
    const std::string& name = place;  // no structured binding: clang 14 captures none
    hostile::Arbiter arbiter(name, hostile::light(cache().path()));
    const auto honest = arbiter.honest();
    CAPTURE(name);
    REQUIRE_MESSAGE(honest.verdict == Verdict::ok, honest.reason);
    for (const Attack& attack : attacks) {
      CAPTURE(attack.name);
      if (attack.blames_the_problem() || !is_tested(index++, 3)) continue;
      Judgement outcome = arbiter.judge(attack);
      // A gain counts if it is claimed again: pairs are wrong one time in twenty, by their confidence.
      for (int again = 0; again < 2 && outcome.claims; ++again) outcome = arbiter.judge(attack);
      CAPTURE(outcome.reason);
      if (std::getenv("KERNELSEARCH_TEST_TELL") != nullptr)
        MESSAGE(attack.name, ": ", to_string(outcome.verdict), " ", outcome.gain, " ", outcome.reason);
      CHECK_MESSAGE(!outcome.claims, "accepted with a gain of ", outcome.gain);
      CHECK(outcome.verdict != Verdict::build_failed);
      if (outcome.rejected())
        CHECK_MESSAGE(attack.may_be_rejected(), to_string(outcome.verdict));
      else
        CHECK(attack.may_be_ok());
    }
  }
}

TEST_CASE("attacks: where a right kernel need not work, the check of the problem says so") {
  std::size_t problems = 0;
  for (const Attack& attack : hostile::attacks()) {
    if (!attack.blames_the_problem()) continue;
    CAPTURE(attack.name);
    ++problems;
    kernelsearch::Problem problem = hostile::problem(attack.value("problem"));
    problem.kernel.regions.device = hostile::honest_twin(problem);
    kernelsearch::HostLintRunner runner(problem, hostile::light(cache().path()));
    std::string findings;
    for (const auto& finding : kernelsearch::lint(problem, runner)) findings += finding.what + "\n";
    kernelsearch::HostOptions options = hostile::light(cache().path());
    options.check.trivial_seconds = 60;  // all are tried, also beside other programs
    for (const auto& one : kernelsearch::try_trivial_answers(problem, options).passed)
      findings += one.what + "\n";
    REQUIRE(!attack.value("finding").empty());
    CHECK_MESSAGE(findings.find(attack.value("finding")) != std::string::npos, findings);
  }
  CHECK(problems >= 2);
}
