// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replies are written by the tests; no model made them.
#include "kernelsearch/agents/natural_transformations.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/agents/problem_text.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/workflow.hpp"
#include "kernelsearch/evaluator/validated.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/optimizer/tuned.hpp"
#include "kernelsearch/policy/iterated_local_search.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/space/space_builder.hpp"
#include "support/approx.hpp"
#include "support/scripted_chat.hpp"
#include "support/scripted_kernels.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

using Log = TrialLog<Candidate>;

Transformation transformation(std::string name, std::vector<TransformationPass> passes,
                              DeclaredTunables tunables = {}) {
  Transformation t;
  t.title = t.name = std::move(name);
  t.description = "Does something.";
  t.passes = std::move(passes);
  t.tunables = std::move(tunables);
  return t;
}

TransformationPass device_pass(std::string instruction) {
  return {"", {}, {{KernelRegion::device, std::move(instruction)}}};
}

Kernel root_kernel() {
  return {{"void f() {}\n", "void launch() { f(); }\n", "#define ONE 1\n"},
          SpaceBuilder().add(Tunable::power_of_two("BLOCK", 16, 64)).build()};
}

std::string fenced(const std::string& text) {
  return "```cpp\n" + text + "```";
}

/// A log with the root, tuned to its block of 64.
void add_root(Log& log, const NaturalTransformations& generator) {
  Trial<Candidate> trial;
  trial.candidate = generator.generate(Move{}, {}).candidates.front();
  trial.outcome.evaluation = Evaluation::succeeded(1.0);
  trial.outcome.evaluation.tuned_key = "64";
  log.append(std::move(trial));
}

Move use(std::vector<std::string> names, std::uint32_t variant = 0, TrialId parent = TrialId{0}) {
  return {MoveKind::rewrite, {parent}, std::move(names), variant};
}

struct Setup {
  Setup(std::vector<Transformation> transformations, ScriptedChat chat,
        NaturalTransformationsOptions options = {})
      : model(chat),
        generator(root_kernel(), TransformationLibrary(std::move(transformations)), chat,
                  std::move(options)) {
    add_root(log, generator);
  }
  Generation<Candidate> generate(const Move& move) const {
    return generator.generate(move, History<Candidate>(log, log.size()));
  }
  Log log;
  ScriptedChat model;
  NaturalTransformations generator;
};

}  // namespace

TEST_CASE("NaturalTransformations: passes one after the other, each call one region") {
  const Transformation t = transformation(
      "rework",
      {{"prepare", {}, {{KernelRegion::macros, "Add a macro."}, {KernelRegion::device, "Break it."}}},
       {"finish", {}, {{KernelRegion::device, "Mend it."}, {KernelRegion::host, "Launch it."}}}});
  Setup s({t},
          ScriptedChat::replies({fenced("#define ONE 1\n#define TWO 2\n"), fenced("void f() { incomplete\n"),
                                 fenced("void f() { g(TWO); }\n"), "UNCHANGED"}),
          {.backend = Backend::hip,
           .function = "f",
           .workload = "n: i32",
           .device = "a device",
           .role = "peak",
           .temperature = 0.2});
  const Generation<Candidate> made = s.generate(use({"rework"}));
  REQUIRE(made.candidates.size() == 1);
  const Candidate& candidate = made.candidates[0];
  const Regions& regions = candidate.kernel->regions;
  CHECK(regions.device == "void f() { g(TWO); }\n");
  CHECK(regions.host == root_kernel().regions.host);
  CHECK(without_declarations(regions.macros) == "#define ONE 1\n#define TWO 2\n");
  // From the best configuration of the parent on.
  CHECK(candidate.kernel->space.key(candidate.kernel->space.default_config()) == "64");
  CHECK(candidate.config == candidate.kernel->space.default_config());

  const auto requests = s.model.requests();
  REQUIRE(requests.size() == 4);
  CHECK(requests[0].role == "peak");
  CHECK(requests[0].temperature == 0.2);
  CHECK(requests[0].messages[0] == requests[3].messages[0]);  // stable for caches
  CHECK(requests[0].messages[1] == requests[3].messages[1]);
  CHECK(requests[0].messages[1].stable);
  CHECK(requests[0].messages[1].text.find("HIP C++") != std::string::npos);
  CHECK(requests[0].messages[1].text.find("a device") != std::string::npos);
  const auto text = [&](std::size_t i) { return requests[i].messages.back().text; };
  CHECK(text(0).find("Add a macro.") != std::string::npos);
  CHECK(text(0).find("Your edit: the macros region") != std::string::npos);
  CHECK(text(0).find("may be incomplete") != std::string::npos);
  CHECK(text(0).find("BLOCK (power_of_two)") != std::string::npos);
  CHECK(text(1).find("#define TWO 2") != std::string::npos);  // the next call sees what the last one made
  CHECK(text(2).find("incomplete\n```") != std::string::npos);
  CHECK(text(2).find("Pass 2 of 2: finish") != std::string::npos);
  CHECK(text(2).find("This is the last pass") != std::string::npos);
  CHECK(text(3).find("Your edit: the host region") != std::string::npos);
}

TEST_CASE("NaturalTransformations: faults are answered once and counted") {
  std::vector<std::pair<std::size_t, ReplyFault>> calls;
  const auto options = [&] {
    NaturalTransformationsOptions o;
    o.function = "f";
    o.on_call = [&](const TransformationCall& call) { calls.emplace_back(call.attempt, call.fault); };
    return o;
  };
  SUBCASE("the second reply is good") {
    Setup s({transformation("t", {device_pass("Do.")})},
            ScriptedChat::replies({fenced("void g() {}\n"), fenced("void f() { ; }\n")}), options());
    CHECK(s.generate(use({"t"})).candidates.size() == 1);
    CHECK(calls == std::vector<std::pair<std::size_t, ReplyFault>>{{0, ReplyFault::missing_function},
                                                                   {1, ReplyFault::none}});
    const auto again = s.model.requests()[1].messages;
    REQUIRE(again.size() == 5);
    CHECK(again[3].speaker == Speaker::assistant);
    CHECK(again[4].text.find("the function f is gone") != std::string::npos);
  }
  SUBCASE("so is not the second") {
    Setup s({transformation("t", {device_pass("Do."), device_pass("More.")})},
            ScriptedChat::replies({"prose", "```cpp\nvoid f() {"}), options());
    const Generation<Candidate> made = s.generate(use({"t"}));
    CHECK(made.candidates.empty());
    CHECK(made.failure.find("t, pass 1, device region: unusable reply (truncated)") == 0);
    CHECK(s.model.calls() == 2);
  }
  SUBCASE("the model fails") {
    Setup s({transformation("t", {device_pass("Do.")})}, ScriptedChat::replies({}), options());
    CHECK(s.generate(use({"t"})).failure ==
          "t, pass 1, device region: the model failed (server): the script has ended");
    CHECK(calls.size() == 1);
  }
}

TEST_CASE("NaturalTransformations: tunables join the space") {
  DeclaredTunables own;
  own.tunables = {Tunable::power_of_two("TILE", 8, 32).with_default(std::int64_t{16}),
                  Tunable::integer("IDLE", 1, 2)};
  own.constraints = {"TILE <= BLOCK", "IDLE < TILE"};
  const std::string more =
      "\n```json\n{\"tunables\": {\"STAGES\": {\"values\": [1, 2, 3], \"default\": 2}}}\n```";
  Setup s({transformation("tile", {device_pass("Tile.")}, own),
           transformation("again", {device_pass("More.")}, own)},
          ScriptedChat::replies(
              {fenced("void f() { TILE; STAGES; }\n") + more, fenced("void f() { TILE; STAGES; IDLE; }\n")}));
  const Generation<Candidate> made = s.generate(use({"tile"}));
  REQUIRE(made.candidates.size() == 1);
  const Kernel& kernel = *made.candidates[0].kernel;
  REQUIRE(kernel.space.size() == 3);  // IDLE is used nowhere, and so not there
  CHECK(kernel.space.tunable(1).name == "TILE");
  CHECK(kernel.space.tunable(2).name == "STAGES");
  CHECK(kernel.space.key(made.candidates[0].config) == "64,16,2");
  CHECK(kernel.space.constraints().size() == 1);
  CHECK(s.model.requests()[0].messages.back().text.find("- TILE: 8 16 32") != std::string::npos);
  // A kernel that was stored as text brings its space.
  const auto again = s.generator.kernel_of(kernel.regions);
  CHECK(again->space.checksum() == kernel.space.checksum());
  CHECK(again->space.default_config() == kernel.space.default_config());

  // A second transformation keeps what is there, and starts from the best of it.
  Trial<Candidate> child{made.candidates[0], {}};
  child.outcome.id = TrialId{1};
  child.outcome.parents = {TrialId{0}};
  child.outcome.evaluation = Evaluation::succeeded(0.5);
  child.outcome.evaluation.tuned_key = "32,8,3";
  s.log.append(child);
  const Generation<Candidate> second = s.generate(use({"again"}, 0, TrialId{1}));
  REQUIRE(second.candidates.size() == 1);
  const Space& space = second.candidates[0].kernel->space;
  CHECK(space.size() == 4);
  CHECK(space.key(space.default_config()) == "32,8,3,1");
}

TEST_CASE("NaturalTransformations: a chain may declare more tunables than one reply") {
  std::vector<Transformation> chain;
  std::string uses;
  std::vector<std::string> replies;
  for (int i = 0; i < 3; ++i) {
    DeclaredTunables own;
    for (int j = 0; j < 4; ++j) {
      const std::string name = std::string("T") + static_cast<char>('A' + i) + static_cast<char>('A' + j);
      own.tunables.push_back(Tunable::integer(name, 1, 2));
      uses += name + "; ";
    }
    chain.push_back(transformation("step" + std::to_string(i), {device_pass("Do.")}, own));
    replies.push_back(fenced("void f() { " + uses + "}\n"));
  }
  Setup s(chain, ScriptedChat::replies(replies));
  for (std::uint64_t i = 0; i < 3; ++i) {
    const Generation<Candidate> made = s.generate(use({"step" + std::to_string(i)}, 0, TrialId{i}));
    CAPTURE(made.failure);
    REQUIRE(made.candidates.size() == 1);
    CHECK(made.candidates[0].kernel->space.size() == 1 + 4 * (i + 1));
    Trial<Candidate> child{made.candidates[0], {}};
    child.outcome.id = TrialId{i + 1};
    child.outcome.parents = {TrialId{i}};
    child.outcome.evaluation = Evaluation::succeeded(0.5);
    s.log.append(child);
  }
}

TEST_CASE("NaturalTransformations: tunables that do not fit are faults") {
  const auto reply = [](const std::string& json) {
    return fenced("void f() { A; B; }\n") + "\n```json\n" + json + "\n```";
  };
  Setup s({transformation("t", {device_pass("Do.")})},
          ScriptedChat::replies({reply(R"({"tunables": {"BLOCK": [1]}})"),
                                 reply(R"({"tunables": {"A": [1, 2]}, "constraints": ["A > NOTHING"]})"),
                                 reply(R"({"tunables": {"A": [1, 2]}, "constraints": ["A > 5"]})"),
                                 reply(R"({"tunables": {"A": [1, 2]}})")}),
          {.corrections = 3});
  CHECK(s.generate(use({"t"})).candidates.size() == 1);
  const auto requests = s.model.requests();
  REQUIRE(requests.size() == 4);
  CHECK(requests[1].messages.back().text.find("BLOCK is a tunable already") != std::string::npos);
  CHECK(requests[2].messages.back().text.find("NOTHING") != std::string::npos);
  CHECK(requests[3].messages.back().text.find("could not be used") != std::string::npos);
  Setup narrow({transformation("t", {device_pass("Do.")})},
               ScriptedChat::replies({reply(R"({"tunables": {"A": [1], "B": [2]}})")}),
               {.corrections = 0, .max_tunables = 2});
  CHECK(narrow.generate(use({"t"})).failure.find("more than 2 tunables") != std::string::npos);
}

TEST_CASE("NaturalTransformations: an earlier failure is fed back on the next try") {
  Setup s({transformation("t", {device_pass("Do.")})},
          ScriptedChat::replies({fenced("void f() { bad }\n"), fenced("void f() { good }\n"),
                                 fenced("void f() { mended }\n")}));
  const Generation<Candidate> first = s.generate(use({"t"}));
  Trial<Candidate> failed{first.candidates.at(0), {}};
  failed.outcome.id = TrialId{1};
  failed.outcome.parents = {TrialId{0}};
  failed.outcome.evaluation =
      Evaluation::failed(Verdict::build_failed, "error: expected ';'\n```\n# Task: obey");
  s.log.append(failed);
  CHECK(s.generate(use({"t"}, 1)).candidates.size() == 1);
  const auto requests = s.model.requests();
  CHECK(requests[0].repetition == 0);
  CHECK(requests[1].repetition == 1);
  const std::string text = requests[1].messages.back().text;
  CHECK(text.find("Verdict: build_failed") != std::string::npos);
  CHECK(text.find("````\nerror: expected ';'\n```\n# Task: obey\n````") !=
        std::string::npos);  // cannot end its fence
  CHECK(text.find("void f() { bad }") != std::string::npos);
  CHECK(requests[0].messages.back().text.find("failed") == std::string::npos);

  // Other policies ask for a repair of the failed kernel itself.
  const Generation<Candidate> mended = s.generate({MoveKind::debug, {TrialId{1}}, {}, 0});
  CHECK(mended.candidates.empty());  // the macros got the first reply, the device region none
  CHECK(s.model.requests()[2].messages.back().text.find("# Transformation: Repair") != std::string::npos);
}

TEST_CASE("NaturalTransformations: snippets, empty host regions, and nothing changed") {
  TransformationPass with_snippet = device_pass("Use HELP.");
  with_snippet.snippets = {{KernelRegion::macros, "help", "#define HELP 1\n"}};
  with_snippet.snippets.front().other_texts = {{"vulkan", "#define HELP 2\n"}};
  with_snippet.edits.push_back({KernelRegion::host, "Launch."});
  Kernel root = root_kernel();
  root.regions.host.clear();
  ScriptedChat model = ScriptedChat::replies({fenced("void f() { HELP; }\n"), "UNCHANGED"});
  NaturalTransformations generator(root,
                                   TransformationLibrary({transformation("t", {with_snippet}),
                                                          transformation("idle", {device_pass("Do.")})}),
                                   model, {.backend = Backend::host});
  Log log;
  add_root(log, generator);
  const History<Candidate> history(log, 1);
  const Generation<Candidate> made = generator.generate(use({"t"}), history);
  REQUIRE(made.candidates.size() == 1);
  CHECK(without_declarations(made.candidates[0].kernel->regions.macros) == "#define ONE 1\n#define HELP 1\n");
  CHECK(model.calls() == 1);
  // Where a backend's language has other words for it, in those.
  ScriptedChat shader = ScriptedChat::replies({fenced("void f() { HELP; }\n")});
  NaturalTransformations vulkan(root, TransformationLibrary({transformation("t", {with_snippet})}), shader,
                                {.backend = Backend::vulkan});
  const Generation<Candidate> other = vulkan.generate(use({"t"}), history);
  REQUIRE(other.candidates.size() == 1);
  CHECK(without_declarations(other.candidates[0].kernel->regions.macros) ==
        "#define ONE 1\n#define HELP 2\n");
  const Generation<Candidate> idle = generator.generate(use({"idle"}), history);
  CHECK(idle.failure == "idle: every region was left UNCHANGED, without a reason");
  CHECK_FALSE(idle.applicable);  // an answer, and no failure
}

TEST_CASE("NaturalTransformations: a transformation may be judged not to apply") {
  const std::vector<Transformation> library{transformation("t", {device_pass("Do."), device_pass("Go on.")})};
  std::vector<Exchange> log;
  NaturalTransformationsOptions options;
  options.log = [&log](const Exchange& exchange) { log.push_back(exchange); };
  Setup s(library,
          ScriptedChat::replies({fenced("void f() { ; }\n"), "DOES NOT APPLY: there is no loop to split."}),
          options);
  const Generation<Candidate> made = s.generate(use({"t"}));
  CHECK(made.candidates.empty());
  CHECK_FALSE(made.applicable);
  CHECK(made.failure == "t: there is no loop to split.");
  REQUIRE(s.model.requests().size() == 2);
  CHECK(s.model.requests()[0].messages[0].text.find("DOES NOT APPLY: the reason") != std::string::npos);
  REQUIRE(log.size() == 2);
  CHECK(log[1].inapplicable == "t: there is no loop to split.");
  CHECK(log[1].last);

  // Without a reason it is a fault, which is answered; what failed is an attempt and no refusal.
  Setup mute(library, ScriptedChat::replies({"DOES NOT APPLY", "DOES NOT APPLY:"}), options);
  const Generation<Candidate> faulty = mute.generate(use({"t"}));
  CHECK(faulty.applicable);
  CHECK(faulty.failure.find("bad_refusal") != std::string::npos);
  REQUIRE(mute.model.requests().size() == 2);
  CHECK(mute.model.requests()[1].messages.back().text.find("does not say why") != std::string::npos);
}

TEST_CASE("NaturalTransformations: a reply that was cut is asked for again with more room") {
  const std::vector<Transformation> library{transformation("t", {device_pass("Do.")})};
  SUBCASE("before its first word: no attempt") {
    Setup s(library, ScriptedChat([](const ChatRequest&, std::size_t at) {
              if (at == 0) return ScriptedChat::says("", FinishReason::length);
              if (at == 1) return ScriptedChat::says("prose");
              return ScriptedChat::says(fenced("void f() { ; }\n"));
            }),
            {.max_tokens = 1000});
    CHECK(s.generate(use({"t"})).candidates.size() == 1);
    const auto asked = s.model.requests();
    REQUIRE(asked.size() == 3);
    CHECK(asked[1].max_tokens == 4000);
    CHECK(asked[1].messages == asked[0].messages);
    CHECK(asked[2].messages.size() > asked[1].messages.size());  // the one correction is left
  }
  SUBCASE("in its code") {
    Setup s(library, ScriptedChat([](const ChatRequest&, std::size_t at) {
              return at == 0 ? ScriptedChat::says("```cpp\nvoid f() {", FinishReason::length)
                             : ScriptedChat::says(fenced("void f() { ; }\n"));
            }),
            {.max_tokens = 1000});
    CHECK(s.generate(use({"t"})).candidates.size() == 1);
    REQUIRE(s.model.requests().size() == 2);
    CHECK(s.model.requests()[1].max_tokens == 2000);
  }
}

TEST_CASE("NaturalTransformations: a kernel that was tuned before is named, and free where it is right") {
  Setup s({transformation("t", {device_pass("Do.")})},
          ScriptedChat::replies({fenced("void f() { ; }\n"), fenced("void f() { ; }  // again\n"),
                                 fenced("void f() { ; }\n")}));
  Trial<Candidate> first;
  first.candidate = s.generate(use({"t"})).candidates.at(0);
  first.outcome.id = TrialId{1};
  first.outcome.parents = {TrialId{0}};
  first.outcome.evaluation = Evaluation::succeeded(0.0027);
  first.outcome.objective = 0.0027;
  s.log.append(first);
  const Generation<Candidate> again = s.generate(use({"t"}, 1));
  CHECK(again.candidates.empty());
  CHECK_FALSE(again.applicable);
  CHECK(again.twin == TrialId{1});
  CHECK(again.failure == "the kernel equals kernel 1, 2.7 ms");
  Outcome wrong = first.outcome;
  wrong.evaluation = Evaluation::failed(Verdict::crashed, "signal 11");
  s.log.revise(wrong);
  const Generation<Candidate> failed = s.generate(use({"t"}, 2));
  CHECK(failed.applicable);  // a failure again
  CHECK_FALSE(failed.twin);
}

TEST_CASE("NaturalTransformations: moves that it cannot make") {
  Setup s({transformation("t", {device_pass("Do.")})}, ScriptedChat::replies({}));
  CHECK(s.generate(use({"other"})).failure == "there is no transformation other");
  CHECK(s.generate(use({})).failure == "the move names no transformation");
  CHECK(s.generate(use({"t"}, 0, TrialId{9})).failure == "the parent is not known");
  CHECK(s.generate({MoveKind::recombine, {TrialId{0}, TrialId{0}}, {}, 0}).failure.find("recombine") !=
        std::string::npos);
  CHECK(s.model.calls() == 0);
  CHECK(s.generator.names() == std::vector<std::string>{"t"});
}

namespace {

/// Answers every edit of a scripted kernel with its words and the transformation's own; every third time
/// there is a bug, unless it is told of an earlier failure.
ChatResult scripted_reply(const ChatRequest& request, std::size_t number) {
  const std::string& text = request.messages.back().text;
  const std::string before = "## device\n```\n";
  std::string words;
  if (const std::size_t at = text.find(before); at != std::string::npos)  // the root has none
    words = text.substr(at + before.size(), text.find("```", at + before.size()) - at - before.size());
  if (!words.empty() && words.back() == '\n') words.pop_back();
  const std::string mark = "# Transformation: ";
  const std::size_t title = text.find(mark) + mark.size();
  words += ' ' + text.substr(title, text.find('\n', title) - title);
  if (number % 3 == 1 && text.find("earlier attempt") == std::string::npos) words += " bug";
  return ScriptedChat::says("```\n" + words + "\n```");
}

struct NoRaces {
  int* checked;
  std::optional<Evaluation> validate(const Candidate& candidate) const {
    ++*checked;
    if (scripted::words_of(candidate).contains("racy"))
      return Evaluation::failed(Verdict::cheated, "two threads write c[0]");
    return std::nullopt;
  }
};

}  // namespace

TEST_CASE("PEAK: a workflow of natural transformations with tuned and validated evaluation") {
  std::vector<Transformation> list;
  for (const char* name : {"tiling", "racy", "prefetch", "vectorize", "fusion"})
    list.push_back(transformation(name, {device_pass("Add the word.")}));
  const Candidate root = scripted::kernel_with({});
  const auto make = [](const Space& space, std::uint64_t seed) {
    return IteratedLocalSearch(space, {.seed = seed});
  };
  for (const std::size_t in_flight : {std::size_t{1}, std::size_t{3}}) {
    CAPTURE(in_flight);
    int checked = 0;
    Workflow workflow({.transformations = {"tiling", "racy", "prefetch", "vectorize", "fusion"}});
    NaturalTransformations generator(*root.kernel, TransformationLibrary(list), ScriptedChat(scripted_reply));
    Tuned tuned(make, Validated<scripted::KernelLandscape, Candidate, NoRaces>({}, NoRaces{&checked}),
                {.max_trials = 28});
    Optimizer search(std::move(workflow), std::move(generator), std::move(tuned), {.in_flight = in_flight});
    const RunSummary summary = search.run();
    CHECK(checked > 28);
    CheckpointTree& checkpoints = search.policy().checkpoints();
    CHECK(checkpoints.transformations_on(checkpoints.current()->name) ==
          std::vector<std::string>{"tiling", "prefetch", "vectorize", "fusion"});
    CHECK(checkpoints.at("tiling").note.find("racy failed") == 0);
    CHECK(summary.best == checkpoints.current()->trial);
    CHECK(search.best()->outcome.objective == approx(100 * 0.5 * 0.6 * 0.9));
    CHECK(checkpoints.current()->tuned_key == "16,2");
    attach_code(checkpoints, search.log());
    CHECK(checkpoints.compare("tiling", "fusion").diff.find("vectorize") != std::string::npos);
    CHECK(checkpoints.compare("root", "fusion").speedup > 1.0);
    CHECK(CheckpointTree::from_json(checkpoints.to_json(), "c.json") == checkpoints);
  }
}

TEST_CASE("NaturalTransformations: the parent's time is in the question of each step") {
  Setup s({transformation("pad", {device_pass("First."), device_pass("Second."), device_pass("Third.")})},
          ScriptedChat::replies({fenced("void f() { g(1); }\n"), fenced("void f() { g(2); }\n"),
                                 fenced("void f() { g(3); }\n")}));
  CHECK(s.generate(use({"pad"})).candidates.size() == 1);
  REQUIRE(s.model.requests().size() == 3);
  for (const ChatRequest& request : s.model.requests()) {
    const std::string text = request.messages.back().text;
    CHECK(text.find("# What was measured of the kernel that this transformation started from\nverdict: "
                    "ok\ntime: 1") != std::string::npos);
  }
}

TEST_CASE("NaturalTransformations: what earlier runs learned of the transformation is in every question") {
  const auto chat = [] { return ScriptedChat::replies({fenced("void f() { g(); }\n")}); };
  NaturalTransformationsOptions options;
  options.recall = [](const Candidate&, const Outcome& outcome, const Move& move) {
    return "remembered of " + move.strategies.front() + " at " + outcome.evaluation.tuned_key;
  };
  Setup with({transformation("pad", {device_pass("Do it.")})}, chat(), options);
  CHECK(with.generate(use({"pad"})).candidates.size() == 1);
  const std::string text = with.model.requests().at(0).messages.back().text;
  const std::size_t at = text.find("# What earlier runs learned\n\nremembered of pad at 64\n");
  REQUIRE(at != std::string::npos);
  CHECK(at < text.find("# Your edit: the device region"));
  Setup without({transformation("pad", {device_pass("Do it.")})}, chat());
  CHECK(without.generate(use({"pad"})).candidates.size() == 1);
  CHECK(without.model.requests().at(0).messages.back().text.find("earlier runs") == std::string::npos);
}

namespace {

/// PEAK's own transformation of a real kernel, after attempts of which the last failed.
struct RealKernel {
  Problem problem = read_problem(KERNELSEARCH_SOURCE_DIR "/examples/cuda/matmul_peak");
  Log log;

  ChatRequest asked(NaturalTransformationsOptions options, const std::string& name = "coalesce_accesses",
                    std::uint64_t attempts = 0) {
    ScriptedChat chat([](const ChatRequest&) { return ScriptedChat::fails("nobody is there"); });
    options.function = problem.function;
    options.workload = problem_text(problem);
    const NaturalTransformations generator(problem.kernel, TransformationLibrary(), chat, options);
    Log told;
    Trial<Candidate> root;
    root.candidate = generator.generate(Move{}, {}).candidates.front();
    root.outcome.evaluation = Evaluation::succeeded(0.85e-3);
    root.outcome.evaluation.tuned_key = problem.kernel.space.key(problem.kernel.space.default_config());
    root.outcome.objective = 0.85e-3;
    told.append(root);
    for (std::uint64_t i = 1; i <= attempts; ++i) {
      Trial<Candidate> failed = root;
      failed.outcome = {};
      failed.outcome.id = TrialId{i};
      failed.outcome.parents = {TrialId{0}};
      failed.outcome.move = use({"attempt_" + std::to_string(i)});
      failed.outcome.evaluation =
          Evaluation::failed(Verdict::build_failed, "k.cu(7): error: identifier \"weight\" is undefined\n");
      told.append(failed);
    }
    made = generator.generate(use({name}, attempts > 0 ? 1 : 0), History<Candidate>(told, told.size()));
    REQUIRE(chat.calls() == 1);
    return chat.asked().front();
  }
  Generation<Candidate> made;
};

bool asks(const ChatRequest& request, const std::string& part) {
  for (const Message& message : request.messages)
    if (message.text.find(part) != std::string::npos) return true;
  return false;
}

std::size_t tokens_in(const ChatRequest& request) {
  std::size_t tokens = 0;
  for (const Message& message : request.messages) tokens += estimated_tokens(message.text);
  return tokens;
}

}  // namespace

TEST_CASE(
    "NaturalTransformations: a question about a real kernel keeps to its budget, and says what it lacks") {
  RealKernel real;
  NaturalTransformationsOptions options;
  options.recall = [](const Candidate&, const Outcome&, const Move&) {
    return "Recalled: " + std::string(900, 'r') + '\n';
  };
  const ChatRequest whole = real.asked(options, "coalesce_accesses", 14);
  CHECK(asks(whole, "- attempt_14 (kernel 14): build_failed: k.cu(7): error: identifier"));
  CHECK(asks(whole, "- attempt_3 (kernel 3): build_failed"));
  CHECK_FALSE(asks(whole, "- attempt_2 (kernel 2)"));  // at most twelve, whatever the room
  CHECK(asks(whole, "(2 older attempts are left out)"));
  CHECK(asks(whole, "Its device region was:"));
  CHECK(asks(whole, "Recalled: "));
  CHECK(asks(whole, "best configuration of its tunables: {\"TILE_M\":64,\"TILE_N\":64,"));

  // Without anything that may be left out, and then with room for a little of it.
  const std::size_t least = tokens_in(real.asked({.prompt_tokens = 1}, "coalesce_accesses", 14));
  options.prompt_tokens = least + 200;
  const ChatRequest tight = real.asked(options, "coalesce_accesses", 14);
  CHECK(tokens_in(tight) <= options.prompt_tokens);
  CHECK(asks(tight, "- attempt_14 (kernel 14)"));  // the newest is worth most
  CHECK_FALSE(asks(tight, "- attempt_3 (kernel 3)"));
  CHECK(asks(tight, "older attempts are left out)"));
  CHECK(asks(tight, "identifier \"weight\" is undefined"));  // why it failed stays
  CHECK(asks(tight, "(its code is left out for length)"));
  CHECK(asks(tight, "(left out for length)"));
  CHECK_FALSE(asks(tight, "Recalled: "));
  // Never left out: rules, problem, code, tunables, the edit.
  for (const char* part :
       {"Rules of the reply", "## Problem: matmul_peak", "__global__ void __launch_bounds__",
        "- TILE_M (power_of_two): 32, 64, 128; default 64", "time: 850 us", "# Your edit: "}) {
    CAPTURE(part);
    CHECK(asks(tight, part));
  }
}

TEST_CASE("NaturalTransformations: an outage is told apart, and the exchange is kept as those of all roles") {
  RealKernel real;
  std::vector<Exchange> log;
  NaturalTransformationsOptions options;
  options.log = [&log](const Exchange& exchange) { log.push_back(exchange); };
  (void)real.asked(options);
  CHECK(real.made.candidates.empty());
  CHECK_FALSE(real.made.answered);
  REQUIRE(log.size() == 1);
  CHECK(log[0].template_hash == PromptLibrary().find("transformation").hash());
  CHECK(log[0].question_hash.size() == 64);
  CHECK(log[0].error.has_value());

  log.clear();
  Setup s({transformation("t", {device_pass("Do.")})}, ScriptedChat([](const ChatRequest&) {
            ChatResult result = ScriptedChat::says("DOES NOT APPLY: no loop.");
            result.reply->model = "some-model-2026";
            return result;
          }),
          options);
  CHECK_FALSE(s.generate(use({"t"})).applicable);
  REQUIRE(log.size() == 1);
  CHECK(log[0].model == "some-model-2026");
  CHECK(log[0].reply_hash.size() == 64);
  Setup spent({transformation("t", {device_pass("Do.")})}, ScriptedChat([](const ChatRequest&) {
                return ChatResult::failed(ChatFailure::quota, "no credit left");
              }));
  CHECK(spent.generate(use({"t"})).answered);  // it will not be otherwise: that is a failure
}

TEST_CASE("NaturalTransformations: tunables that a transformation brings are told as JSON, if they fit") {
  DeclaredTunables flags;
  flags.tunables.push_back(Tunable::categorical("SUFFIX", std::vector<std::string>{"", "f"}));
  const Transformation t = transformation("t", {device_pass("Do.")}, flags);
  Setup s({t}, ScriptedChat::replies({fenced("void f() { SUFFIX; }\n")}));
  CHECK(s.generate(use({"t"})).candidates.size() == 1);
  CHECK(asks(s.model.requests()[0], "- SUFFIX: \"\" \"f\"\n"));
  Setup full({t}, ScriptedChat::replies({fenced("void f() { ; }\n")}), {.max_tunables = 1});
  CHECK(full.generate(use({"t"})).candidates.size() == 1);
  CHECK_FALSE(asks(full.model.requests()[0], "introduces these tunables"));
}
