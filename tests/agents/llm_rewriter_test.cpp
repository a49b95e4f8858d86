// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/llm_rewriter.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "generator_support.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/core/impl/text.hpp"
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

namespace {

/// The question about a real problem's own kernel, and what was made of the reply.
struct Asked {
  std::string how, task;
  Generation<Candidate> made;
};

Asked ask_about(const std::string& example, const std::string& reply, AgentOptions common = {},
                std::string tuned_key = {}) {
  const Problem problem = read_problem(std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "examples" / example);
  const RuleChat chat(std::vector<std::string>{reply});
  common.corrections = 0;
  const LlmRewriter rewriter(chat, problem, {.common = common});
  WordHistory trials;
  Outcome outcome;
  outcome.evaluation = Evaluation::succeeded(1.0);
  outcome.evaluation.tuned_key = std::move(tuned_key);
  outcome.objective = 1.0;
  trials.log.append(
      {rewriter.generate({MoveKind::root, {}, {}}, History<Candidate>()).candidates.front(), outcome});
  Asked asked;
  asked.made = rewriter.generate({MoveKind::rewrite, {TrialId{0}}, {}}, trials.history());
  REQUIRE(chat.requests().size() == 1);
  asked.how = chat.requests()[0].messages[0].text;
  asked.task = chat.requests()[0].messages[1].text;
  return asked;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("llm rewriter: a kernel of an external program is asked for in its own language and words") {
  const Asked asked = ask_about("external/triton_cosine.json", "nothing");
  for (const std::string* const text : {&asked.how, &asked.task}) {
    CHECK(text->find("```python device") != std::string::npos);
    CHECK(text->find("```cpp") == std::string::npos);
    CHECK(text->find("macro") == std::string::npos);
  }
  CHECK(asked.how.find("declare each by the name under which the program is to be given its value") !=
        std::string::npos);
  CHECK(asked.how.find("Available regions: device.") != std::string::npos);
  CHECK(
      asked.task.find("Tunables, which the program is given by name, with the value that this kernel has:") !=
      std::string::npos);
  // And one that is ours in ours.
  const Asked ours = ask_about("host/matmul", "nothing");
  CHECK(ours.how.find("declare each as a macro that the code uses") != std::string::npos);
  CHECK(ours.how.find("```cpp device") != std::string::npos);
}

TEST_CASE("llm rewriter: what may change is said of real problems, and no more") {
  const Asked cuda = ask_about("cuda/matmul_f32", "no");
  CHECK(says(cuda.how, "it is defined for you, with each of its values in turn, and the fastest is kept"));
  CHECK(says(cuda.how, "add \"launch\" to that block"));
  CHECK(says(cuda.how, R"({"launch": {"grid": ["(n + 255) // 256"])"));
  CHECK_FALSE(says(cuda.how, "The launch stays as it is"));
  CHECK_FALSE(says(cuda.how, "holds the launch function"));
  AgentOptions untuned;
  untuned.tunables = false;
  const Asked paper = ask_about("cuda/matmul_f32", "no", untuned);
  CHECK_FALSE(says(paper.how, "worth searching"));
  CHECK(says(paper.how, "expressions over shape variables"));
  CHECK(says(paper.how, "give \"launch\" in one more block."));  // there is no other to add it to
  const Asked peak = ask_about("cuda/matmul_peak", "no");
  CHECK(says(peak.how, "The region host holds the launch function `launch_matmul`"));
  CHECK_FALSE(says(peak.how, "add \"launch\""));
  const Asked host = ask_about("host/matmul", "no");
  CHECK(says(host.how, "worth searching"));
  CHECK_FALSE(says(host.how, "launch"));
}

TEST_CASE("llm rewriter: a kernel that was tuned is shown and gone on from where it was best") {
  const Problem problem =
      read_problem(std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "examples/host/matmul");
  const Space& space = problem.kernel.space;
  Rng rng(4);
  Config best = space.default_config();
  while (best == space.default_config()) best = space.sample(rng);
  const Asked asked = ask_about("host/matmul",
                                "```json\n{\"tunables\": {\"" + space.tunable(0).name + "\": [" +
                                    to_string(space.value(best, 0)) + ", 4096]}}\n```\n",
                                {}, space.key(best));
  for (std::size_t i = 0; i < space.size(); ++i) {
    std::string value = to_string(space.value(best, i));
    if (std::holds_alternative<std::string>(space.value(best, i))) value = '"' + value + '"';
    CHECK(says(asked.task, "- " + space.tunable(i).name + " = " + value + " of "));
  }
  REQUIRE_MESSAGE(asked.made.candidates.size() == 1, asked.made.failure);
  const Candidate& made = asked.made.candidates[0];
  for (std::size_t i = 0; i < space.size(); ++i)
    CHECK(made.kernel->space.value(made.config, i) == space.value(best, i));
  // A search may begin elsewhere than at the default.
  AgentOptions options;
  options.root = best;
  const LlmRewriter rewriter(RuleChat(std::vector<std::string>{"never"}), problem, {.common = options});
  CHECK(rewriter.generate({MoveKind::root, {}, {}}, History<Candidate>()).candidates.front().config == best);
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
  CHECK(again.requests()[1].messages.back().text.find("The code equals kernel 2, 900 ms.") !=
        std::string::npos);
  CHECK(made.failure.find("same_code") != std::string::npos);
}

TEST_CASE("llm rewriter: the same code with other tunables is another kernel than the one that was tried") {
  One one;
  one.trials.add({one.root}, {"TILE"}, Evaluation::succeeded(0.9));
  const std::string code = word_block("  TILE\n");
  const auto declaring = [](const std::string& json) { return "```json\n" + json + "\n```\n"; };
  RuleChat same(std::vector<std::string>{code + declaring(R"({"constraints": ["block > 0"]})")});
  CHECK(one.make(same).failure.find("same_code") != std::string::npos);
  RuleChat other(std::vector<std::string>{code + declaring(R"({"tunables": {"TILE": [8, 16]}})")});
  const auto made = one.make(other);
  CHECK_MESSAGE(made.candidates.size() == 1, made.failure);
}

TEST_CASE("llm rewriter: that a strategy does not apply is an answer, for one question and no trial") {
  One one;
  ExchangeList log;
  RuleChat chat(std::vector<std::string>{"DOES NOT APPLY: there is no loop."});
  const auto made = one.make(chat, {MoveKind::rewrite, {one.root}, {"tiling"}}, {.log = log});
  CHECK(made.candidates.empty());
  CHECK_FALSE(made.applicable);
  CHECK(made.failure == "tiling: there is no loop.");
  REQUIRE(chat.requests().size() == 1);
  CHECK(text_of(chat.requests()[0]).find("DOES NOT APPLY: the reason") != std::string::npos);
  REQUIRE(log.list->size() == 1);
  CHECK(log.list->front().judgement.ok());
  CHECK(log.list->front().inapplicable == made.failure);
  CHECK(log.list->front().last);

  // Where the model chooses there is nothing that could not apply: it is told so, once.
  RuleChat free(std::vector<std::string>{"DOES NOT APPLY: I see nothing."});
  const auto none = one.make(free, {MoveKind::rewrite, {one.root}, {}});
  CHECK(none.applicable);
  CHECK(none.failure.find("bad_refusal") != std::string::npos);
  REQUIRE(free.requests().size() == 2);
  CHECK(free.requests()[1].messages.back().text.find("This is the last attempt.") != std::string::npos);
  CHECK(free.requests()[1].messages.back().text.find("DOES NOT APPLY: the reason") == std::string::npos);
  RuleChat prose(std::vector<std::string>{"prose"});
  (void)one.make(prose);
  CHECK(prose.requests()[1].messages.back().text.find("DOES NOT APPLY: the reason") != std::string::npos);
}

TEST_CASE("llm rewriter: a strategy whose condition is false does not apply, and nobody is asked") {
  WordHistory trials;
  Evaluation small = Evaluation::succeeded(1);
  small.features.set("work", 5);
  const TrialId root = trials.add({}, {}, small);
  std::vector<Strategy> strategies = strategies_of_words();
  strategies[0].when = Expression::parse("work > 10");
  strategies[0].unless = "there is too little work";
  RuleChat chat(std::vector<std::string>{word_block("  fusion\n")});
  const LlmRewriter rewriter(chat, problem_of_words(), {.common = {.strategies = strategies}});
  const auto made = rewriter.generate({MoveKind::rewrite, {root}, {"tiling"}}, trials.history());
  CHECK(made.candidates.empty());
  CHECK_FALSE(made.applicable);
  CHECK(made.failure.find("there is too little work (work > 10 is false)") != std::string::npos);
  CHECK(chat.requests().empty());
  CHECK(rewriter.generate({MoveKind::rewrite, {root}, {"fusion"}}, trials.history()).candidates.size() == 1);
}

TEST_CASE("llm rewriter: a reply that thinking has used up is asked for with room, and is no attempt") {
  One one;
  RuleChat chat([](const ChatRequest& request) {
    if (request.max_tokens == 16384) return RuleChat::replied("", FinishReason::length);
    if (request.messages.size() == 2) return RuleChat::replied("prose");
    return RuleChat::replied(word_block("  tiling\n"));
  });
  CHECK(one.make(chat).candidates.size() == 1);
  const auto asked = chat.requests();
  REQUIRE(asked.size() == 3);
  CHECK(asked[1].max_tokens == 4 * 16384);
  CHECK(asked[1].messages == asked[0].messages);
  CHECK(asked[2].messages.size() == 4);  // the correction was left

  RuleChat endless([](const ChatRequest&) { return RuleChat::replied("", FinishReason::length); });
  CHECK(one.make(endless).failure.find("truncated") != std::string::npos);
  CHECK(endless.requests().size() == 3);  // room once, one correction
}

TEST_CASE("llm rewriter: tunables that nothing searches are a fault that is told, in the question too") {
  One one;
  const std::string declares =
      word_block("  TILE\n") +
      "```json\n{\"tunables\": {\"TILE\": {\"values\": [8], \"default\": 8}}}\n```\n";
  RuleChat chat(std::vector<std::string>{declares, word_block("  tiling\n")});
  CHECK(one.make(chat, {MoveKind::rewrite, {one.root}, {"tiling"}}, {.tunables = false}).candidates.size() ==
        1);
  REQUIRE(chat.requests().size() == 2);
  CHECK(chat.requests()[0].messages[0].text.find("declare no tunables") != std::string::npos);
  const std::string& told = chat.requests()[1].messages.back().text;
  CHECK(told.find("unwanted_tunables") != std::string::npos);
  CHECK(told.find("write each setting as a number in the code") != std::string::npos);
}

TEST_CASE("llm rewriter: what is asked again says what came of it") {
  One one;
  one.trials.add({one.root}, {"tiling"},
                 Evaluation::failed(Verdict::build_failed, "k.cpp:3:1: error: no `weight`"));
  one.trials.add({one.root}, {"fusion"},
                 Evaluation::failed(Verdict::not_applicable, "fusion: nothing to fuse"));
  RuleChat chat(std::vector<std::string>{word_block("  tiling\n  more\n")});
  REQUIRE(one.make(chat, {MoveKind::rewrite, {one.root}, {"tiling"}, 1}).candidates.size() == 1);
  const std::string text = text_of(chat.requests().back());
  CHECK(text.find("This is attempt 2") != std::string::npos);
  CHECK(text.find("(kernel 1): wrong_result") != std::string::npos);
  CHECK(text.find("(kernel 2): build_failed: k.cpp:3:1: error: no `weight`\n") != std::string::npos);
  CHECK(text.find("(kernel 3): was judged not to apply: fusion: nothing to fuse\n") != std::string::npos);
  CHECK(text.find("## Kernel 3") == std::string::npos);  // no attempt
  CHECK(text.find("another implementation than the obvious one") == std::string::npos);
}

TEST_CASE("llm rewriter: debugging, ablation, joining and choosing for itself") {
  One one;
  RuleChat chat(std::vector<std::string>{word_block("  x\n")});
  REQUIRE(one.make(chat, {MoveKind::debug, {one.failed}, {}}).candidates.size() == 1);
  std::string text = text_of(chat.requests().back());
  CHECK(chat.requests().back().role == "debugger");
  CHECK(text.find("# How this kernel came about\n\n- kernel 0: 1 s\n- kernel 1: wrong_result") !=
        std::string::npos);
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

TEST_CASE("llm rewriter: the forms of an answer as real problems' questions hold them") {
  for (const char* folder : {"/examples/host/matmul", "/examples/cuda/matmul_peak"}) {
    CAPTURE(folder);
    const Problem problem = read_problem(std::string(KERNELSEARCH_SOURCE_DIR) + folder);
    RuleChat chat(std::vector<std::string>{"prose"});
    const LlmRewriter rewriter(chat, problem, {.common = {.tunables = false}});
    TrialLog<Candidate> log;
    const auto add = [&](std::vector<TrialId> parents, Evaluation evaluation) {
      Outcome outcome;
      outcome.id = TrialId{log.size()};
      outcome.parents = std::move(parents);
      if (evaluation.verdict == Verdict::ok) outcome.objective = evaluation.measurement.seconds;
      outcome.evaluation = std::move(evaluation);
      log.append(
          {rewriter.generate({MoveKind::root, {}, {}}, History<Candidate>()).candidates.front(), outcome});
    };
    add({}, Evaluation::succeeded(0.0123));
    add({TrialId{0}}, Evaluation::failed(Verdict::build_failed,
                                         "k.cpp: In function 'f':\nk.cpp:7:3: error: 'weights' was not "
                                         "declared\n    7 |   weights[i];\n"));
    const std::string strategy = rewriter.strategies().front().name;
    (void)rewriter.generate({MoveKind::rewrite, {TrialId{0}}, {strategy}, 1}, History<Candidate>(log, 2));
    REQUIRE(chat.requests().size() == 2);
    const std::string asked = text_of(chat.requests()[0]);
    CHECK(asked.find("reply with one line and no code:\n\nDOES NOT APPLY: the reason, in a sentence\n") !=
          std::string::npos);
    CHECK(asked.find("write sizes into the code as constants, and declare no tunables") != std::string::npos);
    CHECK(asked.find("This is attempt 2 at this question. Do not give an earlier reply again.") !=
          std::string::npos);
    CHECK(asked.find("nothing can be shown") == std::string::npos);
    CHECK(asked.find("Where the task is to fix a kernel, it is not a valid answer.") != std::string::npos);
    CHECK(asked.find("(kernel 1): build_failed: k.cpp:7:3: error: 'weights' was not declared\n") !=
          std::string::npos);
    const std::string corrected = chat.requests()[1].messages.back().text;
    CHECK(corrected.find("That reply cannot be used (no_code):") != std::string::npos);
    CHECK(corrected.find("one line and no code: DOES NOT APPLY: the reason.") != std::string::npos);

    // The repair of the failed child: its code, the compiler's line and the strategy.
    (void)rewriter.generate({MoveKind::debug, {TrialId{1}}, {strategy}}, History<Candidate>(log, 2));
    const std::string repair = text_of(chat.requests()[2]);
    CHECK(repair.find("## How it failed") != std::string::npos);
    CHECK(repair.find("k.cpp:7:3: error: 'weights' was not declared") != std::string::npos);
    CHECK(repair.find("## What was being applied\n\n" + strategy + ": ") != std::string::npos);
    CHECK(repair.find(problem.function) != std::string::npos);
  }
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
      // What the scripted model does depends on every byte of a question, so several of it are asked.
      int found = 0;
      for (std::uint64_t seed = 5; seed < 17; ++seed)
        found += run(make, in_flight, {.seed = seed}, 40).best < 70 ? 1 : 0;
      CHECK(found >= 5);
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

TEST_CASE(
    "llm rewriter: a real problem's question has machine, problem, kernel and memory, and its first part "
    "stays") {
  const Problem problem = read_problem(KERNELSEARCH_SOURCE_DIR "/examples/host/matmul");
  AgentOptions common;
  common.hardware = "- processor: a test's\n";
  common.device.features = {"avx2", "avx512"};
  common.facts.peaks = {.device = "d",
                        .source = "s",
                        .f16 = {},
                        .f32 = 1e11,
                        .f64 = {},
                        .levels = {{.name = "memory", .bandwidth = 1e10}}};
  TrialLog<Candidate> log;
  const Candidate root = problem.default_candidate();
  Outcome measured;
  measured.evaluation = Evaluation::succeeded(4e-3);
  measured.objective = 4e-3;
  log.append({root, measured});
  RuleChat chat(std::vector<std::string>{"no code"});
  common.corrections = 0;
  const LlmRewriter rewriter(chat, problem, {.common = common});
  const auto ask = [&](std::uint32_t variant) {
    (void)rewriter.generate({MoveKind::rewrite, {TrialId{0}}, {"vectorization"}, variant}, {log, log.size()});
    return chat.requests().back();
  };
  const ChatRequest first = ask(0);
  const std::string system = first.messages[0].text, task = first.messages[1].text;
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  // The stable part begins with rules, machine and problem, in this order.
  const auto machine = system.find("## Machine\n\n- processor: a test's"),
             what = system.find("## Problem: matmul");
  REQUIRE(machine != std::string::npos);
  CHECK(machine < what);
  CHECK(what < system.find("## How to reply"));
  CHECK(contains(system,
                 "Signature: `extern \"C\" void matmul(std::int32_t, std::int32_t, std::int32_t, const "
                 "float*, const float*, float*)`"));
  CHECK(contains(system, "- a: array of f32, input, n*k elements; holds uniform in [-1, 1)"));
  CHECK(
      contains(system, "- c: array of f32, output, n*m elements; may differ by 0.0002 + 0.0001 |expected|"));
  // 2 * 512^3 operations at 1e11 a second, 3 * 512^2 * 4 bytes at 1e10.
  CHECK(contains(system,
                 "- 512: n=512 m=512 k=512, weight 1; 268.4 Mop, 3.146 MB (85.3 op/B); at best 2.684 ms, "
                 "limited by computing"));
  CHECK(contains(system, "calls follow one another, so caches are warm"));
  CHECK(contains(system, "Compiled with: g++ -std=c++20 -O3 -march=native -ffp-contract=fast"));
  CHECK(contains(system, "Fast mathematics is off"));
  CHECK(!contains(system, "std :: int32_t"));
  CHECK(contains(task, "time: 4 ms"));
  CHECK(contains(task, "- FLAGS = \"\" of"));
  CHECK(contains(task, "Strategy: vectorization"));
  CHECK(contains(task, "_mm512_maskz_loadu_ps"));  // this device's steps
  CHECK(!contains(task, "# What was tried from this kernel"));

  // A child that failed comes back with its error and what it changed, and the first part has the same bytes.
  Candidate child = root;
  auto kernel = std::make_shared<Kernel>(*root.kernel);
  kernel->regions.device += "\n// mark of the child\n";
  child.kernel = kernel;
  Outcome failed;
  failed.id = TrialId{1};
  failed.parents = {TrialId{0}};
  failed.move = Move{MoveKind::rewrite, {TrialId{0}}, {"vectorization"}, 0};
  failed.evaluation =
      Evaluation::failed(Verdict::build_failed,
                         "kernel.cpp: In function 'f':\nkernel.cpp:9:5: error: 'weight' was not declared\n");
  log.append({child, failed});
  const ChatRequest second = ask(1);
  CHECK(second.messages[0].text == system);
  CHECK(second.messages[0].stable);
  const std::string& again = second.messages[1].text;
  CHECK(contains(again,
                 "# What was tried from this kernel\n\n- vectorization (kernel 1): build_failed: "
                 "kernel.cpp:9:5: error: 'weight' was not declared"));
  CHECK(contains(again, "+// mark of the child"));

  // The budget: what is cut is said, the oldest first; code, problem and the latest failure stay.
  for (std::uint64_t i = 2; i < 60; ++i) {
    failed.id = TrialId{i};
    log.append({child, failed});
  }
  const auto tokens_of = [](const ChatRequest& request) {
    std::size_t tokens = 0;
    for (const Message& message : request.messages) tokens += estimated_tokens(message.text);
    return tokens;
  };
  common.prompt_tokens = tokens_of(first) + 1200;
  const LlmRewriter tight(chat, problem, {.common = common});
  (void)tight.generate({MoveKind::rewrite, {TrialId{0}}, {"vectorization"}, 2}, {log, log.size()});
  const ChatRequest cut = chat.requests().back();
  CHECK(tokens_of(cut) <= common.prompt_tokens + 100);  // headings
  const std::string& short_task = cut.messages[1].text;
  CHECK(contains(short_task, "(kernel 59): build_failed"));
  CHECK(!contains(short_task, "(kernel 2): build_failed"));
  CHECK(contains(short_task, "older attempts are left out)"));
  CHECK(contains(short_task, "more failed attempts left out for length)"));
  CHECK(contains(short_task, std::string(detail::trimmed(kernel_text(root, "cpp")))));
  CHECK(contains(short_task, "time: 4 ms"));
}

TEST_CASE("llm rewriter: an outage is told apart from a failure, closes no strategy and is no attempt") {
  One one;
  for (const auto& one_of :
       {std::pair(ChatFailure::network, true), std::pair(ChatFailure::server, true),
        std::pair(ChatFailure::timed_out, true), std::pair(ChatFailure::rate_limited, true),
        std::pair(ChatFailure::quota, false), std::pair(ChatFailure::budget, false),
        std::pair(ChatFailure::authentication, false), std::pair(ChatFailure::not_recorded, false)}) {
    const ChatFailure failure = one_of.first;
    const bool outage = one_of.second;
    CAPTURE(to_string(failure));
    const auto made =
        one.make(RuleChat([failure](const ChatRequest&) { return ChatResult::failed(failure, "gone"); }));
    CHECK(made.candidates.empty());
    CHECK(made.applicable);
    CHECK(made.answered == !outage);
  }
  // A search whose one strategy is given up after one failure goes on when the server is back.
  const auto searched = [](ChatFailure failure) {
    RuleChat chat([failure, asked = std::make_shared<int>(0)](const ChatRequest&) {
      return ++*asked <= 3 ? ChatResult::failed(failure, "gone")
                           : RuleChat::replied(word_block("  tiling\n"));
    });
    auto search =
        Optimizer(BestOfK({.strategies = {"tiling"}, .k = 1, .limits = {.max_failures = 1}}),
                  LlmRewriter(chat, problem_of_words(), {.common = {.strategies = strategies_of_words()}}),
                  KernelLandscape{}, OptimizerOptions{.budget = std::make_shared<TrialBudget>(20)});
    (void)search.run();
    std::vector<std::string> story;
    for (const auto& trial : search.trials())
      story.push_back(std::string(to_string(trial.outcome.evaluation.verdict)) +
                      (trial.outcome.evaluation.is_unanswered() ? ", an outage" : ""));
    return std::pair(story, chat.requests());
  };
  const auto [story, requests] = searched(ChatFailure::network);
  const std::string lost = "not_generated, an outage";
  CHECK(story == std::vector<std::string>{"ok", lost, lost, lost, "ok"});
  CHECK(text_of(requests.back()).find("# What was tried from this kernel") == std::string::npos);
  // It is not told that it gave something, or something of no use.
  CHECK(text_of(requests.back()).find("nothing can be shown of the others: they had no reply") !=
        std::string::npos);
  CHECK(text_of(requests.back()).find("an earlier reply again") == std::string::npos);
  CHECK(searched(ChatFailure::quota).first == std::vector<std::string>{"ok", "not_generated"});
}

TEST_CASE("llm rewriter: the best configuration of a tuned kernel is told by the names of its tunables") {
  const Problem problem =
      read_problem(std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "examples/host/matmul");
  const Space& space = problem.kernel.space;
  const Asked asked = ask_about("host/matmul", "no", {}, space.key(space.default_config()));
  CHECK(says(asked.task, "best configuration of its tunables: {\"TILE_ROWS\":1,\"TILE_VECTORS\":1,"));
  CHECK(says(asked.task, "\"FLAGS\":\"\"}\n"));
}

TEST_CASE("llm rewriter: your_choice leaves the changes to the model, and no other strategy does") {
  WordHistory trials;
  const TrialId root = trials.add({}, {}, Evaluation::succeeded(1));
  const auto asked = [&](const char* strategy) {
    RuleChat chat(std::vector<std::string>{word_block("  wide\n")});
    LlmRewriterOptions options;
    options.common.strategies = read_strategies("host");
    (void)LlmRewriter(chat, problem_of_words(), options)
        .generate({MoveKind::rewrite, {root}, {strategy}}, trials.history());
    return text_of(chat.requests().at(0));
  };
  const std::string free = asked("your_choice");
  CHECK(free.find("Make the changes that you choose, all of them in one kernel.") != std::string::npos);
  CHECK(free.find("and nothing else") == std::string::npos);
  CHECK(asked("fusion").find("Apply this strategy to the kernel, and nothing else.") != std::string::npos);
}

TEST_CASE("llm rewriter: who changes another kernel than the best sees how the best differs") {
  WordHistory trials;
  const TrialId root = trials.add({}, {}, Evaluation::succeeded(1));
  const TrialId slow = trials.add({root}, {"tiling"}, Evaluation::succeeded(0.9));
  const TrialId best = trials.add({root}, {"fusion"}, Evaluation::succeeded(0.5));
  const auto asked = [&](TrialId parent) {
    RuleChat chat(std::vector<std::string>{word_block("  wide\n")});
    (void)LlmRewriter(chat, problem_of_words()).generate({MoveKind::rewrite, {parent}, {}}, trials.history());
    return text_of(chat.requests().at(0));
  };
  const std::string text = asked(slow);
  CHECK(text.find("## The best kernel so far, kernel 2: 500 ms") != std::string::npos);
  CHECK(text.find("+  fusion") != std::string::npos);
  CHECK(text.find("-  tiling") != std::string::npos);
  CHECK(asked(best).find("The best kernel so far") == std::string::npos);
}
