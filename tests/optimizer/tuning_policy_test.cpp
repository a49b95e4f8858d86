// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/optimizer/tuning_policy.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/scripted_kernels.hpp"

using namespace kernelsearch;
using namespace scripted;

namespace {

/// What a Scripted policy was told.
struct Heard {
  std::string key;
  std::optional<std::uint64_t> proposal;  ///< empty: foreign
  double objective = 0;
  bool ok = false;
  friend bool operator==(const Heard&, const Heard&) = default;
};

/// Proposes these keys of the scripted space, in order.
struct Scripted {
  using Proposal = Config;
  std::deque<std::string> keys;
  std::shared_ptr<std::vector<Heard>> heard = std::make_shared<std::vector<Heard>>();
  bool waits = false;

  std::vector<Config> ask(std::size_t n) {
    std::vector<Config> asked;
    for (; asked.size() < n && !keys.empty(); keys.pop_front()) asked.push_back(of_key(keys.front()));
    return asked;
  }
  void tell(std::span<const Observation<Config>> batch) {
    for (const Observation<Config>& one : batch) {
      Heard what{block_space().key(one.proposal), {}, one.outcome.objective, one.outcome.ok()};
      if (one.outcome.origin) what.proposal = number(one.outcome.origin->proposal);
      heard->push_back(what);
    }
  }
  bool await() { return waits; }

  static Config of_key(const std::string& key) {
    const Space space = block_space();
    std::optional<Config> found;
    space.for_each([&](const Config& config) {
      if (space.key(config) == key) found = config;
    });
    REQUIRE(found);
    return *found;
  }
};

std::shared_ptr<const KernelTuning> tuning_of(std::vector<std::pair<std::string, double>> times) {
  KernelTuning tuning{kernel_with({"tiling"}).kernel, {}, {}};
  for (const auto& [key, seconds] : times)
    tuning.points.push_back(
        {Scripted::of_key(key), seconds > 0 ? Verdict::ok : Verdict::wrong_result, seconds});
  return std::make_shared<const KernelTuning>(std::move(tuning));
}

/// Asks for one and tells what it took; 0: it failed. Its key, empty where there is none.
template <class P>
std::string play(P& policy, std::uint64_t& id, double seconds) {
  const std::vector<Config> asked = policy.ask(1);
  if (asked.empty()) return {};
  Observation<Config> observation{asked.front(), {}};
  observation.outcome.id = TrialId{id};
  observation.outcome.origin = Origin{ProposalId{id}};
  ++id;
  observation.outcome.objective = seconds;
  observation.outcome.evaluation =
      seconds > 0 ? Evaluation::succeeded(seconds) : Evaluation::failed(Verdict::wrong_result, "no");
  policy.tell(std::span<const Observation<Config>>(&observation, 1));
  return block_space().key(asked.front());
}

const std::vector<Config> standard{block_space().default_config()};

}  // namespace

TEST_CASE("TuningPolicy: own settings, the best of each tuning in turn, then the policy's proposals") {
  const std::vector<std::shared_ptr<const KernelTuning>> told{
      tuning_of({{"8,1", 3.0}, {"8,2", 2.0}, {"8,3", 0.0}})},
      learned{tuning_of({{"4,1", 5.0}, {"4,2", 6.0}, {"4,3", 7.0}})};
  Scripted inner{.keys = {"16,1", "8,2", "16,2"}};
  TuningPolicy policy(inner, block_space(), standard, told, {.carried = 2}, learned);
  std::uint64_t id = 0;
  std::vector<std::string> keys;
  for (std::string key = play(policy, id, 4.0); !key.empty(); key = play(policy, id, 4.0))
    keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"1,1", "8,2", "4,1", "8,1", "4,2", "16,1", "16,2", "8,3", "4,3"});
  // The start that the policy proposed as well is not tried twice.
  CHECK(policy.policy().keys.empty());
}

TEST_CASE("TuningPolicy: starts are told as foreign, proposals under the policy's own numbers") {
  Scripted inner{.keys = {"16,1", "16,2"}};
  TuningPolicy policy(inner, block_space(), standard, {});
  std::uint64_t id = 0;
  play(policy, id, 4.0);
  play(policy, id, 0.0);
  play(policy, id, 3.0);
  CHECK(*inner.heard ==
        std::vector<Heard>{{"1,1", {}, 4.0, true}, {"16,1", 0, 0.0, false}, {"16,2", 1, 3.0, true}});
}

TEST_CASE("TuningPolicy: what is told is told once, after the starts, in proportion, the best last") {
  const std::vector<std::shared_ptr<const KernelTuning>> told{
      tuning_of({{"1,1", 2.0}, {"8,1", 1.0}, {"8,2", 3.0}, {"8,3", 4.0}, {"64,1", 0.0}})};
  Scripted inner{.keys = {"16,1", "16,2"}};
  TuningPolicy policy(inner, block_space(), standard, told, {.carried = 1});
  std::uint64_t id = 0;
  play(policy, id, 4.0);
  CHECK(inner.heard->size() == 1);
  play(policy, id, 2.0);  // both take twice as long here
  const std::vector<Heard> heard = *inner.heard;
  REQUIRE(heard.size() == 5);
  CHECK(heard[2].key == "64,1");
  CHECK_FALSE(heard[2].ok);
  CHECK(heard[3] == Heard{"8,3", {}, 8.0, true});
  CHECK(heard[4] == Heard{"8,2", {}, 6.0, true});
  play(policy, id, 1.0);
  CHECK(inner.heard->size() == 6);
}

TEST_CASE("TuningPolicy: what the policy has learned from is not told") {
  const std::vector<std::shared_ptr<const KernelTuning>> learned{
      tuning_of({{"1,1", 2.0}, {"8,1", 1.0}, {"8,2", 3.0}})};
  Scripted inner{.keys = {"16,1"}};
  TuningPolicy policy(inner, block_space(), standard, {}, {.carried = 1}, learned);
  std::uint64_t id = 0;
  for (int i = 0; i < 3; ++i) play(policy, id, 4.0);
  CHECK(*inner.heard ==
        std::vector<Heard>{{"1,1", {}, 4.0, true}, {"8,1", {}, 4.0, true}, {"16,1", 0, 4.0, true}});
}

TEST_CASE("TuningPolicy: it is given up after so many wrong ones, and then waits for nothing") {
  Scripted inner{.keys = {"16,1", "16,2", "16,3", "8,1"}, .waits = true};
  std::uint64_t id = 0;
  TuningPolicy policy(inner, block_space(), standard, {}, {.hopeless = 3});
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(policy.given_up());
    CHECK(policy.await());
    CHECK(!play(policy, id, 0.0).empty());
  }
  CHECK(policy.given_up());
  CHECK_FALSE(policy.await());
  CHECK(play(policy, id, 0.0).empty());

  id = 0;
  TuningPolicy hopeful(inner, block_space(), standard, {}, {.hopeless = 3});
  for (int i = 0; i < 4; ++i) CHECK(!play(hopeful, id, i == 2 ? 1.0 : 0.0).empty());
  CHECK_FALSE(hopeful.given_up());
  id = 0;
  TuningPolicy patient(inner, block_space(), standard, {}, {.hopeless = 0});
  for (int i = 0; i < 5; ++i) CHECK(!play(patient, id, 0.0).empty());
}
