// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What policies cost by themselves, as Markdown tables; nothing is measured on hardware.
//   policy_bench time [NAME...]    microseconds of ask + tell per proposal in a space of 10^4 configurations
//   policy_bench memory [NAME...]  peak resident memory of a search of 2000 trials in a space of 10^9
//                                  configurations, one process for each policy
// Without names: every policy of the registry.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

namespace {

constexpr std::uint64_t seeds = 5;
constexpr std::size_t trials = 1010;
constexpr std::size_t window = 20;  // proposals around each mark
constexpr std::size_t marks[] = {60, 300, 1000};
constexpr std::size_t memory_trials = 2000;

/// About 10^4 valid configurations of eight tunables of several kinds.
Space small_space() {
  return SpaceBuilder()
      .add(Tunable::power_of_two("block_x", 16, 256))
      .add(Tunable::power_of_two("block_y", 1, 16))
      .add(Tunable::integer("tile_x", 1, 6))
      .add(Tunable::integer("tile_y", 1, 6))
      .add(Tunable::power_of_two("vector", 1, 8))
      .add(Tunable::boolean("pad"))
      .add(Tunable::categorical("layout", std::vector<std::string>{"row", "column", "tiled"}))
      .require("32 <= block_x * block_y <= 1024")
      .require("tile_x * tile_y <= 16")
      .require("vector <= tile_x or layout == 'row'")
      .build();
}

/// 12^9 = 5.2 * 10^9 configurations, of which the constraints leave somewhat over 10^9.
Space large_space() {
  SpaceBuilder builder;
  for (char name = 'a'; name <= 'i'; ++name) builder.add(Tunable::integer(std::string(1, name), 1, 12));
  return builder.require("a * b <= 60").require("c + d + e <= 24").require("f * g <= h * 12").build();
}

/// Rugged, with failures in a twelfth of the space, and the same for everyone.
double time_of(const Config& config) {
  double sum = 1;
  std::uint64_t mixed = 1;
  for (std::size_t i = 0; i < config.indices.size(); ++i) {
    const double from = static_cast<double>(config.indices[i]) - static_cast<double>(i % 4);
    sum += from * from / 10;
    mixed = (mixed + config.indices[i]) * 0x9e3779b97f4a7c15ULL;
    mixed ^= mixed >> 29;
  }
  if (mixed % 12 == 0) return std::numeric_limits<double>::infinity();
  return sum * (1 + 0.1 * static_cast<double>(mixed % 97) / 97);
}

/// One proposal and its outcome; false when the search has ended.
bool step(AnyPolicy<Config>& policy, std::uint64_t trial) {
  const std::vector<Config> asked = policy.ask(1);
  if (asked.empty()) return false;
  Observation<Config> observation{asked[0], {}};
  const double objective = time_of(asked[0]);
  observation.outcome.id = TrialId{trial};
  observation.outcome.origin = Origin{ProposalId{trial}, 0, 1};
  observation.outcome.objective = objective;
  observation.outcome.evaluation =
      std::isinf(objective) ? Evaluation::failed(Verdict::crashed, "") : Evaluation::succeeded(objective);
  policy.tell(std::span<const Observation<Config>>(&observation, 1));
  return true;
}

double cpu_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

void measure_time(std::span<const std::string> names) {
  const Space space = small_space();
  std::printf("%s configurations, %d seeds; microseconds per proposal\n\n", space.count().to_string().c_str(),
              static_cast<int>(seeds));
  std::printf(
      "| policy | at 60 | at 300 | at 1000 | mean to 300 | mean to 1000 |\n|---|---|---|---|---|---|\n");
  for (const std::string& name : names) {
    // Processor time when each trial began, over all seeds: others may be busy on the machine. Read at the
    // ends of intervals only, since reading it takes as long as some policies.
    std::map<std::size_t, double> clock;
    const auto mean = [&](std::size_t from, std::size_t to) {
      return (clock.at(to) - clock.at(from)) / static_cast<double>((to - from) * seeds);
    };
    for (const std::size_t mark : marks) clock[mark - window / 2] = clock[mark + window / 2] = 0;
    clock[0] = clock[300] = clock[1000] = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      AnyPolicy<Config> policy = make_config_policy(name, {space, seed});
      for (std::size_t i = 0; i <= trials; ++i) {
        const auto at = clock.find(i);
        if (at != clock.end()) at->second += cpu_microseconds();
        if (!step(policy, i)) break;
      }
    }
    std::printf("| %s |", name.c_str());
    for (const std::size_t mark : marks) std::printf(" %.1f |", mean(mark - window / 2, mark + window / 2));
    std::printf(" %.1f | %.1f |\n", mean(0, 300), mean(0, 1000));
    std::fflush(stdout);
  }
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void measure_memory(std::span<const std::string> names) {
  std::printf("%d trials in a space of 10^9 configurations\n\n", static_cast<int>(memory_trials));
  std::printf(
      "| policy | configurations | MB at the peak | of which before the first trial | seconds |\n"
      "|---|---|---|---|---|\n");
  for (const std::string& name : names) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      const Space space = large_space();
      const double before = peak_megabytes();
      const auto start = std::chrono::steady_clock::now();
      AnyPolicy<Config> policy = make_config_policy(name, {space, 1, memory_trials});
      for (std::uint64_t i = 0; i < memory_trials; ++i)
        if (!step(policy, i)) break;
      std::printf("| %s | %s | %.1f | %.1f | %.2f |\n", name.c_str(), space.count().to_string().c_str(),
                  peak_megabytes(), before,
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      std::fflush(stdout);
      std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::printf("| %s | failed | | | |\n", name.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  std::vector<std::string> names(argv + std::min(argc, 2), argv + argc);
  if (names.empty())
    for (const ConfigPolicyEntry& entry : config_policies()) names.emplace_back(entry.name);
  if (what == "time") {
    measure_time(names);
  } else if (what == "memory") {
    measure_memory(names);
  } else {
    std::fprintf(stderr, "usage: policy_bench time|memory [NAME...]\n");
    return 2;
  }
}
