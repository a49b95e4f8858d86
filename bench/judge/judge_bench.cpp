// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How right the host's judge is: docs/benchmarks/judge.md.
//   judge_bench honest [--repeat 10] [--load LOOPS] [--only NAME]
//   judge_bench attacks [--repeat 100] [--jobs N] [--only NAME,...] [--all] [--list]
//   judge_bench mutants [--repeat 20] [--load LOOPS] [--only NAME]
//   judge_bench aa|ab [--repeat 20] [--problems NUMBER|NAMES] [--ways NAMES] [--device host|cuda] [--jobs 1]
//               [--load LOOPS] [--csv FILE] [--command KERNELSEARCH]
//               [--sandbox auto|bubblewrap|landlock|none]
//   judge_bench trials [--trials 25] [--repeat 3] [--load LOOPS]
#include "judge_bench.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <stop_token>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "support/test_data.hpp"

namespace judge_bench {

using kernelsearch::ConfigError;
using kernelsearch::host_machine;

Arguments::Arguments(int argc, char** argv, const std::vector<std::string>& known) {
  for (int i = 0; i < argc; ++i) {
    const std::string name = argv[i];
    bool is_known = false, has_value = true;
    std::string all;
    for (const auto& one : known) {
      const bool flag = one.ends_with('!');
      const std::string plain = "--" + one.substr(0, one.size() - (flag ? 1 : 0));
      if (name == plain) {
        is_known = true;
        has_value = !flag;
      }
      all += " " + plain;
    }
    if (!is_known) kernelsearch::detail::raise<ConfigError>("unknown option", name, "choose from" + all);
    if (has_value && i + 1 == argc)
      kernelsearch::detail::raise<ConfigError>("an option has no value", name, "give it one");
    given_[name.substr(2)] = has_value ? argv[++i] : "";
  }
}

double Arguments::real(const std::string& name, double otherwise) const {
  const auto at = given_.find(name);
  if (at == given_.end()) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(at->second.c_str(), &end);
  if (end == at->second.c_str() || *end != '\0' || !(value >= 0))
    kernelsearch::detail::raise<ConfigError>("--" + name + " is no number", at->second, "give one from 0 on");
  return value;
}

int Arguments::number(const std::string& name, int otherwise) const {
  return static_cast<int>(real(name, otherwise));
}

std::string Arguments::text(const std::string& name, const std::string& otherwise) const {
  const auto at = given_.find(name);
  return at == given_.end() ? otherwise : at->second;
}

Scratch::Scratch() : path_(std::filesystem::temp_directory_path() / fmt::format("judge-bench-{}", getpid())) {
  std::filesystem::create_directories(path_);
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int measured_core_number() {
  return host_machine().cores.back();
}

BusyLoops::BusyLoops(int count, int measured) {
  const auto& cores = host_machine().cores;
  const auto found = std::find(cores.begin(), cores.end(), measured);
  const std::size_t last =
      found == cores.end() ? cores.size() - 1 : static_cast<std::size_t>(found - cores.begin());
  for (int i = 0; i < count; ++i) {
    const std::size_t others = cores.size() - 1;
    const auto away = i % 2 == 0 || others == 0 ? 0 : 1 + static_cast<std::size_t>(i / 2) % others;
    threads_.emplace_back(
        [core = cores[(last + cores.size() - away) % cores.size()]](const std::stop_token& stop) {
          cpu_set_t one;
          CPU_ZERO(&one);
          CPU_SET(static_cast<std::size_t>(core), &one);
          sched_setaffinity(0, sizeof one, &one);
          while (!stop.stop_requested()) {
          }
        });
  }
}

std::filesystem::path hostile_folder() {
  return support::test_data() / "hostile";
}

void print_machine(int loops, kernelsearch::Sandbox sandbox) {
  fmt::print("{}; core {}; sandbox {}; {}\n\n", host_machine().id(), measured_core_number(),
             kernelsearch::description_of(kernelsearch::resolved(sandbox)),
             loops == 0 ? "no load of ours" : fmt::format("beside {} busy loops", loops));
}

}  // namespace judge_bench

int main(int argc, char** argv) try {
  using namespace judge_bench;
  const std::string command = argc > 1 ? argv[1] : "";
  const auto given = [&](const std::vector<std::string>& known) {
    return Arguments(argc - 2, argv + 2, known);
  };
  if (command == "honest") return judge_honest(given({"repeat", "load", "only"}));
  if (command == "attacks") return judge_attacks(given({"repeat", "jobs", "only", "all!", "list!"}));
  if (command == "mutants") return judge_mutants(given({"repeat", "load", "only"}));
  if (command == "aa" || command == "ab")
    return compare_kernels(
        given({"repeat", "problems", "ways", "device", "jobs", "load", "csv", "command", "sandbox"}),
        command == "ab");
  if (command == "trials") return count_trials(given({"trials", "repeat", "load"}));
  fmt::print(
      stderr,
      "usage: judge_bench honest|mutants [--repeat N] [--load LOOPS] [--only NAME]\n"
      "       judge_bench aa|ab [--repeat N] [--problems NUMBER|NAMES] [--ways NAMES] [--device host|cuda]\n"
      "                   [--jobs N] [--load LOOPS] [--csv FILE] [--command KERNELSEARCH]\n"
      "                   [--sandbox NAME]\n"
      "       judge_bench trials [--trials N] [--repeat N] [--load LOOPS]\n");
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "judge_bench: {}\n", error.what());
  return 2;
}
