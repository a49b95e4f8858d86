// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/agent_team.hpp"

#include <doctest/doctest.h>

#include "generator_support.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/epsilon_greedy_tree.hpp"
#include "kernelsearch/policy/reflexion.hpp"
#include "kernelsearch/problem/read_problem.hpp"

using namespace kernelsearch;
using namespace scripted;

static_assert(GeneratorOf<AgentTeam, Move>);

namespace {

const std::string plan =
    "```cpp device\nextern \"C\" void f() {\n<<<IMPROVE BEGINS>>>\n  base\n<<<IMPROVE ENDS>>>\n}\n```\nPut "
    "tiling there.\n";
const std::string filled =
    "```cpp device\nextern \"C\" void f() {\n<<<IMPROVE BEGINS>>>\n  base\n  tiling\n<<<IMPROVE "
    "ENDS>>>\n}\n```\n";

/// Replies by role.
RuleChat by_role(std::map<std::string, std::vector<std::string>> replies) {
  auto next = std::make_shared<std::map<std::string, std::size_t>>();
  return RuleChat([replies, next](const ChatRequest& request) {
    const auto& mine = replies.at(request.role);
    return RuleChat::replied(mine[std::min((*next)[request.role]++, mine.size() - 1)]);
  });
}

/// 0 root, 1 its failed child, 2 its right child, 3 a child of 2.
struct Family {
  WordHistory trials;
  Family() {
    trials.add({}, {}, Evaluation::succeeded(1));
    trials.add({TrialId{0}}, {"bug"}, Evaluation::failed(Verdict::wrong_result, "c[3]: 1 instead of 2"));
    trials.add({TrialId{0}}, {"fusion"}, Evaluation::succeeded(0.9));
    trials.add({TrialId{2}}, {"fusion", "prefetch"}, Evaluation::succeeded(0.8));
  }
  Generation<Candidate> make(const RuleChat& chat, const Move& move, AgentOptions common = {}) const {
    common.strategies = strategies_of_words();
    return AgentTeam(chat, problem_of_words(), {.common = common}).generate(move, trials.history());
  }
};

const Move rewrite{MoveKind::rewrite, {TrialId{0}}, {}};

}  // namespace

TEST_CASE("agent team: plan, then code, each with its temperature, window and anchors") {
  const Family family;
  const RuleChat chat = by_role({{"planner", {plan}}, {"coder", {filled}}});
  const auto made = family.make(chat, rewrite);
  REQUIRE_MESSAGE(made.candidates.size() == 1, made.failure);
  CHECK(made.candidates.front().kernel->regions.device == "extern \"C\" void f() {\n  base\n  tiling\n}\n");
  const auto requests = chat.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].role == "planner");
  CHECK(requests[0].temperature == 0.8);
  CHECK(requests[1].role == "coder");
  CHECK(requests[1].temperature == 0.1);
  const std::string planner = text_of(requests[0]), coder = text_of(requests[1]);
  // W_plan: the children of the root and the leaders
  for (const char* kernel : {"## Kernel 1:", "## Kernel 2:", "## Kernel 3: among the fastest"})
    CHECK(planner.find(kernel) != std::string::npos);
  // W_code: the children; the root has no siblings
  CHECK(coder.find("## Kernel 2:") != std::string::npos);
  CHECK(coder.find("## Kernel 3:") == std::string::npos);
  CHECK(coder.find("<<<IMPROVE BEGINS>>>\n  base\n<<<IMPROVE ENDS>>>") != std::string::npos);
  CHECK(coder.find("Put tiling there.") != std::string::npos);
}

TEST_CASE("agent team: who writes the code is shown the regions that the plan leaves as they are") {
  Problem problem = problem_of_words();
  problem.kernel.regions.host = "int lanes_of_f() { return 7; }\n";
  TrialLog<Candidate> log;
  Outcome outcome;
  outcome.evaluation = Evaluation::succeeded(1.0);
  outcome.objective = 1.0;
  log.append({problem.default_candidate(), outcome});
  const RuleChat chat = by_role({{"planner", {plan}}, {"coder", {filled}}});
  const auto made = AgentTeam(chat, problem, {.common = {.strategies = strategies_of_words()}})
                        .generate(rewrite, {log, log.size()});
  REQUIRE_MESSAGE(made.candidates.size() == 1, made.failure);
  CHECK(made.candidates.front().kernel->regions.host == problem.kernel.regions.host);
  const std::string coder = text_of(chat.requests().at(1));
  CHECK(coder.find("lanes_of_f() { return 7; }") != std::string::npos);
}

TEST_CASE("agent team: a plan over several regions is sent back where one may change") {
  Problem problem = problem_of_words();
  problem.kernel.regions.host = "int lanes_of_f() { return 7; }\n";
  TrialLog<Candidate> log;
  Outcome outcome;
  outcome.evaluation = Evaluation::succeeded(1.0);
  outcome.objective = 1.0;
  log.append({problem.default_candidate(), outcome});
  const std::string both =
      "```cpp device\nextern \"C\" void f() {\n<<<IMPROVE BEGINS>>>\n  base\n<<<IMPROVE ENDS>>>\n}\n```\n"
      "```cpp host\n<<<IMPROVE BEGINS>>>\nint lanes_of_f() { return 7; }\n<<<IMPROVE ENDS>>>\n```\n1. "
      "Tiling.\n2. "
      "Eight lanes.\n";
  for (const bool several : {true, false}) {
    CAPTURE(several);
    const RuleChat chat = by_role({{"planner", {both, plan}}, {"coder", {filled}}});
    (void)AgentTeam(chat, problem,
                    {.common = {.strategies = strategies_of_words()}, .several_regions = several})
        .generate(rewrite, {log, log.size()});
    CHECK(chat.count("planner") == (several ? 1 : 2));
    if (!several)
      CHECK(text_of(chat.requests().at(1)).find("The plan changes several regions") != std::string::npos);
  }
}

TEST_CASE("agent team: debug moves go to the debugger, with the siblings") {
  const Family family;
  const RuleChat chat = by_role({{"debugger", {word_block("  mended\n")}}});
  const auto made = family.make(chat, {MoveKind::debug, {TrialId{1}}, {}});
  REQUIRE(made.candidates.size() == 1);
  const auto requests = chat.requests();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].temperature == 0.1);
  const std::string text = text_of(requests[0]);
  CHECK(text.find("## Kernel 0: the original kernel") != std::string::npos);
  CHECK(text.find("## Kernel 2: made from the same parent") != std::string::npos);
  CHECK(text.find("## Kernel 3:") == std::string::npos);
  CHECK(text.find("c[3]: 1 instead of 2") != std::string::npos);
}

TEST_CASE("agent team: a plan is kept with its trial, shown to the debugger and to the planner") {
  const auto options = AgentTeamOptions{.common = {.strategies = strategies_of_words()}};
  WordHistory trials;
  trials.add({}, {}, Evaluation::succeeded(1));
  const RuleChat first = by_role({{"planner", {plan}}, {"coder", {filled}}});
  const auto made = AgentTeam(first, problem_of_words(), options).generate(rewrite, trials.history());
  REQUIRE(made.candidates.size() == 1);
  CHECK(made.rationale == "Put tiling there.");
  // Nobody could carry it out: the planner is told of it all the same.
  const RuleChat mute = by_role({{"planner", {plan}}, {"coder", {"no"}}});
  const auto none = AgentTeam(mute, problem_of_words(), options).generate(rewrite, trials.history());
  CHECK(none.candidates.empty());
  CHECK(none.rationale == made.rationale);

  trials.add({TrialId{0}}, {"bug"}, Evaluation::failed(Verdict::wrong_result, "c[3]: 1 instead of 2"),
             made.rationale);
  const RuleChat debugger = by_role({{"debugger", {word_block("  mended\n")}}});
  const auto mended = AgentTeam(debugger, problem_of_words(), options)
                          .generate({MoveKind::debug, {TrialId{1}}, {}}, trials.history());
  REQUIRE(mended.candidates.size() == 1);
  CHECK(mended.rationale == made.rationale);  // still what it carries out
  const std::string asked = text_of(debugger.requests().at(0));
  CHECK(asked.find("## The plan that it was to carry out\n\n```text\nPut tiling there.\n```") !=
        std::string::npos);

  // A reply without a kernel has a line and no place in the window.
  Outcome talk;
  talk.id = TrialId{2};
  talk.parents = {TrialId{0}};
  talk.move = rewrite;
  talk.rationale = "Talk about it.";
  talk.evaluation = Evaluation::failed(Verdict::not_generated, "coder: no_code: talk");
  trials.log.append({std::nullopt, talk});
  const RuleChat planner = by_role({{"planner", {plan}}, {"coder", {filled}}});
  (void)AgentTeam(planner, problem_of_words(), options)
      .generate({MoveKind::rewrite, {TrialId{0}}, {}, 1}, trials.history());
  const std::string again = text_of(planner.requests().at(0));
  CHECK(again.find("- planned: Put tiling there. (kernel 1): wrong_result") != std::string::npos);
  CHECK(again.find("what it set out to do:\n```text\nPut tiling there.") != std::string::npos);
  CHECK(again.find("what they were and what came of them stands above") != std::string::npos);
  CHECK(again.find("## Kernel 1: ") != std::string::npos);
  CHECK(again.find("## Kernel 2: ") == std::string::npos);
  CHECK(again.find("- planned: Talk about it. (kernel 2): not_generated") != std::string::npos);
}

TEST_CASE("agent team: each role is told of one fault; never more than four questions") {
  const Family family;
  std::string tampered = filled;
  tampered.replace(tampered.find("}\n```"), 1, "  sneaked\n}");
  const RuleChat heeds = by_role({{"planner", {"Use tiling.", plan}}, {"coder", {tampered, filled}}});
  CHECK(family.make(heeds, rewrite).candidates.size() == 1);
  const auto requests = heeds.requests();
  REQUIRE(requests.size() == 4);
  CHECK(requests[1].messages.back().text.find("no_code") != std::string::npos);
  CHECK(requests[3].messages.back().text.find("outside_anchors") != std::string::npos);
  CHECK(requests[3].messages.back().text.find("sneaked") != std::string::npos);

  const RuleChat vague = by_role({{"planner", {"Use tiling."}}, {"coder", {filled}}});
  CHECK(family.make(vague, rewrite).failure.find("planner: no_code") == 0);
  CHECK(vague.requests().size() == 2);
  CHECK(vague.count("coder") == 0);

  const RuleChat stubborn = by_role({{"planner", {plan}}, {"coder", {tampered}}});
  CHECK(family.make(stubborn, rewrite).failure.find("coder: outside_anchors") == 0);
  CHECK(stubborn.requests().size() == 3);
}

TEST_CASE("agent team: windows are cut to the budget, never the kernel or the root") {
  const Family family;
  const RuleChat chat =
      by_role({{"planner", {plan}}, {"coder", {filled}}, {"debugger", {word_block("  mended\n")}}});
  (void)family.make(chat, rewrite, {.windows = {.token_budget = 1}});
  for (const ChatRequest& request : chat.requests())
    CHECK(text_of(request).find("# Other attempts") == std::string::npos);
  CHECK(text_of(chat.requests().front()).find("(3 more kernels are left out for length)") !=
        std::string::npos);
  (void)family.make(chat, {MoveKind::debug, {TrialId{1}}, {}}, {.windows = {.token_budget = 1}});
  const std::string text = text_of(chat.requests().back());
  CHECK(text.find("## Kernel 0: the original kernel") != std::string::npos);
  CHECK(text.find("## Kernel 2:") == std::string::npos);
}

TEST_CASE("agent team: roles may have models and providers of their own") {
  const Family family;
  const RuleChat team = by_role({{"planner", {plan}}}), fast = by_role({{"coder", {filled}}});
  AgentTeamOptions options;
  options.planner.model = "thinker";
  options.coder.chat = fast;
  options.coder.model = "typist";
  options.common.strategies = strategies_of_words();
  const AgentTeam agents(team, problem_of_words(), options);
  CHECK(agents.generate(rewrite, family.trials.history()).candidates.size() == 1);
  REQUIRE(team.requests().size() == 1);
  REQUIRE(fast.requests().size() == 1);
  CHECK(team.requests()[0].model == "thinker");
  CHECK(fast.requests()[0].model == "typist");
}

namespace {

template <class MakePolicy, class Check>
void prove(MakePolicy make, Check check) {
  for (const std::size_t in_flight : {1u, 4u}) {
    CAPTURE(in_flight);
    std::vector<std::string> sequences[2];
    for (auto& sequence : sequences) {
      RuleChat chat{SkilledModel({.seed = 3})};
      auto search = Optimizer(
          make(), AgentTeam(chat, problem_of_words(), {.common = {.strategies = strategies_of_words()}}),
          KernelLandscape{},
          OptimizerOptions{.in_flight = in_flight, .budget = std::make_shared<TrialBudget>(30)});
      (void)search.run();
      for (const auto& trial : search.trials())
        sequence.push_back(trial.candidate ? trial.candidate->kernel->regions.device
                                           : trial.outcome.evaluation.reason);
      check(search, chat);
    }
    CHECK(sequences[0] == sequences[1]);
  }
}

}  // namespace

TEST_CASE("agent team: STARK's loop over 30 kernels") {
  prove([] { return EpsilonGreedyTree({.seed = 8}); },
        [](const auto& search, const RuleChat& chat) {
          CHECK(search.trials().size() == 30);
          REQUIRE(search.best() != nullptr);
          CHECK(search.best()->outcome.objective < 80);
          std::size_t plans = 0, debugs = 0;
          for (const ChatRequest& request : chat.requests()) {
            const bool corrected = request.messages.size() > 2;
            plans += request.role == "planner" && !corrected ? 1 : 0;
            debugs += request.role == "debugger" && !corrected ? 1 : 0;
            CHECK(request.temperature == (request.role == "planner" ? 0.8 : 0.1));
          }
          // one for every proposal but the root; up to three more were under way when the budget ended
          CHECK(plans + debugs >= 29);
          CHECK(plans + debugs <= 32);
          CHECK(debugs > 0);
          CHECK(chat.count("coder") <= 2 * plans);
        });
}

TEST_CASE("agent team: on a linear chain") {
  prove([] { return Reflexion({.seed = 2}); },
        [](const auto& search, const RuleChat& chat) {
          CHECK(search.trials().size() == 30);
          CHECK(search.best()->outcome.objective < 80);
          CHECK(chat.count("debugger") > 0);
        });
}

TEST_CASE("agent team: a real problem's launch may change with the code, and both roles are told how") {
  const Problem problem = read_problem(KERNELSEARCH_SOURCE_DIR "/examples/cuda/matmul_tiled");
  const std::string& code = problem.kernel.regions.device;
  const std::size_t at = code.find(";\n") + 2, end = code.find('\n', at) + 1;
  const std::string line = code.substr(at, end - at);
  const auto marked = [&](const std::string& between) {
    return "```cpp device\n" + code.substr(0, at) + "<<<IMPROVE BEGINS>>>\n" + between +
           "<<<IMPROVE ENDS>>>\n" + code.substr(end) + "```\n";
  };
  const auto make = [&](const std::string& launch) {
    const RuleChat chat = by_role(
        {{"planner", {marked(line) + "\n1. Twice the block.\n"}},
         {"coder", {marked(line + "  // twice\n") + "\n```json\n{\"launch\": " + launch + "}\n```\n"}}});
    const AgentTeam team(chat, problem, {.common = {.corrections = 0}});
    TrialLog<Candidate> log;
    Outcome outcome;
    outcome.evaluation = Evaluation::succeeded(1.0);
    outcome.objective = 1.0;
    log.append({problem.default_candidate(), outcome});
    Generation<Candidate> generation = team.generate(rewrite, {log, log.size()});
    return std::pair(std::move(generation), chat.requests());
  };
  const auto answered = make(
      R"json({"grid": ["n // (block_size_x * tile_size_x)", "n // (block_size_y * tile_size_y)"],
              "block": ["block_size_x", "block_size_y", 1]})json");
  const Generation<Candidate>& made = answered.first;
  const std::vector<ChatRequest>& requests = answered.second;
  REQUIRE_MESSAGE(made.candidates.size() == 1, made.failure);
  CHECK(made.candidates[0].kernel->regions.macros.find("//@launch ") != std::string::npos);
  REQUIRE(requests.size() == 2);
  CHECK(text_of(requests[0]).find("the agent that writes the code gives a new launch, too.") !=
        std::string::npos);
  CHECK(text_of(requests[1]).find("add \"launch\" to that block") != std::string::npos);
  CHECK(make(R"({"grid": ["nobody"], "block": [16]})").first.failure.find("bad_launch") != std::string::npos);
  // Where a function of the kernel launches, or nothing is launched, no such form is told.
  const Problem host = read_problem(KERNELSEARCH_SOURCE_DIR "/examples/host/matmul");
  const RuleChat chat = by_role({{"planner", {"no"}}});
  TrialLog<Candidate> log;
  Outcome outcome;
  outcome.evaluation = Evaluation::succeeded(1.0);
  log.append({host.default_candidate(), outcome});
  (void)AgentTeam(chat, host, {.common = {.corrections = 0}}).generate(rewrite, {log, log.size()});
  CHECK(text_of(chat.requests().at(0)).find("gives the launch anew") == std::string::npos);
}
