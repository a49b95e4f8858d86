// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/earlier_tunings.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernelsearch/run/run.hpp"
#include "kernelsearch/space/space_builder.hpp"
#include "run/support.hpp"
#include "support/scripted_model.hpp"

using namespace run_test;

namespace {

/// What runs of PEAK are made of whose model knows one faster kernel.
RunParts parts_in(const Place& place) {
  RunParts parts;
  parts.evaluator = Words{small_problem(), place.gate};
  parts.store = place.store.get();
  parts.problem = small_problem();
  parts.model = scripted::RuleChat([](const ChatRequest&) {
    return scripted::RuleChat::replied(
        "```cpp\nextern \"C\" void twice(int n, const float* x, float* y) {\n  // fast\n"
        "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n```\n");
  });
  return parts;
}

/// Such a run with 9 inner trials for each kernel.
Run tuned_run(const Place& place, RunOptions options) {
  options.system = "peak";
  options.system_options = R"({"inner_trials": 9})";
  options.measurement.jobs = 2;
  return Run::start(small_problem(), std::move(options), parts_in(place));
}

std::vector<std::string> inner_keys(const RunStore& store, RunId run, std::uint64_t parent) {
  std::vector<std::string> keys;
  for (const StoredInnerTrial& trial : store.inner_trials(run, TrialId{parent}))
    keys.push_back(trial.trial.key);
  return keys;
}

}  // namespace

TEST_CASE("Run: a kernel's tuning starts from its parent's, and from that of an earlier run") {
  const Place place;
  const Space space = small_problem().kernel.space;
  const std::string standard = space.key(space.default_config());
  Run first = tuned_run(place, {.budget = "18", .seed = 3});
  first.to_end();
  const std::vector<StoredTrial> trials = place.store->trials(first.id());
  REQUIRE(trials.size() == 2);
  const std::vector<std::string> root = inner_keys(*place.store, first.id(), 0);
  const std::vector<std::string> child = inner_keys(*place.store, first.id(), 1);
  REQUIRE(root.size() == 9);
  REQUIRE(child.size() == 9);
  CHECK(root.front() == standard);
  // PEAK makes the parent's best the child's default.
  CHECK(child.front() == trials[0].outcome.evaluation.tuned_key);

  Run second = tuned_run(place, {.budget = "9", .seed = 4});
  second.to_end();
  const std::vector<std::string> known = inner_keys(*place.store, second.id(), 0);
  REQUIRE(known.size() == 9);
  CHECK(known[0] == standard);
  CHECK(known[1] == trials[0].outcome.evaluation.tuned_key);
  // Another start of the same seed that may not look at earlier runs draws as the first would have.
  Run alone = tuned_run(place, {.budget = "9", .seed = 3, .reuse = false});
  alone.to_end();
  CHECK(inner_keys(*place.store, alone.id(), 0) == root);
}

TEST_CASE("Run: stored tunings are read by the tunables that the kernel has today") {
  const Place place;
  Run first = tuned_run(place, {.budget = "9", .seed = 3});
  first.to_end();
  Run second = tuned_run(place, {.budget = "9", .seed = 3});
  const Problem problem = small_problem();
  const TuningLookup lookup = detail::earlier_tunings(*place.store, second.id());
  const auto known = lookup(problem.kernel);
  REQUIRE(known.size() == 1);
  CHECK(known[0]->points.size() == 9);
  for (const TunedPoint& point : known[0]->points) CHECK(problem.kernel.space.contains(point.config));
  // A tunable more, as after a change of the problem: the keys mean nothing then.
  const Space more = SpaceBuilder()
                         .add(Tunable::integer("UNROLL", 1, 8))
                         .add(Tunable::power_of_two("BLOCK", 16, 64))
                         .add(Tunable::boolean("FAST"))
                         .add(Tunable::boolean("MORE"))
                         .build();
  CHECK(lookup(Kernel{problem.kernel.regions, more}).empty());
  // Another text is another kernel.
  CHECK(lookup(Kernel{{code_with("x"), {}, {}}, problem.kernel.space}).empty());
}

TEST_CASE("Run: a resumed run tunes the next kernel from those of its first part, as one in one go does") {
  const Place whole, parted;
  Run once = tuned_run(whole, {.budget = "18", .seed = 5});
  once.to_end();
  const std::vector<std::string> child = inner_keys(*whole.store, once.id(), 1);
  REQUIRE(child.size() == 9);
  RunId id{};
  {
    Run first = tuned_run(parted, {.budget = "9", .seed = 5});
    first.to_end();
    id = first.id();
  }
  REQUIRE(parted.store->trials(id).size() == 1);
  Run second = Run::resume(std::to_string(number(id)), {.budget = "18"}, parts_in(parted));
  second.to_end();
  CHECK(inner_keys(*parted.store, id, 0) == inner_keys(*whole.store, once.id(), 0));
  CHECK(inner_keys(*parted.store, id, 1) == child);
}
