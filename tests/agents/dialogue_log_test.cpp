// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/dialogue_log.hpp"

#include <doctest/doctest.h>

#include "generator_support.hpp"
#include "kernelsearch/agents/llm_rewriter.hpp"
#include "kernelsearch/problem/digest.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("dialogue log: every exchange with its role, prompts, hashes, fault, usage and kernel") {
  ExchangeList log;
  RuleChat chat(std::vector<std::string>{"no code", word_block("  tiling\n")});
  LlmRewriter rewriter(chat, problem_of_words(),
                       {.common = {.strategies = strategies_of_words(), .log = log}});
  WordHistory trials;
  const TrialId root = trials.add({}, {}, Evaluation::succeeded(1));
  const Move move{MoveKind::rewrite, {root}, {"tiling"}, 3};
  const auto made = rewriter.generate(move, trials.history());
  REQUIRE(made.candidates.size() == 1);
  REQUIRE(log.list->size() == 2);
  const Exchange &first = log.list->front(), &second = log.list->back();
  CHECK(first.role == "rewriter");
  CHECK(first.prompt == "rewrite");
  CHECK(first.template_hash == PromptLibrary().find("rewrite").hash());
  CHECK(first.reply_hash == sha256("no code"));
  CHECK(first.judgement.fault == ReplyFault::no_code);
  CHECK(first.attempt == 0);
  CHECK(first.kernel.empty());
  CHECK(first.usage.total() == 110);
  CHECK(first.move == move);
  CHECK(second.attempt == 1);
  CHECK(second.judgement.ok());
  CHECK(second.question_hash != first.question_hash);
  CHECK(second.kernel == kernel_digest(*made.candidates.front().kernel));
}

TEST_CASE("dialogue log: what was never answered says why") {
  ExchangeList log;
  RuleChat chat([](const ChatRequest&) {
    ChatResult result = ChatResult::failed(ChatFailure::budget, "3 dollars are spent");
    result.error.usage.input = 7;
    return result;
  });
  LlmRewriter rewriter(chat, problem_of_words(),
                       {.common = {.strategies = strategies_of_words(), .log = log}});
  WordHistory trials;
  const TrialId root = trials.add({}, {}, Evaluation::succeeded(1));
  (void)rewriter.generate({MoveKind::rewrite, {root}, {"tiling"}}, trials.history());
  REQUIRE(log.list->size() == 1);
  REQUIRE(log.list->front().error.has_value());
  CHECK(log.list->front().error->failure == ChatFailure::budget);
  CHECK(log.list->front().usage.input == 7);
  CHECK(log.list->front().reply_hash.empty());
}
