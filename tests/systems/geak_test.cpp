// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/geak.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "kernelsearch/agents/context_window.hpp"
#include "support/packed_text.hpp"
#include "support/scripted_kernels.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("systems: geak has the paper's settings and searches to the end of its budget") {
  systems::GeakSettings settings;
  CHECK(settings.team.ancestors == 5);
  CHECK(settings.search.limits.debugs == 5);
  settings.team.common.strategies = strategies_of_words();
  settings.loop.budget = std::make_shared<TrialBudget>(12);
  RuleChat chat{RuleChat::Rule(SkilledModel())};
  auto search = systems::geak(chat, problem_of_words(), KernelLandscape{}, settings);
  const RunSummary summary = search.run();
  CHECK(summary.trials == 12);
  REQUIRE(search.best() != nullptr);
  CHECK(search.best()->outcome.objective < 100);
  CHECK(chat.count("optimizer") >= 3);
  for (const auto& trial : search.trials())
    if (!trial.outcome.parents.empty()) CHECK(search.log().contains(trial.outcome.parents.front()));
}

// Steps of the authors' published agent over scripted outcomes (tests/fixtures/geak/README.md): the policy
// takes the same ones, and the optimizer is shown the same ancestors in the same order.
TEST_CASE("systems: geak takes the steps of the authors' OptimAgent, and shows the ancestors that it shows") {
  std::istringstream in(
      support::packed_text(KERNELSEARCH_SOURCE_DIR "/tests/fixtures/geak/optim_agent.trace"));
  std::optional<Reflexion> policy;
  std::optional<TrialLog<Candidate>> log;
  std::string title;
  std::size_t optimized = 0, debugged = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "#") continue;
    if (kind == "trace") {
      title = line;
      policy.emplace(systems::GeakSettings{}.search);
      log.emplace();
      continue;
    }
    CAPTURE(title);
    CAPTURE(line);
    std::vector<std::uint64_t> shown;
    std::string word;
    while (words >> word && word != "=") shown.push_back(std::stoull(word));
    words >> word;
    const std::vector<Move> asked = policy->ask(1);
    REQUIRE(asked.size() == 1);
    const Move& move = asked.front();
    if (kind == "debug") {
      CHECK(move.kind == MoveKind::debug);
      CHECK(move.parents == std::vector<TrialId>{TrialId{shown.at(0)}});
      ++debugged;
    } else if (kind == "optimize") {
      CHECK(move.kind == MoveKind::rewrite);
      CHECK(move.parents == std::vector<TrialId>{TrialId{shown.back()}});  // the fastest
      std::vector<std::uint64_t> window;
      for (const WindowEntry& entry :
           context_window(WindowKind::leaders, {*log, log->size()}, move.parents.front(), {.leaders = 5}))
        window.insert(window.begin(), number(entry.id));
      CHECK(window == shown);
      ++optimized;
    } else {
      CHECK(move.kind == MoveKind::root);
    }
    Observation<Move> told{move, {}};
    told.outcome.id = TrialId{log->size()};
    told.outcome.parents = move.parents;
    told.outcome.origin = Origin{ProposalId{log->size()}, 0, 1};
    const bool right = word != "call" && word != "wrong";
    told.outcome.evaluation = right ? Evaluation::succeeded(std::stod(word))
                                    : Evaluation::failed(Verdict::wrong_result, "scripted");
    told.outcome.objective = right ? std::stod(word) : std::numeric_limits<double>::infinity();
    log->append({kernel_with({}), told.outcome});
    policy->tell({&told, 1});
  }
  CHECK(optimized + debugged == 30 * 19);
  CHECK(optimized > 100);
  CHECK(debugged > 100);
}
