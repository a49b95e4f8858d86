// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/method_writer.hpp"

#include <doctest/doctest.h>

#include "generator_support.hpp"

using namespace kernelsearch;
using namespace scripted;

static_assert(GeneratorOf<MethodWriter, Move>);

namespace {

std::vector<Method> methods_of_words() {
  std::vector<Method> methods(2);
  methods[0].id = "tiling";
  methods[0].description = "Apply tiling.";
  methods[0].signature.any.push_back({"code.loop.load", true});
  methods[1].id = "fusion";
  methods[1].description = "Fuse loops.";
  return methods;
}

struct OneWriter {
  WordHistory trials;
  std::shared_ptr<SkillJournal> journal = std::make_shared<SkillJournal>();
  TrialId root = trials.add({}, {}, Evaluation::succeeded(1));
  TrialId champion = trials.add({root}, {"tiling", "fusion"}, Evaluation::succeeded(0.5));

  Generation<Candidate> make(const RuleChat& chat, const Move& move, Backend backend = Backend::host) const {
    Problem problem = problem_of_words();
    problem.backend = backend;
    return MethodWriter(chat, problem, {.methods = methods_of_words(), .journal = journal})
        .generate(move, trials.history());
  }
};

}  // namespace

TEST_CASE(
    "method writer: a branch is asked for with all its methods, its place and where the kernel stands") {
  OneWriter one;
  SkillIteration now;
  now.gaps[Axis::memory] = 0.75;
  now.choice.taken = {0, 1};
  now.first_variant = 4;
  SkillIteration before;
  before.verdicts.push_back({0, MethodFate::implementation_failed, {}, {}, {}, {}, {}, false, "no trace"});
  one.journal->write({before, now});
  RuleChat chat(std::vector<std::string>{"THIS TIME: the tiles are padded.\n\n" +
                                         word_block("  tiling\n  fusion\n  wide\n")});
  const auto made = one.make(chat, {MoveKind::branch, {one.root}, {"tiling", "fusion"}, 6});
  REQUIRE(made.candidates.size() == 1);
  CHECK(words_of(made.candidates.front()).contains("wide"));
  const auto requests = chat.requests();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].role == "writer");
  CHECK(requests[0].repetition == 6);
  const std::string text = text_of(requests[0]);
  for (const char* part : {"branch 3 of 4", "`tiling`", "Fuse loops.", "fewer load in the hot loop",
                           "| memory | 0.75 |", "- tiling: no trace"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  // What branches may differ in is the machine's.
  CHECK(text.find("widths of vectors, numbers of accumulators") != std::string::npos);
  CHECK(text.find("warps") == std::string::npos);
  CHECK(text.find("One may gain only together with another") != std::string::npos);
  RuleChat on_device(std::vector<std::string>{"no"});
  (void)one.make(on_device, {MoveKind::branch, {one.root}, {"tiling", "fusion"}, 6}, Backend::cuda);
  CHECK(text_of(on_device.requests().at(0)).find("numbers of threads or warps") != std::string::npos);
  // One that takes the place of a branch that an outage lost is no fifth of four.
  RuleChat later(
      std::vector<std::string>{"THIS TIME: other tiles.\n\n" + word_block("  tiling\n  fusion\n")});
  (void)one.make(later, {MoveKind::branch, {one.root}, {"tiling", "fusion"}, 8});
  CHECK(text_of(later.requests().front())
            .find("This is branch 5, in place of one that came to nothing: all apply") != std::string::npos);
}

TEST_CASE("method writer: who tries a failed method again must say what is different, and it is kept") {
  OneWriter one;
  SkillIteration before, now;
  before.verdicts.push_back({0, MethodFate::implementation_failed, {}, {}, {}, {}, {}, false, "no trace"});
  now.choice.taken = {0, 1};
  one.journal->write({before, now});
  const Move again{MoveKind::branch, {one.root}, {"tiling", "fusion"}, 0};
  const std::string code = word_block("  tiling\n  fusion\n");
  RuleChat said(
      std::vector<std::string>{"THIS TIME: **the tiles are padded, so that nothing spills.**\n\n" + code});
  const auto made = one.make(said, again);
  REQUIRE_MESSAGE(made.candidates.size() == 1, made.failure);
  CHECK(made.rationale == "the tiles are padded, so that nothing spills.");
  CHECK(text_of(said.requests().front()).find("THIS TIME: the sentence") != std::string::npos);

  RuleChat silent(std::vector<std::string>{code});
  const auto none = one.make(silent, again);
  CHECK(none.candidates.empty());
  CHECK(none.failure.find("no_retry_note") != std::string::npos);
  CHECK(silent.count("writer") == 2);  // told once

  // What was not tried before needs no such sentence, nor what was tried and is of no use.
  RuleChat fresh(std::vector<std::string>{code});
  const auto first = one.make(fresh, {MoveKind::branch, {one.root}, {"fusion"}, 0});
  REQUIRE_MESSAGE(first.candidates.size() == 1, first.failure);
  CHECK(first.rationale.empty());
  CHECK(text_of(fresh.requests().front()).find("THIS TIME") == std::string::npos);
}

TEST_CASE("method writer: an ablation names what goes, and may be a kernel that was there before") {
  OneWriter one;
  RuleChat chat(std::vector<std::string>{word_block("")});  // the root again
  const auto made = one.make(chat, {MoveKind::ablate, {one.champion}, {"tiling"}, 0});
  REQUIRE_MESSAGE(made.candidates.size() == 1, made.failure);
  const std::string text = text_of(chat.requests().front());
  CHECK(chat.requests().front().role == "ablator");
  CHECK(chat.requests().front().temperature == 0.0);
  CHECK(text.find("nothing else: tiling (Apply tiling.)") != std::string::npos);
  CHECK(text.find("Fuse loops.") == std::string::npos);

  // The champion itself is no ablation of it.
  std::string same;
  for (const char* word : {"fusion", "tiling"}) same += std::string("  ") + word + "\n";
  RuleChat lazy(std::vector<std::string>{word_block(same)});
  const auto none = one.make(lazy, {MoveKind::ablate, {one.champion}, {"tiling"}, 0});
  CHECK(none.candidates.empty());
  CHECK(none.failure.find("same_code") != std::string::npos);
  CHECK(lazy.count("ablator") == 2);  // told once
}

TEST_CASE("method writer: repairs, the root, and methods that there are not") {
  OneWriter one;
  const TrialId failed =
      one.trials.add({one.root}, {"bug"}, Evaluation::failed(Verdict::wrong_result, "c[3]: 1 instead of 2"));
  RuleChat chat(std::vector<std::string>{word_block("  mended\n")});
  REQUIRE(one.make(chat, {MoveKind::debug, {failed}, {}, 0}).candidates.size() == 1);
  CHECK(chat.requests().front().role == "debugger");
  CHECK(text_of(chat.requests().front()).find("c[3]: 1 instead of 2") != std::string::npos);
  CHECK(one.make(chat, Move{}).candidates.size() == 1);
  const auto none = one.make(chat, {MoveKind::branch, {one.root}, {"tilin"}, 0});
  CHECK(none.failure.find("did you mean tiling?") != std::string::npos);
}

TEST_CASE("method writer: methods become the strategies of prompts") {
  const std::vector<Strategy> strategies = strategies_of(methods_of_words());
  REQUIRE(strategies.size() == 2);
  CHECK(strategies[0].name == "tiling");
  CHECK(strategies[0].applies({}));
}

TEST_CASE("method writer: a branch sees what the branches before it did, those of this iteration alone") {
  OneWriter one;
  SkillIteration now;
  now.choice.taken = {0, 1};
  now.first_variant = 4;
  one.journal->write({now});
  const auto branch = [&one](std::uint32_t variant, const std::set<std::string>& words, double seconds) {
    (void)one.trials.add({one.root}, words, Evaluation::succeeded(seconds), {},
                         Move{MoveKind::branch, {one.root}, {"tiling", "fusion"}, variant});
  };
  branch(3, {"earlier"}, 0.9);
  branch(4, {"padded"}, 0.7);
  branch(5, {"wide"}, 0.6);
  RuleChat chat(std::vector<std::string>{word_block("  tiling\n  fusion\n  other\n")});
  (void)one.make(chat, {MoveKind::branch, {one.root}, {"tiling", "fusion"}, 6});
  const std::string text = text_of(chat.requests().at(0));
  CHECK(text.find("# The other branches so far") != std::string::npos);
  CHECK(text.find("## Branch 1 (kernel 3): 700 ms") != std::string::npos);
  CHECK(text.find("+  padded") != std::string::npos);
  CHECK(text.find("+  wide") != std::string::npos);
  CHECK(text.find("+  earlier") == std::string::npos);
  // The first of an iteration has none.
  RuleChat first(std::vector<std::string>{word_block("  tiling\n  fusion\n  other\n")});
  (void)one.make(first, {MoveKind::branch, {one.root}, {"tiling", "fusion"}, 4});
  CHECK(text_of(first.requests().at(0)).find("The other branches so far") == std::string::npos);
}
