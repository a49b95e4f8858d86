// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the C library adds to an ask and a tell, as a Markdown table: the same policies with the same seeds
// through kernelsearch.h and through AnyPolicy, turn by turn in one process, every other time the other one
// first.
//   c_bench [NAME...]    policies; without names: all of the registry
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/c/kernelsearch.h"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

namespace {

constexpr std::size_t trials = 200;
constexpr std::size_t turns = 15;

using Clock = std::chrono::steady_clock;

double cost(const std::uint32_t* config) {
  return 1.0 + 0.1 * config[0] + 0.2 * (config[1] > 2 ? config[1] - 2 : 2 - config[1]) + 0.05 * config[2];
}

void must(ks_status status) {
  if (status == KS_OK) return;
  std::fprintf(stderr, "%s\n", ks_last_error());
  std::exit(1);
}

/// Microseconds of an ask and a tell, and a sum of what was proposed, which shows that it was the same.
struct Taken {
  double microseconds = 0.0;
  std::uint64_t sum = 0;
};

Taken through_c(const ks_space* space, std::string_view name, std::uint64_t seed) {
  ks_policy* policy = nullptr;
  ks_search* search = nullptr;
  must(ks_policy_named(std::string(name).c_str(), nullptr, &policy));
  must(ks_search_new(space, policy, seed, &search));
  Taken taken;
  std::size_t told = 0;
  const auto start = Clock::now();
  for (; told < trials; ++told) {
    std::uint64_t job = 0;
    std::uint32_t config[4];
    std::size_t given = 0;
    if (ks_search_ask(search, 1, &job, config, 4, &given) != KS_OK) break;
    for (const std::uint32_t position : config) taken.sum = 31 * taken.sum + position;
    must(ks_search_tell(search, job, KS_VERDICT_OK, cost(config), nullptr));
  }
  taken.microseconds =
      std::chrono::duration<double, std::micro>(Clock::now() - start).count() / static_cast<double>(told);
  must(ks_search_free(search));
  must(ks_policy_free(policy));
  return taken;
}

Taken through_cpp(const Space& space, std::string_view name, std::uint64_t seed) {
  AnyPolicy<Config> policy = make_config_policy(name, {.space = space, .seed = seed});
  Taken taken;
  std::size_t told = 0;
  const auto start = Clock::now();
  for (; told < trials; ++told) {
    std::vector<Config> asked = policy.ask(1);
    if (asked.empty()) break;
    for (const std::uint32_t position : asked[0].indices) taken.sum = 31 * taken.sum + position;
    Observation<Config> observation;
    observation.proposal = std::move(asked[0]);
    observation.outcome.id = TrialId{told};
    observation.outcome.origin = Origin{ProposalId{told}, 0, 1};
    observation.outcome.objective = cost(observation.proposal.indices.data());
    observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
    policy.tell({&observation, 1});
  }
  taken.microseconds =
      std::chrono::duration<double, std::micro>(Clock::now() - start).count() / static_cast<double>(told);
  return taken;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
  const Space space = SpaceBuilder()
                          .add(Tunable::power_of_two("block", 16, 1024))
                          .add(Tunable::integer("tile", 1, 16))
                          .add(Tunable::integer("unroll", 1, 16))
                          .add(Tunable::boolean("pad"))
                          .require("block * tile <= 4096")
                          .build();
  ks_space* same = nullptr;
  must(ks_space_parse(
      "{\"tunables\": {\"block\": {\"powers_of_two\": [16, 1024]}, \"tile\": {\"range\": [1, 17]}, "
      "\"unroll\": {\"range\": [1, 17]}, \"pad\": [false, true]}, "
      "\"constraints\": [\"block * tile <= 4096\"]}",
      &same));
  std::printf("| policy | C, us | C++, us | C / C++ |\n|---|--:|--:|--:|\n");
  for (const ConfigPolicyEntry& entry : config_policies()) {
    bool wanted = count == 1;
    for (int i = 1; i < count; ++i) wanted = wanted || entry.name == arguments[i];
    if (!wanted) continue;
    std::vector<double> c, cpp, ratios;
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      Taken one, other;
      if (turn % 2 == 0) one = through_c(same, entry.name, turn);
      other = through_cpp(space, entry.name, turn);
      if (turn % 2 == 1) one = through_c(same, entry.name, turn);
      if (one.sum != other.sum) {
        std::fprintf(stderr, "%s: the two propose different configurations\n",
                     std::string(entry.name).c_str());
        return 1;
      }
      c.push_back(one.microseconds);
      cpp.push_back(other.microseconds);
      ratios.push_back(one.microseconds / other.microseconds);
    }
    std::printf("| %s | %.2f | %.2f | %.2f |\n", std::string(entry.name).c_str(), median(c), median(cpp),
                median(ratios));
    std::fflush(stdout);
  }
  must(ks_space_free(same));
  return 0;
}
