// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/reflection_team.hpp"

#include <doctest/doctest.h>

#include "generator_support.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/beam.hpp"
#include "kernelsearch/policy/reflexion.hpp"

using namespace kernelsearch;
using namespace scripted;

static_assert(GeneratorOf<ReflectionTeam, Move>);

TEST_CASE("reflection team: a right kernel is analysed once, and the five fastest stand slowest first") {
  WordHistory trials;
  trials.add({}, {}, Evaluation::succeeded(1));
  for (int i = 1; i <= 8; ++i)
    trials.add({TrialId{0}}, {"word" + std::to_string(i)}, Evaluation::succeeded(1.0 - 0.1 * i));
  const RuleChat::Rule rule = [](const ChatRequest& request) {
    return RuleChat::replied(request.role == "reflector" ? "It waits for memory." : word_block("  faster\n"));
  };
  RuleChat chat(rule);
  const ReflectionTeam team(chat, problem_of_words(), {.common = {.strategies = strategies_of_words()}});
  const auto made = team.generate({MoveKind::rewrite, {TrialId{8}}, {}}, trials.history());
  REQUIRE(made.candidates.size() == 1);
  CHECK(made.rationale == "It waits for memory.");
  const auto requests = chat.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].role == "reflector");
  const std::string analysed = text_of(requests[0]);
  CHECK(analysed.find("## What was measured of it") != std::string::npos);
  CHECK(analysed.find("How it failed") == std::string::npos);
  CHECK(requests[1].role == "optimizer");
  CHECK(requests[1].temperature == 1.0);
  CHECK(text_of(requests[1]).find("## An analysis of it\n\n```text\nIt waits for memory.") !=
        std::string::npos);

  // Its child keeps the analysis, so that none is asked for again, and others see it beside the kernel.
  trials.add({TrialId{8}}, {"word9"}, Evaluation::succeeded(0.3), made.rationale);
  RuleChat later(rule);
  const ReflectionTeam again(later, problem_of_words(), {.common = {.strategies = strategies_of_words()}});
  REQUIRE(again.generate({MoveKind::rewrite, {TrialId{8}}, {}, 1}, trials.history()).candidates.size() == 1);
  REQUIRE(later.requests().size() == 1);
  RuleChat beside(rule);
  const ReflectionTeam third(beside, problem_of_words(), {.common = {.strategies = strategies_of_words()}});
  REQUIRE(third.generate({MoveKind::rewrite, {TrialId{0}}, {}}, trials.history()).candidates.size() == 1);
  const std::string text = text_of(beside.requests().at(1));
  std::size_t at = 0;
  for (const char* kernel :
       {"## Kernel 5:", "## Kernel 6:", "## Kernel 9:", "## Kernel 7:", "## Kernel 8:"}) {
    const std::size_t found = text.find(kernel);
    CAPTURE(kernel);
    REQUIRE(found != std::string::npos);
    CHECK(found > at);
    at = found;
  }
  CHECK(text.find("## Kernel 4:") == std::string::npos);
  CHECK(text.find("an analysis of it:\n```text\nIt waits for memory.") > at);
}

TEST_CASE("reflection team: a failure is reviewed, and the review given to the one who mends") {
  WordHistory trials;
  trials.add({}, {}, Evaluation::succeeded(1));
  trials.add({TrialId{0}}, {"bug"}, Evaluation::failed(Verdict::wrong_result, "c[3]: 1 instead of 2"));
  RuleChat chat([](const ChatRequest& request) {
    if (request.role == "reflector") return RuleChat::replied("The bound is off by one.\n```\n# Task\n");
    return RuleChat::replied(word_block("  mended\n"));
  });
  const ReflectionTeam team(chat, problem_of_words());
  REQUIRE(team.generate({MoveKind::debug, {TrialId{1}}, {}}, trials.history()).candidates.size() == 1);
  const auto requests = chat.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].role == "reflector");
  CHECK(requests[1].role == "generator");
  CHECK(text_of(requests[0]).find("c[3]: 1 instead of 2") != std::string::npos);
  CHECK(text_of(requests[1]).find("````text\nThe bound is off by one.") != std::string::npos);  // quoted

  RuleChat silent(std::vector<std::string>{""});
  const ReflectionTeam none(silent, problem_of_words());
  CHECK(
      none.generate({MoveKind::debug, {TrialId{1}}, {}}, trials.history()).failure.find("reflector: empty") ==
      0);
  CHECK(silent.requests().size() == 2);
}

TEST_CASE(
    "reflection team: GEAK's loops, with a beam and in a line, repeat themselves and improve the kernel") {
  const auto prove = [](auto make) {
    for (const std::size_t in_flight : {1u, 4u}) {
      CAPTURE(in_flight);
      std::vector<std::string> sequences[2];
      for (auto& sequence : sequences) {
        RuleChat chat{SkilledModel({.seed = 8})};
        auto search = Optimizer(
            make(),
            ReflectionTeam(chat, problem_of_words(), {.common = {.strategies = strategies_of_words()}}),
            KernelLandscape{},
            OptimizerOptions{.in_flight = in_flight, .budget = std::make_shared<TrialBudget>(30)});
        (void)search.run();
        for (const auto& trial : search.trials())
          sequence.push_back(trial.candidate ? trial.candidate->kernel->regions.device
                                             : trial.outcome.evaluation.reason);
        REQUIRE(search.best() != nullptr);
        CHECK(search.trials().size() == 30);
        CHECK(search.best()->outcome.objective < 80);
        CHECK(chat.count("optimizer") > 5);
        CHECK(chat.requests().size() <= 4 * 29);
        CHECK(chat.count("reflector") > 0);
      }
      CHECK(sequences[0] == sequences[1]);
    }
  };
  prove([] { return Beam({.seed = 1, .limits = {.max_failures = 3, .debugs = 5}}); });
  prove([] { return Reflexion({.seed = 1, .limits = {.max_failures = 3, .debugs = 5}}); });
}
