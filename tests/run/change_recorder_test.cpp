// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/change_recorder.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "kernelsearch/agents/unified_diff.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/run/change_file.hpp"
#include "kernelsearch/run/run.hpp"
#include "run/support.hpp"
#include "support/check_has.hpp"
#include "support/remembered_change.hpp"
#include "support/scripted_model.hpp"

using namespace run_test;
using scripted::RuleChat;

namespace {

/// A kernel of the problem with these words in its code: what differs in comments alone is the same code.
std::string code_of(const std::string& words) {
  return "static const char* const note = \"" + words + "\";\n" + small_problem().kernel.regions.device;
}

std::string reply_with(const std::string& words) {
  return "```cpp device\n" + code_of(words) + "\n```\n";
}

ChatResult named(const std::string& text) {
  ChatResult result = RuleChat::replied(text);
  result.reply->model = "a-model-1";
  return result;
}

/// A problem of words with a store beside it, and runs of best_of_k on it.
struct Lessons {
  Place place;
  Problem problem = small_problem();

  [[nodiscard]] RunStore& store() const { return *place.store; }

  Run run(const RuleChat& chat, const std::string& budget, bool memory = true) const {
    RunOptions options;
    options.system = "best_of_k";
    options.budget = budget;
    options.memory = memory;
    return Run::start(problem, options, parts(chat));
  }
  [[nodiscard]] RunParts parts(const RuleChat& chat) const {
    RunParts parts;
    parts.evaluator = Words{problem, place.gate};
    parts.store = place.store.get();
    parts.problem = problem;
    parts.model = chat;
    return parts;
  }
  /// In the order in which they were made.
  [[nodiscard]] std::vector<RememberedChange> changes() const {
    std::vector<RememberedChange> all;
    for (StoredChange& one : store().changes()) all.insert(all.begin(), std::move(one.change));
    return all;
  }
};

RuleChat replies(std::vector<std::string> texts) {
  return RuleChat([texts = std::move(texts), next = std::make_shared<std::size_t>(0)](const ChatRequest&) {
    return named(texts[std::min((*next)++, texts.size() - 1)]);
  });
}

}  // namespace

TEST_CASE("change recorder: a run keeps what was asked, what changed and what came of it") {
  const Lessons lessons;
  RuleChat chat = replies(
      {reply_with("fast"), reply_with("bug"), reply_with("broken"), "Nothing to do.", "Really nothing."});
  Run run = lessons.run(chat, "5");
  run.to_end();
  const std::vector<RememberedChange> changes = lessons.changes();
  REQUIRE(changes.size() == 4);
  const RememberedChange& good = changes[0];
  CHECK(good.problem == "twice");
  CHECK(good.problem_digest == lessons.store().run(run.id()).info.problem_digest);
  CHECK(good.backend == "host");
  CHECK(good.traits == std::vector<std::string>{"elementwise"});
  CHECK(good.device == "a scripted device");
  CHECK(good.toolchain == "a scripted compiler 1.0");
  CHECK(good.system == "best_of_k");
  CHECK(good.kind == MoveKind::rewrite);
  CHECK(good.prompt == "rewrite");
  CHECK(good.prompt_version.size() == 64);
  CHECK(good.model == "a-model-1");
  CHECK(good.verdict == Verdict::ok);
  REQUIRE(good.effect);
  CHECK(good.effect->ratio == 2.0);
  CHECK(good.effect->faster());
  CHECK(good.kernel != good.parent_kernel);
  CHECK(good.at.size() == 24);
  // The diff makes the child of the parent.
  CHECK(patched_file(good.diff) == "device");
  CHECK(apply_unified_diff(lessons.problem.kernel.regions.device, good.diff).text == code_of("fast") + "\n");

  CHECK(changes[1].verdict == Verdict::wrong_result);
  CHECK(changes[1].progress == 0.625);
  CHECK(changes[1].reason == "y[3] is 7 instead of 6");
  CHECK(!changes[1].effect);
  CHECK(changes[2].verdict == Verdict::build_failed);
  check_has(changes[2].reason, "error: broken");
  CHECK(changes[2].diff.find("broken") != std::string::npos);
  // A reply without a kernel teaches something too; it has no diff.
  CHECK(changes[3].verdict == Verdict::not_generated);
  check_has(changes[3].reason, "no_code");
  CHECK(changes[3].diff == "");
  CHECK(changes[3].kernel == "");
}

TEST_CASE("change recorder: a model that gives no reply teaches nothing of a change") {
  const Lessons lessons;
  const RuleChat chat([](const ChatRequest&) { return ChatResult::failed(ChatFailure::network, "down"); });
  lessons.run(chat, "3").to_end();
  CHECK(lessons.changes().empty());
}

TEST_CASE("change recorder: the next run's prompts show what the first one learned, unless told not to") {
  const Lessons lessons;
  const auto shown = [&](bool memory) {
    RuleChat chat = replies({reply_with("fast fast")});
    lessons.run(chat, "2", memory).to_end();
    return scripted::text_of(chat.requests().at(0));
  };
  RuleChat first = replies({reply_with("fast"), reply_with("bug")});
  lessons.run(first, "3").to_end();
  for (const ChatRequest& request : first.requests())
    CHECK(scripted::text_of(request).find("What earlier runs learned") == std::string::npos);
  const std::string with = shown(true);
  const std::size_t at = with.find("# What earlier runs learned\n");
  REQUIRE(at != std::string::npos);
  CHECK(at < with.find("# Kernel to change"));
  check_has(with, "Faster:\n- its own choice, on twice (elementwise): 2 times as fast as its parent");
  check_has(with, "+static const char* const note = \"fast\";\n");
  check_has(with, "wrong_result, 62 % of the way to a right result: y[3] is 7 instead of 6");
  check_has(with, "| its own choice | elementwise | a-model-1 | 2 | 1 | 1 | 2 |");
  const std::string without = shown(false);
  CHECK(without.find("earlier runs") == std::string::npos);
  // The part that providers keep is the same.
  CHECK(with.substr(0, with.find("# What earlier")) == without.substr(0, without.find("# Kernel to change")));
}

TEST_CASE("change recorder: a run that is resumed asks the same and keeps each change once") {
  const Lessons lessons;
  RuleChat teacher = replies({reply_with("fast one")});
  lessons.run(teacher, "2").to_end();
  RuleChat chat([](const ChatRequest& request) {
    return named(reply_with("fast " + std::to_string(request.repetition)));
  });
  RunId id{};
  {
    Run run = lessons.run(chat, "4");
    id = run.id();
    run.step({.trials = 2});
  }
  CHECK(lessons.changes().size() == 2);
  // What others learn meanwhile is not for this run.
  RuleChat other = replies({reply_with("broken by another run")});
  lessons.run(other, "2").to_end();
  CHECK(lessons.changes().size() == 3);
  Run again = Run::resume(std::to_string(number(id)), {}, lessons.parts(chat));
  again.to_end();
  CHECK(lessons.store().run(id).trials == 4);
  CHECK(lessons.changes().size() == 5);
  std::string shown;
  for (const ChatRequest& request : chat.requests()) {
    const std::string text = scripted::text_of(request);
    const std::size_t begin = text.find("# What earlier runs learned"), end = text.find("# Kernel to change");
    REQUIRE(begin != std::string::npos);
    const std::string block = text.substr(begin, end - begin);
    if (shown.empty()) shown = block;
    CHECK(block == shown);
  }
  check_has(shown, "fast one");
  // Resumed without memory, it shows none.
  RuleChat plain([](const ChatRequest& request) {
    return named(reply_with("fast fast " + std::to_string(request.repetition)));
  });
  RunOptions off;
  off.memory = false;
  off.budget = "5";
  off.system_options = R"({"k": 4})";
  Run last = Run::resume(std::to_string(number(id)), off, lessons.parts(plain));
  last.to_end();
  REQUIRE(!plain.requests().empty());
  for (const ChatRequest& request : plain.requests())
    CHECK(scripted::text_of(request).find("earlier runs learned") == std::string::npos);
}

TEST_CASE("change recorder: a trial that is told again replaces what was kept of it") {
  const Lessons lessons;
  RuleChat chat = replies({reply_with("fast")});
  Run run = lessons.run(chat, "2");
  run.to_end();
  const RunRow row = lessons.store().run(run.id());
  const auto asked = std::make_shared<detail::AskedMoves>();
  detail::ChangeRecorder recorder(lessons.store(), {row, lessons.problem, {"elementwise"}, {}, {}}, asked);
  Trial<Candidate> parent{lessons.problem.default_candidate(), {}};
  parent.outcome.evaluation = Evaluation::succeeded(4.0);
  Trial<Candidate> child{support::candidate_with(code_of("fast")), {}};
  child.outcome.id = TrialId{1};
  child.outcome.parents = {TrialId{0}};
  child.outcome.evaluation = Evaluation::succeeded(1.0);
  const auto find = [&](TrialId id) { return id == TrialId{0} ? &parent : nullptr; };
  REQUIRE(lessons.changes().size() == 1);
  CHECK(lessons.changes()[0].id == recorder.id_of(TrialId{1}));
  recorder.on_trial(child, {MoveKind::rewrite, {TrialId{0}}, {"tiling"}}, find);
  REQUIRE(lessons.changes().size() == 1);
  CHECK(lessons.changes()[0].effect->ratio == 4.0);
  // What is found out later counts.
  child.outcome.evaluation = Evaluation::failed(Verdict::cheated, "found late");
  recorder.on_revised(child, find);
  REQUIRE(lessons.changes().size() == 1);
  CHECK(lessons.changes()[0].verdict == Verdict::cheated);
  CHECK(!lessons.changes()[0].effect);
  CHECK(lessons.changes()[0].strategies == std::vector<std::string>{"tiling"});
}

TEST_CASE("change recorder: kernels that are handed in are remembered with what was named") {
  const Lessons lessons;
  RunOptions options;
  options.policy = "submit";
  options.suggest = "none";
  options.budget = "10";
  RuleChat nobody = replies({""});
  RunParts parts = lessons.parts(nobody);
  parts.model = {};
  Run run = Run::start(lessons.problem, options, std::move(parts));
  run.step({});
  Submission submission;
  submission.device = code_of("fast");
  submission.strategies = {"halving"};
  (void)run.submit(submission);
  Submission settings;
  settings.settings = {{"UNROLL", Value{std::int64_t{4}}}};
  (void)run.submit(settings);
  const std::vector<RememberedChange> changes = lessons.changes();
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].kind == MoveKind::submitted);
  CHECK(changes[0].strategies == std::vector<std::string>{"halving"});
  CHECK(changes[0].model == "");
  CHECK(changes[1].diff == "");
  CHECK(changes[1].settings == "UNROLL: 1 -> 4\n");
}

TEST_CASE("change recorder: no key comes into the memory, out of it, or in from elsewhere") {
  const Lessons lessons;
  setenv("KERNELSEARCH_TEST_PLANTED_KEY", "planted-secret-0123456789", 1);
  const std::string shaped = "sk-abcdefghijklmnopqrstuvwx";
  RuleChat chat([&](const ChatRequest&) {
    ChatResult result = named(reply_with("fast planted-secret-0123456789 " + shaped));
    result.reply->model = "model-planted-secret-0123456789";
    return result;
  });
  lessons.run(chat, "2").to_end();
  REQUIRE(lessons.changes().size() == 1);
  const std::string kept = change_text(lessons.changes()[0]);
  CHECK(kept.find("planted-secret") == std::string::npos);
  CHECK(kept.find(shaped) == std::string::npos);
  check_has(kept, "[redacted]");

  RememberedChange foreign = support::changed(1);
  foreign.reason = "Authorization: Bearer " + shaped;
  foreign.diff = "+planted-secret-0123456789\x1b[2J\n";
  std::istringstream file(change_text(foreign) + "\n" + change_text(lessons.changes()[0]) + "\n");
  const ImportedChanges imported = import_changes(lessons.store(), file, "m.jsonl");
  CHECK(imported.read == 2);
  CHECK(imported.added == 1);
  std::ostringstream out;
  CHECK(export_changes(lessons.store(), {}, out) == 2);
  CHECK(out.str().find("planted-secret") == std::string::npos);
  CHECK(out.str().find(shaped) == std::string::npos);
  CHECK(lessons.changes()[1].diff.find('\x1b') == std::string::npos);
  // A key that is known only now does not leave the store either.
  RememberedChange early = support::changed(2);
  early.model = "later-secret-987654";
  lessons.store().put_change(early);
  setenv("KERNELSEARCH_TEST_PLANTED_TOKEN", "later-secret-987654", 1);
  std::ostringstream later;
  (void)export_changes(lessons.store(), {}, later);
  CHECK(later.str().find("later-secret") == std::string::npos);
  unsetenv("KERNELSEARCH_TEST_PLANTED_KEY");
  unsetenv("KERNELSEARCH_TEST_PLANTED_TOKEN");
}

TEST_CASE("change file: texts are cut to the limits, at lines, and read back") {
  RememberedChange change = support::changed(1);
  change.diff = "";
  for (int i = 0; i < 5000; ++i) change.diff += "+line " + std::to_string(i) + "\n";
  change.reason = std::string(5000, 'r');
  change.device = std::string(300, '\xc3');
  change.traits.assign(100, "t");
  const RememberedChange cut = without_secrets(change, {});
  CHECK(cut.diff.size() <= ChangeLimits::diff);
  CHECK(cut.diff.ends_with("\n... (cut)\n"));
  CHECK(change_from_text(change_text(cut)) == cut);
  CHECK(without_secrets(cut, {}) == cut);

  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  std::istringstream bad(change_text(cut) + "\nnonsense\n");
  CHECK_THROWS_WITH_AS((void)import_changes(store, bad, "m.jsonl"), doctest::Contains("line 2"), ConfigError);
  CHECK(store.changes().empty());
}
