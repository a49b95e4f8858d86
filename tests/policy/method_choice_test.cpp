// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/method_choice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/impl/known_truth.hpp"

using namespace kernelsearch;

namespace {

Method listed_method(std::string name, std::size_t priority, const char* trigger = nullptr,
                     const char* skip = nullptr, const char* strength = nullptr, Axis axis = Axis::compute) {
  Method one;
  one.id = std::string(to_string(axis)) + "." + name;
  one.name = std::move(name);
  one.axis = axis;
  one.priority = priority;
  if (trigger != nullptr) one.trigger = Expression::parse(trigger);
  if (skip != nullptr) one.skip = Expression::parse(skip);
  one.skip_words = "nothing is left to do";
  if (strength != nullptr) one.strength = Expression::parse(strength);
  return one;
}

Features profile() {
  Features features;
  features.set("stall_long_scoreboard", 12);
  features.set("ipc", 0.5);
  features.set("trait.matmul", 1);
  features.set("trait.attention", 0);
  return features;
}

MethodChoice choose(const std::vector<Method>& methods, AxisBudget budget = {{1, 0, 0}},
                    const std::vector<MethodRecord>& record = {}, MethodDevice device = {90, {}},
                    MethodLimits limits = {}) {
  return choose_methods(methods, profile(), device, budget, record, limits);
}

const MethodDecision& decision(const MethodChoice& choice, std::size_t method) {
  return *std::find_if(choice.decisions.begin(), choice.decisions.end(),
                       [&](const MethodDecision& one) { return one.method == method; });
}

bool lists(const std::vector<std::string>& list, std::string_view one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

std::optional<bool> truth(const char* text) {
  const Features features = profile();
  const Expression expression = Expression::parse(text);
  return detail::KnownTruth(expression, features).value();
}

std::string words(const char* text) {
  const Features features = profile();
  const Expression expression = Expression::parse(text);
  return detail::KnownTruth(expression, features).words();
}

}  // namespace

TEST_CASE("a condition is decided by what is known, where that suffices") {
  CHECK(truth("stall_long_scoreboard > 10") == true);
  CHECK(truth("stall_long_scoreboard > 40") == false);
  CHECK(truth("nothing > 40") == std::nullopt);
  CHECK(truth("nothing > 40 and stall_long_scoreboard > 40") == false);
  CHECK(truth("nothing > 40 and stall_long_scoreboard > 10") == std::nullopt);
  CHECK(truth("nothing > 40 or stall_long_scoreboard > 10") == true);
  CHECK(truth("nothing > 40 or stall_long_scoreboard > 40") == std::nullopt);
  CHECK(truth("not nothing") == std::nullopt);
  CHECK(truth("not (nothing > 1 and ipc > 1)") == true);
  CHECK(truth("ipc > nothing > 3") == std::nullopt);
  CHECK(truth("1 > ipc > 0.4") == true);
  CHECK(truth("0 > ipc > nothing") == false);  // a chain is a conjunction
  CHECK(truth("ipc > 1 if nothing else ipc > 2") == false);
  CHECK(truth("ipc > 1 if nothing else ipc > 0") == std::nullopt);
  CHECK(truth("nothing > 1 if trait.attention else ipc < 1") == true);
  CHECK(truth("1 / trait.attention > 2") == std::nullopt);  // it has no value
  CHECK(truth("max(ipc, nothing) > 0") == std::nullopt);
  Features infinite;
  infinite.set("x", std::numeric_limits<double>::infinity());
  const Expression x = Expression::parse("x > 1");
  CHECK(!detail::KnownTruth(x, infinite).value());
}

TEST_CASE("what decided is told in words, with the values") {
  CHECK(words("stall_long_scoreboard > 40") == "stall_long_scoreboard 12 % is not over 40");
  CHECK(words("ipc < 1 and trait.matmul") == "ipc 0.5 is under 1, the problem is of trait matmul");
  CHECK(words("ipc < 1 and trait.attention and nothing") == "the problem is not of trait attention");
  CHECK(words("nothing > 1 or ipc < 1") == "ipc 0.5 is under 1");
  CHECK(words("not ipc < 1") == "ipc 0.5 is under 1");
  CHECK(words("ipc < 1 and nothing > 1") == "nothing is not known");
  CHECK(words("max(ipc, 2 * ipc) > 3") == "the largest of ipc 0.5 and (2 * ipc 0.5) is not over 3");
  CHECK(words("1 / trait.attention > 2") == "`1 / trait.attention > 2` has no value");
}

TEST_CASE("each check has its reason, in order, and says what decided") {
  std::vector<Method> methods{listed_method("applied", 1),
                              listed_method("useless", 2),
                              listed_method("broken", 3),
                              listed_method("newer", 4),
                              listed_method("lacking", 5),
                              listed_method("skipped", 6, nullptr, "ipc < 1"),
                              listed_method("unasked", 7, "stall_long_scoreboard > 40"),
                              listed_method("excluded", 8),
                              listed_method("first", 9, "ipc < 1"),
                              listed_method("second", 10)};
  methods[3].architecture = 100;
  methods[3].skip = Expression::parse("ipc < 1");  // the architecture comes first
  methods[4].needs = {"tma", "tcgen05"};
  methods[5].trigger = Expression::parse("ipc > 1");  // the skip condition comes first
  methods[7].excludes = {"compute.applied"};
  methods[8].trigger_words = "warps issue little";
  const std::vector<MethodRecord> record{
      {MethodFate::effective, 1}, {MethodFate::ineffective, 1}, {MethodFate::implementation_failed, 2}};
  const MethodChoice choice = choose(methods, {{1, 0, 0}}, record);
  CHECK(choice.taken == std::vector<std::size_t>{8});
  REQUIRE(choice.decisions.size() == methods.size());
  const auto expect = [&](std::size_t m, MethodReason reason, const char* text) {
    CHECK(to_string(choice.decisions[m].reason) == to_string(reason));
    CHECK_MESSAGE(choice.decisions[m].words.find(text) != std::string::npos, choice.decisions[m].words);
    const bool passed = reason == MethodReason::taken || reason == MethodReason::over_budget;
    CHECK(choice.decisions[m].strength.has_value() == passed);
  };
  expect(0, MethodReason::already_applied, "applied already");
  expect(1, MethodReason::ineffective, "of no use");
  expect(2, MethodReason::failed_too_often, "2 times");
  expect(3, MethodReason::architecture, "needs sm_100, the device is sm_90");
  expect(4, MethodReason::architecture, "lacks tcgen05");
  expect(5, MethodReason::skip_condition, "nothing is left to do: ipc 0.5 is under 1");
  expect(6, MethodReason::no_trigger, "stall_long_scoreboard 12 % is not over 40");
  expect(7, MethodReason::coupled, "compute.applied is applied");
  expect(8, MethodReason::taken, "warps issue little: ipc 0.5 is under 1");
  expect(9, MethodReason::over_budget, "in addition to compute.first");
}

TEST_CASE("a single slot goes to the first by priority, two to the strongest, of equals to the first") {
  const std::vector<Method> methods{
      listed_method("weak", 3, nullptr, nullptr, "0.2"), listed_method("a", 2, nullptr, nullptr, "0.7"),
      listed_method("b", 1, nullptr, nullptr, "ipc"), listed_method("c", 4, nullptr, nullptr, "0.7"),
      listed_method("beyond", 5, nullptr, nullptr, "-3")};
  CHECK(choose(methods).taken == std::vector<std::size_t>{2});
  CHECK(choose(methods, {{2, 0, 0}}).taken == std::vector<std::size_t>{1, 3});
  CHECK(choose(methods, {{3, 0, 0}}).taken == std::vector<std::size_t>{1, 3, 2});
  const MethodChoice all = choose(methods, {{9, 0, 0}});
  CHECK(all.taken == std::vector<std::size_t>{1, 3, 2, 0, 4});
  CHECK(decision(all, 4).strength == 0.0);
  CHECK(decision(all, 2).strength == 0.5);
}

TEST_CASE("methods whose trigger is unknown come after those whose trigger holds") {
  const std::vector<Method> methods{listed_method("unknown", 1, "nothing > 1", nullptr, "1"),
                                    listed_method("known", 2, "ipc < 1", nullptr, "0.1"),
                                    listed_method("unknown_skip", 3, "ipc < 1", "nothing > 3", "0.2")};
  const MethodChoice one = choose(methods);
  CHECK(one.taken == std::vector<std::size_t>{1});
  const MethodChoice two = choose(methods, {{2, 0, 0}});
  CHECK(two.taken == std::vector<std::size_t>{2, 1});
  const MethodChoice three = choose(methods, {{3, 0, 0}});
  CHECK(three.taken == std::vector<std::size_t>{2, 1, 0});
  CHECK(decision(three, 0).words == "whether it is asked for cannot be told: nothing is not known");
  const std::vector<Method> without{listed_method("last_resort", 9, nullptr, nullptr, "1"), methods[0],
                                    methods[1]};
  CHECK(choose(without, {{3, 0, 0}}).taken == std::vector<std::size_t>{2, 1, 0});  // of equals by priority
  CHECK(choose(without).taken == std::vector<std::size_t>{2});
  const std::vector<Method> alone{methods[0]};
  CHECK(choose(alone).taken.size() == 1);
}

TEST_CASE("a failed implementation may be tried again, so many times and with a note") {
  const std::vector<Method> methods{listed_method("broken", 1)};
  for (std::size_t attempts = 1; attempts < 5; ++attempts) {
    const MethodChoice choice = choose(methods, {{1, 0, 0}}, {{MethodFate::implementation_failed, attempts}},
                                       {90, {}}, {.attempts = 3});
    CHECK(choice.taken.size() == (attempts < 3 ? 1 : 0));
    if (attempts == 1)
      CHECK(choice.decisions[0].words.find("failed before, this is attempt 2 of 3") != std::string::npos);
  }
}

TEST_CASE("methods that could not be told apart may be tried again, but not together") {
  std::vector<Method> methods{listed_method("shuffle", 1), listed_method("sum", 2),
                              listed_method("other", 3)};
  for (Method& method : methods) method.signature.any.push_back({"code.shuffle", false});
  const std::vector<MethodRecord> record{{MethodFate::coupled, 1}, {MethodFate::coupled, 1}};
  const MethodChoice choice = choose(methods, {{3, 0, 0}}, record);
  CHECK(choice.taken == std::vector<std::size_t>{0});
  CHECK(decision(choice, 1).reason == MethodReason::coupled);
  CHECK(decision(choice, 1).words.find("could not be told apart before") != std::string::npos);
  CHECK(decision(choice, 0).words.find("it could not be told apart before, this is attempt 2 of 2") !=
        std::string::npos);
  CHECK(choose(methods, {{3, 0, 0}}).taken.size() == 3);  // ablation may tell them
  methods[1].signature.any[0].less = true;
  CHECK(choose(methods, {{3, 0, 0}}, record).taken.size() == 2);
  const std::vector<MethodRecord> spent{{MethodFate::coupled, 2}};
  CHECK(decision(choose(methods, {{1, 0, 0}}, spent), 0).reason == MethodReason::failed_too_often);
}

TEST_CASE("coupled and exclusive methods never share an iteration, on whatever axes they are") {
  std::vector<Method> methods{listed_method("copy", 1), listed_method("tile", 2),
                              listed_method("pipeline", 1, nullptr, nullptr, nullptr, Axis::latency),
                              listed_method("sync", 2, nullptr, nullptr, nullptr, Axis::latency)};
  methods[0].coupled = {"latency.pipeline"};
  MethodChoice choice = choose(methods, {{1, 0, 1}});
  CHECK(choice.taken == std::vector<std::size_t>{0, 3});
  CHECK(decision(choice, 2).reason == MethodReason::coupled);
  CHECK(decision(choice, 2).words == "compute.copy is taken, which is one method with it");
  // In an earlier iteration the other half may come: only exclusion reaches that far.
  const std::vector<MethodRecord> record{{MethodFate::effective, 1}};
  CHECK(choose(methods, {{0, 0, 1}}, record).taken == std::vector<std::size_t>{2});
  methods[0].coupled.clear();
  methods[0].excludes = {"latency.pipeline"};
  CHECK(choose(methods, {{0, 0, 1}}, record).taken == std::vector<std::size_t>{3});
  choice = choose(methods, {{1, 0, 2}});
  CHECK(choice.taken == std::vector<std::size_t>{0, 3});
  CHECK(decision(choice, 2).words == "compute.copy is taken, which excludes it");
}

TEST_CASE("a device has what its architecture has and what is said of it") {
  const auto has = [](unsigned architecture, const char* feature) {
    return lists(features_of_architecture(architecture), feature);
  };
  CHECK(features_of_architecture(0).empty());
  CHECK(features_of_architecture(61).empty());
  CHECK(has(70, "tensor_core"));
  CHECK(!has(70, "ldmatrix"));
  CHECK(has(75, "ldmatrix"));
  CHECK(!has(75, "cp_async"));
  CHECK(has(86, "cp_async"));
  CHECK(!has(86, "fp8"));
  CHECK(has(89, "fp8"));
  CHECK(!has(89, "tma"));
  CHECK(has(90, "wgmma"));
  CHECK(!has(100, "wgmma"));
  CHECK(has(103, "tcgen05"));
  CHECK(has(120, "tma"));
  CHECK(!has(120, "tcgen05"));
  CHECK(!has(120, "wgmma"));
  CHECK(has(120, "block_scaling"));
  std::vector<Method> methods{listed_method("wide", 1)};
  methods[0].needs = {"avx512"};
  CHECK(choose(methods, {{1, 0, 0}}, {}, {0, {}}).taken.empty());
  CHECK(choose(methods, {{1, 0, 0}}, {}, {0, {"avx512"}}).taken.size() == 1);
  methods[0].needs.clear();
  methods[0].architecture = 80;
  CHECK(choose(methods, {{1, 0, 0}}, {}, {0, {}}).decisions[0].reason == MethodReason::architecture);
  CHECK(choose(methods, {{1, 0, 0}}, {}, {80, {}}).taken.size() == 1);
}

TEST_CASE(
    "whatever the registry: one decision for each method of an axis with slots, no more than the slots") {
  Rng rng(7);
  const char* conditions[] = {
      nullptr,        "ipc < 1",   "ipc > 1", "nothing > 1", "nothing > 1 and ipc > 1",
      "ipc < 1 or x", "1 / 0 > 1", "x == x"};
  for (int round = 0; round < 3000; ++round) {
    std::vector<Method> methods;
    std::vector<MethodRecord> record;
    const std::size_t count = rng.below(12);
    for (std::size_t m = 0; m < count; ++m) {
      methods.push_back(listed_method("m" + std::to_string(m), rng.below(5), conditions[rng.below(8)],
                                      conditions[rng.below(8)], conditions[rng.below(8)],
                                      all_axes[rng.below(3)]));
      methods.back().architecture = rng.below(4) == 0 ? 100 : 0;
      if (m > 0 && rng.below(3) == 0) {
        const std::string other = methods[rng.below(m)].id;
        (rng.below(2) == 0 ? methods.back().coupled : methods.back().excludes).push_back(other);
      }
      if (rng.below(2) == 0) record.push_back({static_cast<MethodFate>(rng.below(4)), rng.below(4)});
    }
    const AxisBudget budget{{rng.below(4), rng.below(4), rng.below(4)}};
    const MethodChoice choice = choose(methods, budget, record);
    std::multiset<std::size_t> decided;
    std::size_t taken = 0;
    std::array<std::size_t, 3> on{}, passed{}, blocked{};
    for (const MethodDecision& one : choice.decisions) {
      decided.insert(one.method);
      CHECK(!one.words.empty());
      const auto axis = static_cast<std::size_t>(methods[one.method].axis);
      taken += one.reason == MethodReason::taken;
      on[axis] += one.reason == MethodReason::taken;
      passed[axis] += one.strength.has_value();
      blocked[axis] += one.reason == MethodReason::coupled && one.strength.has_value();
    }
    for (std::size_t m = 0; m < count; ++m)
      CHECK(decided.count(m) == (budget[methods[m].axis] > 0 ? 1u : 0u));
    CHECK(choice.taken.size() == taken);
    for (const Axis axis : all_axes) {
      const auto a = static_cast<std::size_t>(axis);
      CHECK(on[a] == std::min(budget[axis], passed[a] - blocked[a]));
    }
    for (const std::size_t a : choice.taken) {
      CHECK(decision(choice, a).reason == MethodReason::taken);
      for (const std::size_t b : choice.taken) {
        CHECK(!lists(methods[a].coupled, methods[b].id));
        CHECK(!lists(methods[a].excludes, methods[b].id));
      }
    }
  }
}
