// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "kernelsearch/systems/system_registry.hpp"
#include "support/scripted_model.hpp"

// What `--variant paper` does otherwise than `ours`, in decisions and rendered questions: docs/systems.md
// has a row for each.

using namespace kernelsearch;
using namespace scripted;

namespace {

SystemSetup setup_of(const char* system, const std::string& options, AnyChatModel model = RuleChat({"x"})) {
  const SystemEntry& entry = find_system(system);
  SystemSetup setup;
  setup.problem = problem_of_words();
  setup.model = std::move(model);
  setup.options = SystemOptions(entry.name, entry.options, options);
  return setup;
}
constexpr const char* paper = R"({"variant": "paper"})";

/// The first question of the system, a rewrite of the problem's kernel.
std::string first_question(const char* system, const std::string& options) {
  const RuleChat chat({"nothing"});
  SystemSearch made = find_system(system).make(setup_of(system, options, chat));
  TrialLog<Candidate> log;
  Outcome outcome;
  outcome.evaluation = Evaluation::succeeded(1.0);
  outcome.objective = 1.0;
  outcome.rationale = "it is limited by memory";  // GEAK's analysis, so that the optimizer is asked
  log.append({problem_of_words().default_candidate(), outcome});
  auto& parts = std::get<SearchParts<Move>>(made.parts);
  (void)parts.generator.generate(Move{MoveKind::rewrite, {TrialId{0}}, {}}, {log, log.size()});
  return text_of(chat.requests().back());
}

Observation<Move> told(const Move& move, std::uint64_t id, double seconds) {
  Observation<Move> observation{move, {}};
  observation.outcome.id = TrialId{id};
  observation.outcome.origin = Origin{ProposalId{id}, 0, 1};
  observation.outcome.parents = move.parents;
  observation.outcome.evaluation = seconds > 0 ? Evaluation::succeeded(seconds)
                                               : Evaluation::failed(Verdict::wrong_result, "scripted", 0.5);
  observation.outcome.objective = seconds > 0 ? seconds : std::numeric_limits<double>::infinity();
  return observation;
}

/// The moves of the policy where kernel `i` takes `seconds[i]`; 0: it is wrong.
std::vector<Move> moves_of(SystemSearch made, const std::vector<double>& seconds) {
  auto& policy = std::get<SearchParts<Move>>(made.parts).policy;
  std::vector<Move> moves;
  for (std::uint64_t id = 0; id < seconds.size(); ++id) {
    const std::vector<Move> asked = policy.ask(1);
    if (asked.empty()) break;
    moves.push_back(asked.front());
    const Observation<Move> one = told(asked.front(), id, seconds[id]);
    policy.tell(std::span(&one, 1));
  }
  return moves;
}

}  // namespace

TEST_CASE("paper variants: STARK's and GEAK's questions list none of our strategies") {
  for (const char* system : {"stark", "geak"}) {
    CAPTURE(system);
    const std::string ours = first_question(system, ""), papers = first_question(system, paper);
    CHECK(ours.find("- vectorization: ") != std::string::npos);
    CHECK(papers.find("- vectorization: ") == std::string::npos);
    CHECK(first_question(system, R"({"variant": "paper", "strategies": true})").find("- vectorization: ") !=
          std::string::npos);
  }
}

TEST_CASE("paper variants: STARK's plan changes one region, ours several") {
  CHECK(first_question("stark", "").find("several regions") != std::string::npos);
  const std::string papers = first_question("stark", paper);
  CHECK(papers.find("several regions") == std::string::npos);
  CHECK(papers.find("A plan changes one region.") != std::string::npos);
}

TEST_CASE("paper variants: STARK repairs a failed kernel again although a child of it is right") {
  // The root, a kernel that fails, and its repair, which is right but slow.
  const auto repairs = [](const std::string& options) {
    const std::string all = options.empty()
                                ? R"({"epsilon": 1, "root_children": 1, "debugs": 2})"
                                : R"({"variant": "paper", "epsilon": 1, "root_children": 1, "debugs": 2})";
    std::size_t again = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SystemSetup setup = setup_of("stark", all);
      setup.seed = seed;
      std::vector<double> seconds{1.0, 0.0, 2.0};
      seconds.resize(12, 3.0);
      std::size_t of_first = 0;
      for (const Move& move : moves_of(find_system("stark").make(setup), seconds))
        of_first += move.kind == MoveKind::debug && move.parents == std::vector<TrialId>{TrialId{1}} ? 1 : 0;
      again += of_first > 1 ? 1 : 0;
    }
    return again;
  };
  CHECK(repairs("") == 0);
  const SystemEntry& stark = find_system("stark");
  CHECK_FALSE(SystemOptions(stark.name, stark.options, "").flag("repaired_again"));
  CHECK(SystemOptions(stark.name, stark.options, paper).flag("repaired_again"));
}

TEST_CASE("paper variants: PEAK applies every step of a sequence, though none gains; ours goes back") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "kernelsearch_paper_variants.json";
  std::ofstream(file) << R"({"schema": 1, "name": "mine", "description": "Six steps.", "transformations":
    ["vectorize_loop", "unroll_loops", "fast_math", "hoist_invariants", "independent_accumulators", "inline_calls"]})";
  const auto fifth_parent = [&](const std::string& variant) {
    const SystemSetup setup =
        setup_of("peak", R"({"variant": ")" + variant + R"(", "workflow": ")" + file.string() + R"("})");
    const std::vector<Move> moves =
        moves_of(find_system("peak").make(setup), {1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06});
    REQUIRE(moves.size() == 7);
    return number(moves[5].parents.at(0));
  };
  CHECK(fifth_parent("paper") == 4);
  CHECK(fifth_parent("ours") == 0);  // the fastest
  const SystemSearch made = find_system("peak").make(
      setup_of("peak", R"({"variant": "paper", "workflow": ")" + file.string() + R"("})"));
  CHECK(made.inner->options.carried == 128);
  std::filesystem::remove(file);
}

TEST_CASE("paper variants: the CUDA skill decides as its scripts: gaps, slots, rewriting, filing") {
  const SystemEntry& skill = find_system("cuda_skill_v2");
  const auto stored = [&](const std::string& options) {
    return skill.settings(setup_of("cuda_skill_v2", options));
  };
  for (const char* decision :
       {"published_gaps", "published_budget", "published_rewrites", "published_filing"}) {
    CAPTURE(decision);
    CHECK(stored(paper).find('"' + std::string(decision) + "\":true") != std::string::npos);
    CHECK(stored("").find('"' + std::string(decision) + "\":false") != std::string::npos);
  }
  CHECK_FALSE(skill.make(setup_of("cuda_skill_v2", paper)).pair_with_parent);
  CHECK(skill.make(setup_of("cuda_skill_v2", "")).pair_with_parent);
  // A run that goes on is made as it was.
  SystemSetup again = setup_of("cuda_skill_v2", "");
  again.earlier = stored(paper);
  CHECK_FALSE(skill.make(again).pair_with_parent);
}

TEST_CASE("paper variants: Helion's hybrid goes on with its own search and answers no reply of no use") {
  const SystemEntry& hybrid = find_system("helion_hybrid");
  const SystemOptions papers(hybrid.name, hybrid.options, paper), ours(hybrid.name, hybrid.options, "");
  CHECK(papers.text("stage2") == "helion");
  CHECK(papers.count("ask_again") == 0);
  CHECK(ours.text("stage2") == "ours");
  CHECK(ours.count("ask_again") == 1);
}

TEST_CASE("helion_llm: the number of seeds is an option") {
  const SystemEntry& llm = find_system("helion_llm");
  for (const std::size_t seeds : {3, 7}) {
    SystemSetup setup;
    setup.problem.name = "p";
    setup.problem.kernel.space = SpaceBuilder()
                                     .add(Tunable::power_of_two("A", 1, 32768))
                                     .add(Tunable::power_of_two("B", 1, 32768))
                                     .build();
    setup.model = RuleChat([](const ChatRequest&) { return ChatResult::failed(ChatFailure::quota, "none"); });
    setup.options =
        SystemOptions(llm.name, llm.options, R"({"random_seeds": )" + std::to_string(seeds) + "}");
    SystemSearch made = llm.make(setup);
    CHECK(std::get<SearchParts<Config>>(made.parts).policy.ask(100).size() <= seeds + 1);
    CHECK(std::get<SearchParts<Config>>(made.parts).policy.ask(100).empty());
  }
}
