// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/system_registry.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/space/space_builder.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("system registry: sorted, findable, with the nearest name for a slip") {
  std::string before;
  for (const SystemEntry& entry : system_entries()) {
    CHECK(before < entry.name);
    before = entry.name;
    CHECK(find_system(entry.name).summary == entry.summary);
    CHECK_FALSE(entry.budget.empty());
  }
  for (const SystemEntry& entry : system_entries()) {
    CHECK((entry.make != nullptr));
    CHECK_FALSE(entry.options.empty());
    // What it is made with where nothing is said is what its schema says.
    const SystemOptions standard(entry.name, entry.options, "");
    CHECK(SystemOptions(entry.name, entry.options, standard.json()).json() == standard.json());
    for (const SystemOption& option : entry.options) {
      CHECK_FALSE(option.source.empty());
      for (const VariantValue& value : option.variants) {
        CHECK_FALSE(value.source.empty());
        CHECK(value.value.index() == option.standard.index());
      }
    }
    // Each variant is one of its options, and each value of a variant belongs to one.
    REQUIRE_FALSE(entry.variants.empty());
    CHECK(entry.options.front().name == "variant");
    CHECK(standard.text("variant") == entry.variants.front().name);
    std::set<std::string> variants;
    for (const SystemVariant& variant : entry.variants) {
      variants.insert(variant.name);
      CHECK_FALSE(variant.summary.empty());
      CHECK_FALSE(variant.source.empty());
      const SystemOptions given(entry.name, entry.options, R"({"variant": ")" + variant.name + "\"}");
      CHECK(entry.variant_of(given).name == variant.name);
    }
    CHECK(variants.size() == entry.variants.size());
    for (const SystemOption& option : entry.options)
      for (const VariantValue& value : option.variants) CHECK(variants.count(value.variant) == 1);
  }
  CHECK(find_system("stark").rewrites);
  CHECK_FALSE(find_system("helion_lfbo").asks);
  CHECK_THROWS_WITH_AS((void)find_system("peek"), doctest::Contains("did you mean peak?"), ConfigError);
}

TEST_CASE("system registry: the schemas in docs/formats are those of the systems") {
  // scripts/system_schemas.py writes them anew.
  for (const SystemEntry& entry : system_entries()) {
    const std::string name =
        KERNELSEARCH_SOURCE_DIR "/docs/formats/system_options/" + std::string(entry.name) + ".schema.json";
    std::ifstream file(name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK_MESSAGE(text == system_options_schema(entry.name, entry.options) + "\n", name);
  }
}

TEST_CASE("system registry: options reach the policy that is made, and make() gives parts that fit") {
  SystemSetup setup;
  setup.problem.name = "p";
  setup.problem.kernel.space = SpaceBuilder()
                                   .add(Tunable::power_of_two("A", 1, 32768))
                                   .add(Tunable::power_of_two("B", 1, 32768))
                                   .build();
  const SystemEntry& lfbo = find_system("helion_lfbo");
  setup.options = SystemOptions(lfbo.name, lfbo.options, R"({"initial": 12})");
  SystemSearch made = lfbo.make(setup);
  auto* parts = std::get_if<SearchParts<Config>>(&made.parts);
  REQUIRE((parts != nullptr));
  CHECK_FALSE(static_cast<bool>(made.kernel_of));
  CHECK_FALSE(made.inner);
  // It begins with as many configurations as it is told, less those drawn twice, and waits for what becomes
  // of them.
  const std::size_t begun = parts->policy.ask(50).size();
  CHECK(begun <= 12);
  CHECK(begun >= 10);
  setup.options = SystemOptions(lfbo.name, lfbo.options, "");
  SystemSearch usual = lfbo.make(setup);
  CHECK(std::get<SearchParts<Config>>(usual.parts).policy.ask(50).size() == 50);

  // The hybrid's second stage: where the model has nothing to say, ours asks for one trial after another,
  // Helion's for a population.
  const SystemEntry& hybrid = find_system("helion_hybrid");
  const auto second_stage = [&](const std::string& options) {
    SystemSetup asking = setup;
    asking.model =
        RuleChat([](const ChatRequest&) { return ChatResult::failed(ChatFailure::quota, "none"); });
    asking.options = SystemOptions(hybrid.name, hybrid.options, options);
    SystemSearch search = hybrid.make(asking);
    auto& policy = std::get<SearchParts<Config>>(search.parts).policy;
    std::uint64_t id = 0;
    for (int batch = 0; batch < 2;) {
      const std::vector<Config> asked = policy.ask(1000);
      if (asked.empty()) {
        REQUIRE(policy.await());
        continue;
      }
      if (++batch == 2) return asked.size();
      for (const Config& config : asked) {
        Observation<Config> observation{config, {}};
        observation.outcome.origin = Origin{ProposalId{id++}, 0, 1};
        observation.outcome.objective = 1.0 + static_cast<double>(id);
        observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
        policy.tell(std::span(&observation, 1));
      }
    }
    return std::size_t{0};
  };
  CHECK(second_stage(R"({"stage2": "helion"})") <= 2 * 19);  // a tenth of the moves of its two beginnings
  CHECK(second_stage(R"({"stage2": "ours"})") == second_stage(""));
  CHECK(second_stage(R"({"stage2": "helion"})") != second_stage(""));
  CHECK_THROWS_WITH_AS((void)SystemOptions(hybrid.name, hybrid.options, R"({"stage2": "theirs"})"),
                       doctest::Contains("helion"), ConfigError);

  const SystemEntry& peak = find_system("peak");
  setup.options = SystemOptions(peak.name, peak.options, R"({"inner_trials": 7})");
  setup.seed = 5;
  made = peak.make(setup);
  CHECK(std::holds_alternative<SearchParts<Move>>(made.parts));
  REQUIRE(made.inner);
  CHECK(made.inner->options.max_trials == 7);
  CHECK(made.inner->options.seed == 5);
  CHECK(static_cast<bool>(made.kernel_of));

  for (const char* name : {"best_of_k", "geak", "greedy_refine", "kernelband", "stark"}) {
    const SystemEntry& entry = find_system(name);
    CHECK(entry.tunes);
    CHECK(entry.from_best);
    setup.options = SystemOptions(entry.name, entry.options, "");
    setup.inner_trials = 0;
    CHECK_FALSE(entry.make(setup).inner);  // the paper
    setup.inner_trials = 3;
    made = entry.make(setup);
    REQUIRE(made.inner);
    CHECK(made.inner->options.max_trials == 3);
    CHECK_FALSE(made.inner->counted);
    const auto kernel = made.kernel_of(
        {"int f() { return C; }", "", "//@tunables {\"tunables\":{\"C\":{\"values\":[1,2]}}}\n"});
    CHECK(kernel->space.size() == 3);
  }
  setup.inner_trials = 0;

  // GEAK's five rounds of debugging belong to a chain: where all fails, a rewrite, five rounds, a rewrite.
  const SystemEntry& geak = find_system("geak");
  setup.options = SystemOptions(geak.name, geak.options, R"({"debugs": 2})");
  made = geak.make(setup);
  std::vector<MoveKind> kinds;
  auto& chain = std::get<SearchParts<Move>>(made.parts).policy;
  for (std::uint64_t id = 0; id < 8; ++id) {
    const std::vector<Move> moves = chain.ask(1);
    REQUIRE(moves.size() == 1);
    kinds.push_back(moves.front().kind);
    Observation<Move> observation{moves.front(), {}};
    observation.outcome.id = TrialId{id};
    observation.outcome.origin = Origin{ProposalId{id}, 0, 1};
    observation.outcome.parents = moves.front().parents;
    observation.outcome.evaluation =
        id == 0 ? Evaluation::succeeded(1.0)
                : Evaluation::failed(Verdict::wrong_result, "c[3]: 1 instead of 2", 0.5);
    if (id == 0) observation.outcome.objective = 1.0;
    chain.tell(std::span(&observation, 1));
  }
  using enum MoveKind;
  CHECK(kinds == std::vector{root, rewrite, debug, debug, rewrite, debug, debug, rewrite});

  // Helion's own questions have no table of all that was measured; ours have.
  const SystemEntry& llm = find_system("helion_llm");
  const auto asked_again = [&](const char* options) {
    SystemSetup asking = setup;
    const RuleChat chat([](const ChatRequest& request) {
      return RuleChat::replied(text_of(request).find("Results so far") == std::string::npos
                                   ? R"({"configs":[{"A":2,"B":4}]})"
                                   : R"({"configs":[{"A":4,"B":8}]})");
    });
    asking.model = chat;
    asking.options = SystemOptions(llm.name, llm.options, options);
    SystemSearch search = llm.make(asking);
    auto& policy = std::get<SearchParts<Config>>(search.parts).policy;
    for (std::uint64_t id = 0; chat.requests().size() < 2;) {
      const std::vector<Config> asked = policy.ask(1);
      if (asked.empty()) {
        REQUIRE(policy.await());
        continue;
      }
      Observation<Config> observation{asked.front(), {}};
      observation.outcome.id = TrialId{id};
      observation.outcome.origin = Origin{ProposalId{id++}, 0, 1};
      observation.outcome.objective = 1.0 + static_cast<double>(id);
      observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
      policy.tell(std::span(&observation, 1));
    }
    return text_of(chat.requests().back()).find("All measured, fastest first") != std::string::npos;
  };
  CHECK(asked_again(""));
  CHECK_FALSE(asked_again(R"({"variant": "paper"})"));

  const SystemEntry& skill = find_system("cuda_skill_v2");
  setup.options = SystemOptions(skill.name, skill.options, R"({"iterations": 9})");
  REQUIRE((skill.settings != nullptr));
  setup.earlier = skill.settings(setup);
  CHECK(setup.earlier.find("\"iterations\":9") != std::string::npos);
  // A run that goes on is made as it was, whatever the options say now.
  setup.options = SystemOptions(skill.name, skill.options, R"({"iterations": 1})");
  CHECK(skill.settings(setup) == setup.earlier);
  made = skill.make(setup);
  CHECK(made.pair_with_parent);
  CHECK(static_cast<bool>(made.report));
  CHECK_FALSE(made.one_at_a_time);
  setup.options = SystemOptions(skill.name, skill.options, R"({"from_files": "mine"})");
  made = skill.make(setup);
  CHECK(made.one_at_a_time);
  CHECK(made.report_folder == "mine");
}
