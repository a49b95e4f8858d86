// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/agent_options.hpp"

#include <doctest/doctest.h>

#include "generator_support.hpp"
#include "kernelsearch/agents/agent_team.hpp"
#include "kernelsearch/agents/llm_rewriter.hpp"
#include "kernelsearch/agents/method_writer.hpp"
#include "kernelsearch/agents/reflection_team.hpp"

using namespace kernelsearch;

TEST_CASE("agent options: the papers' defaults") {
  const AgentTeamOptions stark;
  CHECK(stark.planner.temperature == 0.8);
  CHECK(stark.coder.temperature == 0.1);
  CHECK(stark.debugger.temperature == 0.1);
  CHECK(stark.common.windows.leaders == 5);
  const LlmRewriterOptions kernelband;
  CHECK(kernelband.rewriter.temperature == 1.0);
  CHECK(kernelband.window == WindowKind::alone);
  const ReflectionTeamOptions geak;
  CHECK(geak.optimizer.temperature == 1.0);
  CHECK(geak.ancestors == 5);
  CHECK(stark.common.corrections == 1);  // fed back once
}

TEST_CASE("agent options: every role that looks for a faster kernel is told what is remembered of its move") {
  WordHistory trials;
  trials.add({}, {}, scripted::Evaluation::succeeded(1));
  const Move rewrite{MoveKind::rewrite, {TrialId{0}}, {"tiling"}},
      branch{MoveKind::branch, {TrialId{0}}, {"tiling"}};
  scripted::RuleChat chat([](const ChatRequest&) {
    ChatResult result = scripted::RuleChat::replied(word_block("  tiling\n"));
    result.reply->model = "a-model-1";
    return result;
  });
  ExchangeList exchanges;
  AgentOptions common;
  common.strategies = scripted::strategies_of_words();
  common.log = exchanges;
  const auto asked_by = [&](const auto& generator, const Move& move) {
    const std::size_t before = chat.requests().size();
    (void)generator.generate(move, trials.history());
    REQUIRE(chat.requests().size() > before);
    return scripted::text_of(chat.requests()[before]);
  };
  const auto all = [&](const char* words) {
    std::vector<std::string> texts;
    texts.push_back(asked_by(LlmRewriter(chat, scripted::problem_of_words(), {.common = common}), rewrite));
    texts.push_back(
        asked_by(ReflectionTeam(chat, scripted::problem_of_words(), {.common = common}), rewrite));
    texts.push_back(asked_by(AgentTeam(chat, scripted::problem_of_words(), {.common = common}), rewrite));
    texts.push_back(asked_by(MethodWriter(chat, scripted::problem_of_words(), {.common = common}), branch));
    for (const std::string& text : texts) {
      const std::size_t at = text.find("# What earlier runs learned");
      CHECK((at != std::string::npos) == (*words != '\0'));
      if (*words == '\0') continue;
      CHECK(text.find(words, at) < text.find("# Kernel to change"));
    }
  };
  all("");
  common.recall = [](const Candidate& kernel, const Outcome& outcome, const Move& move) {
    CHECK(kernel.kernel->regions.device.find("base") != std::string::npos);
    CHECK(outcome.evaluation.measurement.seconds == 1);
    return "of " + move.strategies.front() + ": 1.5 times as fast";
  };
  all("of tiling: 1.5 times as fast");
  for (const Exchange& exchange : *exchanges.list) CHECK(exchange.model == "a-model-1");
}
