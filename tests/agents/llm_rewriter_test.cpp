// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/llm_rewriter.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "generator_support.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/best_of_k.hpp"
#include "kernelsearch/policy/hierarchical_ucb.hpp"
#include "kernelsearch/problem/read_problem.hpp"

using namespace kernelsearch;
using namespace scripted;

static_assert(GeneratorOf<LlmRewriter, Move>);

namespace {

struct One {
  WordHistory trials;
  TrialId root, failed;
  One()
      : root(trials.add({}, {}, Evaluation::succeeded(1))),
        failed(trials.add({root}, {"tiling", "bug"},
                          Evaluation::failed(Verdict::wrong_result, "c[3]: 1 instead of 2"))) {}

  Generation<Candidate> make(RuleChat chat, const Move& move, AgentOptions common = {}) {
    common.strategies = strategies_of_words();
    return LlmRewriter(std::move(chat), problem_of_words(), {.common = common})
        .generate(move, trials.history());
  }
  Generation<Candidate> make(RuleChat chat) {
    return make(std::move(chat), {MoveKind::rewrite, {root}, {"tiling"}});
  }
};

}  // namespace

TEST_CASE("llm rewriter: one strategy, one question, and what the question holds") {
  One one;
  RuleChat chat(std::vector<std::string>{word_block("  tiling\n")});
  const auto made = one.make(chat);
  REQUIRE(made.candidates.size() == 1);
  CHECK(words_of(made.candidates.front()).contains("tiling"));
  const auto requests = chat.requests();
  REQUIRE(requests.size() == 1);
  const ChatRequest& request = requests.front();
  CHECK(request.role == "rewriter");
  CHECK(request.temperature == 1.0);
  REQUIRE(request.messages.size() == 2);
  CHECK(request.messages[0].stable);
  CHECK(request.messages[0].text.find("`extern \"C\" void f()`") != std::string::npos);
  const std::string& task = request.messages[1].text;
  CHECK(task.find("# Kernel to change") != std::string::npos);
  CHECK(task.find("Strategy: tiling\n\nApply tiling.") != std::string::npos);
  CHECK(task.find("verdict: ok") != std::string::npos);
  CHECK(task.find("Other attempts") == std::string::npos);
}

TEST_CASE("llm rewriter: the root is the problem's own kernel and asks nobody") {
  RuleChat chat(std::vector<std::string>{"never"});
  LlmRewriter rewriter(chat, problem_of_words());
  const auto made = rewriter.generate({MoveKind::root, {}, {}}, History<Candidate>());
  REQUIRE(made.candidates.size() == 1);
  CHECK(made.candidates.front().kernel->regions == problem_of_words().kernel.regions);
  CHECK(chat.requests().empty());
}

TEST_CASE("llm rewriter: a fault is fed back once, with what was found, then given up") {
  const std::string wrong = "```cpp device\nextern \"C\" void f(int n) {\n}\n```\n";
  One one;
  RuleChat heeds(std::vector<std::string>{wrong, word_block("  tiling\n")});
  CHECK(one.make(heeds).candidates.size() == 1);
  const auto asked = heeds.requests();
  REQUIRE(asked.size() == 2);
  REQUIRE(asked[1].messages.size() == 4);
  CHECK(std::equal(asked[0].messages.begin(), asked[0].messages.end(),
                   asked[1].messages.begin()));  // cacheable
  CHECK(asked[1].messages[2].speaker == Speaker::assistant);
  CHECK(asked[1].messages[2].text == wrong);
  CHECK(asked[1].messages[3].text.find("changed_signature") != std::string::npos);
  CHECK(asked[1].messages[3].text.find("f(int)") != std::string::npos);

  RuleChat stubborn(std::vector<std::string>{wrong});
  const auto made = one.make(stubborn);
  CHECK(made.candidates.empty());
  CHECK(stubborn.requests().size() == 2);
  CHECK(made.failure.find("rewriter: changed_signature: The signature must stay") == 0);
  CHECK(made.failure.find("(again, after it was told)") != std::string::npos);

  RuleChat once(std::vector<std::string>{wrong});
  CHECK(one.make(once, {MoveKind::rewrite, {one.root}, {"tiling"}}, {.corrections = 0}).candidates.empty());
  CHECK(once.requests().size() == 1);
}

TEST_CASE("llm rewriter: empty, cut and declined replies") {
  One one;
  RuleChat empty(std::vector<std::string>{"", word_block("  tiling\n")});
  CHECK(one.make(empty).candidates.size() == 1);
  CHECK(empty.requests()[1].messages.size() == 3);  // no empty message of the assistant

  RuleChat cut([](const ChatRequest& request) {
    return request.messages.size() == 2 ? RuleChat::replied("```cpp device\nextern", FinishReason::length)
                                        : RuleChat::replied(word_block("  tiling\n"));
  });
  CHECK(one.make(cut).candidates.size() == 1);
  CHECK(cut.requests()[1].max_tokens == 2 * cut.requests()[0].max_tokens);
  CHECK(cut.requests()[1].messages.back().text.find("cut off") != std::string::npos);

  RuleChat declined(
      [](const ChatRequest&) { return RuleChat::replied("I will not.", FinishReason::refusal); });
  CHECK(one.make(declined).failure.find("rewriter: declined") == 0);
}

TEST_CASE("llm rewriter: without a reply there is no second question") {
  One one;
  RuleChat broke([](const ChatRequest&) { return ChatResult::failed(ChatFailure::quota, "no credit left"); });
  const auto made = one.make(broke);
  CHECK(made.failure == "rewriter: no reply: quota: no credit left");
  CHECK(broke.requests().size() == 1);
  CHECK(one.make(RuleChat(std::vector<std::string>{"x"}), {MoveKind::rewrite, {one.root}, {"tiling"}})
            .failure.find("no_code") != std::string::npos);
  std::stop_source source;
  source.request_stop();
  RuleChat never(std::vector<std::string>{"x"});
  CHECK(one.make(never, {MoveKind::rewrite, {one.root}, {"tiling"}}, {.stop = source.get_token()})
            .failure.find("stopped") != std::string::npos);
  CHECK(never.requests().empty());
}

TEST_CASE("llm rewriter: the same code again, also of an older kernel, is a fault") {
  One one;
  one.trials.add({one.root}, {"fusion"}, Evaluation::succeeded(0.9));
  RuleChat again(std::vector<std::string>{word_block("  fusion\n"), word_block("")});
  const auto made = one.make(again);
  CHECK(made.candidates.empty());
  CHECK(again.requests()[1].messages.back().text.find("was tried before") != std::string::npos);
  CHECK(made.failure.find("same_code") != std::string::npos);
}

TEST_CASE("llm rewriter: debugging, ablation, joining and choosing for itself") {
  One one;
  RuleChat chat(std::vector<std::string>{word_block("  x\n")});
  REQUIRE(one.make(chat, {MoveKind::debug, {one.failed}, {}}).candidates.size() == 1);
  std::string text = text_of(chat.requests().back());
  CHECK(chat.requests().back().role == "debugger");
  CHECK(text.find("c[3]: 1 instead of 2") != std::string::npos);
  CHECK(text.find("  bug\n") != std::string::npos);

  REQUIRE(one.make(chat, {MoveKind::ablate, {one.failed}, {"tiling"}}).candidates.size() == 1);
  CHECK(text_of(chat.requests().back())
            .find("out of the kernel again and leave everything else as it is: tiling") != std::string::npos);

  REQUIRE(one.make(chat, {MoveKind::recombine, {one.root, one.failed}, {}}).candidates.size() == 1);
  text = text_of(chat.requests().back());
  CHECK(text.find("## Second kernel") != std::string::npos);
  CHECK(text.find("  bug\n") != std::string::npos);

  REQUIRE(one.make(chat, {MoveKind::rewrite, {one.root}, {}}).candidates.size() == 1);
  text = text_of(chat.requests().back());
  for (const char* name : {"- tiling:", "- vectorize:", "- fusion:", "- prefetch:"})
    CHECK(text.find(name) != std::string::npos);

  REQUIRE(one.make(chat, {MoveKind::branch, {one.root}, {"tiling"}, 2}).candidates.size() == 1);
  CHECK(chat.requests().back().repetition == 2);
  CHECK(text_of(chat.requests().back()).find("attempt 3") != std::string::npos);
}

TEST_CASE("llm rewriter: moves that cannot be made say why and ask nobody") {
  One one;
  RuleChat chat(std::vector<std::string>{"x"});
  const auto reason = [&](const Move& move) { return one.make(chat, move).failure; };
  CHECK(reason({MoveKind::rewrite, {one.root}, {"tilling"}}).find("did you mean tiling?") !=
        std::string::npos);
  CHECK(reason({MoveKind::rewrite, {TrialId{99}}, {"tiling"}}).find("not known") != std::string::npos);
  CHECK(reason({MoveKind::rewrite, {}, {"tiling"}}).find("no parent") != std::string::npos);
  CHECK(reason({MoveKind::recombine, {one.root}, {}}).find("two kernels") != std::string::npos);
  CHECK(!reason({MoveKind::submitted, {one.root}, {}}).empty());
  CHECK(chat.requests().empty());
}

TEST_CASE("llm rewriter: a strategy whose condition is false is not asked for") {
  WordHistory trials;
  Evaluation evaluation = Evaluation::succeeded(1);
  evaluation.features.set("coalescing", 99);
  const TrialId root = trials.add({}, {}, evaluation);
  auto strategies = strategies_of_words();
  strategies[0].when = Expression::parse("coalescing < 95");
  strategies[0].unless = "accesses are coalesced already";
  RuleChat chat(std::vector<std::string>{word_block("  tiling\n")});
  LlmRewriter rewriter(chat, problem_of_words(), {.common = {.strategies = strategies}});
  CHECK(rewriter.generate({MoveKind::rewrite, {root}, {"tiling"}}, trials.history()).failure ==
        "the strategy tiling is not worth trying here: accesses are coalesced already (coalescing < 95 is "
        "false)");
  CHECK(chat.requests().empty());
  LlmRewriter bold(chat, problem_of_words(),
                   {.common = {.strategies = strategies, .check_conditions = false}});
  CHECK(bold.generate({MoveKind::rewrite, {root}, {"tiling"}}, trials.history()).candidates.size() == 1);
}

TEST_CASE("llm rewriter: declared tunables extend the candidate's space, the rest keeps its values") {
  WordHistory trials;
  const TrialId root = trials.add({}, {}, Evaluation::succeeded(1));
  RuleChat chat(std::vector<std::string>{
      word_block("  tiling(WIDTH)\n") +
      "```json\n{\"tunables\": {\"WIDTH\": {\"values\": [2, 4], \"default\": 4}}}\n```\n"});
  LlmRewriter rewriter(chat, problem_of_words(), {.common = {.strategies = strategies_of_words()}});
  const auto made = rewriter.generate({MoveKind::rewrite, {root}, {"tiling"}}, trials.history());
  REQUIRE_MESSAGE(made.candidates.size() == 1, made.failure);
  const Candidate& candidate = made.candidates.front();
  CHECK(candidate.kernel->space.size() == 3);
  CHECK(candidate.kernel->space.key(candidate.config) == "1,1,4");
}

TEST_CASE("llm rewriter: it is asked about real problems with their own strategies") {
  const Problem problem = read_problem(KERNELSEARCH_SOURCE_DIR "/examples/host/matmul");
  RuleChat chat(std::vector<std::string>{"no"});
  LlmRewriter rewriter(chat, problem);
  CHECK(!rewriter.strategies().empty());
  TrialLog<Candidate> log;
  Outcome outcome;
  outcome.evaluation = Evaluation::succeeded(1);
  outcome.objective = 1;
  log.append({rewriter.generate({MoveKind::root, {}, {}}, History<Candidate>()).candidates.front(), outcome});
  const auto made =
      rewriter.generate({MoveKind::rewrite, {TrialId{0}}, {"tiling"}}, History<Candidate>(log, 1));
  CHECK(made.failure.find("no_code") != std::string::npos);
  const std::string text = text_of(chat.requests().front());
  CHECK(text.find("void matmul(") != std::string::npos);
  CHECK(text.find("C = A B in single precision") != std::string::npos);
}

namespace {

struct Ran {
  std::vector<std::string> trials;
  double best = 0;
  std::vector<ChatRequest> requests;
};

template <class MakePolicy>
Ran run(MakePolicy make, std::size_t in_flight, SkillOptions skill, std::size_t trials) {
  RuleChat chat{SkilledModel(skill)};
  auto search = Optimizer(
      make(), LlmRewriter(chat, problem_of_words(), {.common = {.strategies = strategies_of_words()}}),
      KernelLandscape{},
      OptimizerOptions{.in_flight = in_flight,
                       .generate_threads = in_flight,
                       .budget = std::make_shared<TrialBudget>(trials)});
  (void)search.run();
  Ran ran;
  for (const auto& trial : search.trials())
    ran.trials.push_back(trial.candidate ? trial.candidate->kernel->regions.device
                                         : trial.outcome.evaluation.reason);
  if (search.best() != nullptr) ran.best = search.best()->outcome.objective;
  ran.requests = chat.requests();
  return ran;
}

}  // namespace

TEST_CASE(
    "llm rewriter: whole searches with HierarchicalUcb and BestOfK improve the kernel, and repeat "
    "themselves") {
  const auto names = strategy_names(strategies_of_words());
  const auto check = [&](auto make) {
    for (const std::size_t in_flight : {1u, 4u}) {
      CAPTURE(in_flight);
      const Ran first = run(make, in_flight, {.seed = 5}, 40), second = run(make, in_flight, {.seed = 5}, 40);
      CHECK(first.trials == second.trials);
      CHECK(first.trials.size() == 40);
      CHECK(first.best < 70);
      // one question for a proposal, one more where a reply could not be used
      CHECK(first.requests.size() <= 2 * 40);
      CHECK(first.requests.size() >= 39);
    }
  };
  check([&] { return HierarchicalUcb({.strategies = names, .seed = 1}); });
  check([&] { return BestOfK({.strategies = names, .seed = 1, .k = 8, .climb = true}); });
}

TEST_CASE("llm rewriter: what failed to be generated is in the record, with the role and the fault") {
  const Ran ran = run([] { return BestOfK({.strategies = strategy_names(strategies_of_words()), .k = 30}); },
                      1, {.garbled = 1.0, .heeds = 0.0}, 20);
  std::size_t faults = 0;
  for (const std::string& trial : ran.trials) faults += trial.starts_with("rewriter: ") ? 1 : 0;
  CHECK(faults == ran.trials.size() - 1);
  CHECK(ran.requests.size() == 2 * faults);
}
