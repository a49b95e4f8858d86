// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/skill_texts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/agents/observed_text.hpp"
#include "support/recorded_features.hpp"

using namespace kernelsearch;

namespace {

std::vector<Method> registry() {
  Method tile;
  tile.id = "memory.tile";
  tile.name = "tile";
  tile.axis = Axis::memory;
  tile.priority = 2;
  tile.description = "Block the loops.";
  tile.trigger = Expression::parse("l2_hit < 30 and dram_utilisation > 5");
  tile.signature.any.push_back({"code.loop.call", true});
  Method fuse = tile;
  fuse.id = "memory.fuse";
  fuse.priority = 1;
  fuse.trigger.reset();
  fuse.signature = {};
  return {tile, fuse};
}

SkillIteration iteration() {
  SkillIteration one;
  one.number = 2;
  one.start = TrialId{7};
  one.gaps[Axis::memory] = 0.5;
  one.bound = Bound::bandwidth;
  one.budget[Axis::memory] = 2;
  one.choice.taken = {0};
  one.choice.decisions = {{1, MethodReason::no_trigger, "bytes 3 is not over 9", {}},
                          {0, MethodReason::taken, "l2_hit 12 is below 30", 0.75}};
  one.first_variant = 4;
  return one;
}

}  // namespace

TEST_CASE("skill texts: a move in words") {
  const Move branch{MoveKind::branch, {TrialId{7}}, {"memory.tile", "memory.fuse"}, 5};
  const std::string words = move_words(branch, 4, 4);
  CHECK(words.find("branch 2 of 4: apply memory.tile, memory.fuse together to trial 7") == 0);
  CHECK(move_words(branch, 1, 4).find("branch 2: apply") ==
        0);  // one more, in the place of one that was lost
  const Move ablate{MoveKind::ablate, {TrialId{8}}, {"memory.tile"}, 0};
  CHECK(move_words(ablate).find("ablation: trial 8 without memory.tile, all else exactly equal") == 0);
  CHECK(move_words({MoveKind::debug, {TrialId{3}}, {}, 0}).find("mend trial 3") == 0);
  CHECK(move_words(Move{}).find("own kernel") != std::string::npos);
}

TEST_CASE("skill texts: the analysis has gaps, profile, decisions, and what failed before") {
  Features profile;
  profile.set("l2_hit", 12);
  profile.set("ncu.raw_metric", 1);
  SkillIteration before;
  before.number = 1;
  before.verdicts.push_back(
      {0, MethodFate::implementation_failed, Evidence::absent, {}, {}, {}, {}, false, "no trace of it"});
  const std::vector<SkillIteration> earlier{before};
  const std::string text = analysis_text(iteration(), registry(), profile, earlier);
  for (const char* part : {"# Iteration 2", "trial 7", "| compute | unknown | 0 |", "| memory | 0.50 | 2 |",
                           "Bound by: bandwidth", "- cache hits: L2 12 %\n", "fewer calls in the hot loop",
                           "`memory.fuse` (P1): no_trigger: bytes 3 is not over 9", "(strength 0.75)",
                           "`memory.tile` failed in iteration 1: no trace of it"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(text.find("ncu.raw_metric") == std::string::npos);
  SkillIteration blind = iteration();
  blind.degraded = true;
  CHECK(roofline_words(blind).find("degraded") != std::string::npos);
}

TEST_CASE("skill texts: methods.json has what was skipped and the values that decided") {
  Features profile;
  profile.set("l2_hit", 12);
  const auto json = nlohmann::json::parse(methods_json(iteration(), registry(), profile));
  CHECK(json["iter"] == 2);
  REQUIRE(json["methods"].size() == 1);
  const auto& one = json["methods"][0];
  CHECK(one["id"] == "memory.tile");
  CHECK(one["axis"] == "memory");
  CHECK(one["trigger_strength"] == 0.75);
  CHECK(one["skipped_higher"][0]["id"] == "memory.fuse");
  CHECK(one["skipped_higher"][0]["reason"] == "no_trigger");
  REQUIRE(one["evidence"].size() == 1);  // of the other metric nothing is known
  CHECK(one["evidence"][0]["value"] == 12);
}

TEST_CASE("skill texts: names of folders") {
  SkillIteration now = iteration();
  CHECK(branch_name(now, {MoveKind::branch, {TrialId{7}}, {"memory.tile"}, 4}) == "b1");
  const Move first{MoveKind::debug, {TrialId{9}}, {}, 0}, second{MoveKind::debug, {TrialId{9}}, {}, 1};
  CHECK(branch_name(now, first) == "r1");
  now.branches.push_back({TrialId{12}, first});
  CHECK(branch_name(now, first) == "r1");
  CHECK(branch_name(now, second) == "r2");
  CHECK(ablation_name({MoveKind::ablate, {TrialId{9}}, {"memory.tile", "memory.fuse"}, 0}) ==
        "memory.tile+memory.fuse");
}

TEST_CASE("skill texts: an H200's recorded counters and the published methods name no counter of a tool") {
  const Features profile = scripted::h200_profile();
  for (const char* backend : {"cuda", "host"}) {
    CAPTURE(backend);
    const std::vector<Method> methods = read_methods(backend);
    SkillIteration one = iteration();
    one.choice = choose_methods(methods, profile, {90, {}}, {{2, 2, 2}});
    for (std::size_t i = 0; i < methods.size(); ++i)
      if (std::find(one.choice.taken.begin(), one.choice.taken.end(), i) == one.choice.taken.end())
        one.choice.taken.push_back(i);  // the words of all of them
    const std::string words = methods_words(one, methods);
    for (const char* raw : {"ncu.", "sass.", "code.loop"}) {
      CAPTURE(raw);
      CHECK(words.find(raw) == std::string::npos);
    }
    CHECK(words.find("its trace in the machine code: more ") != std::string::npos);
  }
  const std::vector<Method> methods = read_methods("cuda");
  SkillIteration now = iteration();
  now.choice = choose_methods(methods, profile, {90, {}}, {{1, 1, 1}});
  const std::string text = analysis_text(now, methods, profile, {});
  const std::string seen =
      text.substr(text.find("## Profile"), text.find("## Methods chosen") - text.find("## Profile"));
  CAPTURE(seen);
  CHECK(seen.find("- use of the device, of its peaks: multiprocessors 38.1 %") != std::string::npos);
  CHECK(seen.find("- hot loop (guessed from the code): 10 instructions") != std::string::npos);
  CHECK(seen.find("It reaches 3.77 % of what the roofline allows") != std::string::npos);
  for (const char* raw : {"ncu.", "sass.", "watts", "temperature", "_utilisation", "__"}) {
    CAPTURE(raw);
    CHECK(seen.find(raw) == std::string::npos);
  }
  CHECK(std::count(seen.begin(), seen.end(), '\n') < 20);
}

TEST_CASE("skill texts: what a trace is looked for in, in words") {
  CHECK(feature_words("sass.loop.tensor_core") == "instructions on the matrix units in the hot loop");
  CHECK(feature_words("sass.barrier") == "barriers of the block");
  CHECK(feature_words("code.loop.vector_256") == "instructions on vectors of 256 bits in the hot loop");
  CHECK(feature_words("ncu.launches") == "kernels launched a call");
  CHECK(feature_words("sass.loop.some_new_kind") == "some new kind in the hot loop");
  CHECK(feature_words("mine") == "mine");
}
