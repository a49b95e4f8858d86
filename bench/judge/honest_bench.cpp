// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>

#include <map>

#include "hostile/mutants.hpp"
#include "judge_bench.hpp"
#include "kernelsearch/core/error.hpp"

namespace judge_bench {
namespace {

using kernelsearch::Evaluation;
using kernelsearch::HostOptions;
using kernelsearch::Verdict;

/// What came of judging one kernel several times.
struct Counts {
  int ok = 0;
  int not_told = 0;  ///< not distinguishable under this load
  int refused = 0;
  std::string reason;  ///< the first that was not ok
};

HostOptions options_on(const Scratch& scratch) {
  HostOptions options = honest::light_options(scratch.path());
  options.core = measured_core_number();
  return options;
}

Counts judged(honest::Built& built, int repeat) {
  Counts counts;
  for (int i = 0; i < repeat; ++i) {
    const Evaluation evaluation = honest::judge(built);
    const bool not_told = honest::not_distinguishable(evaluation);
    ++(evaluation.verdict == Verdict::ok ? counts.ok : not_told ? counts.not_told : counts.refused);
    if (evaluation.verdict != Verdict::ok && counts.reason.empty())
      counts.reason = fmt::format("{}: {}", to_string(evaluation.verdict), evaluation.reason);
  }
  return counts;
}

/// For a cell of a table: one line without bars.
std::string cell(std::string text) {
  for (char& c : text)
    if (c == '|' || c == '\n') c = '/';
  return text;
}

/// Those of the kernels that this machine can run and `only`, a part of their name, chooses.
std::vector<honest::JudgedKernel> chosen(std::vector<honest::JudgedKernel> kernels, const std::string& only) {
  std::vector<honest::JudgedKernel> result;
  for (auto& kernel : kernels) {
    if (kernel.name.find(only) == std::string::npos) continue;
    if (const auto why = honest::obstacle(kernel); !why.empty())
      fmt::print("left out: {}: {}\n", kernel.name, why);
    else
      result.push_back(std::move(kernel));
  }
  if (result.empty())
    kernelsearch::detail::raise<kernelsearch::ConfigError>("no kernel has this in its name", only,
                                                           "look into tests/hostile");
  return result;
}

}  // namespace

int judge_honest(const Arguments& arguments) {
  const int repeat = arguments.number("repeat", 10), load = arguments.number("load", 0);
  const Scratch scratch;
  print_machine(load);
  auto kernels = honest::read_kernels(hostile_folder() / "honest");
  for (auto& kernel : honest::read_kernels(hostile_folder().parent_path() / "evaluator" / "host" / "honest"))
    kernels.push_back(std::move(kernel));
  auto built = honest::build_all(chosen(std::move(kernels), arguments.text("only", "")), options_on(scratch),
                                 hostile_folder());
  const BusyLoops loops(load);
  fmt::print(
      "| kernel | problem | ok | not distinguishable | false alarms | first reason "
      "|\n|---|---|---|---|---|---|\n");
  Counts all;
  for (auto& one : built) {
    const Counts counts = judged(one, repeat);
    fmt::print("| {} | {} | {} | {} | {} | {} |\n", one.kernel.name, one.kernel.problem, counts.ok,
               counts.not_told, counts.refused, cell(counts.reason));
    std::fflush(stdout);
    all.ok += counts.ok;
    all.not_told += counts.not_told;
    all.refused += counts.refused;
  }
  fmt::print("\n{} kernels, each judged {} times: {} ok, {} not distinguishable, {} false alarms\n",
             built.size(), repeat, all.ok, all.not_told, all.refused);
  return all.refused == 0 ? 0 : 1;
}

int judge_mutants(const Arguments& arguments) {
  const int repeat = arguments.number("repeat", 20), load = arguments.number("load", 0);
  const Scratch scratch;
  print_machine(load);
  std::vector<honest::JudgedKernel> kernels;
  std::map<std::string, const honest::Mutant*> origins;
  for (const auto& mutant : honest::mutants) {
    kernels.push_back(honest::mutated(mutant, hostile_folder()));
    origins[mutant.name] = &mutant;
  }
  auto built = honest::build_all(chosen(std::move(kernels), arguments.text("only", "")), options_on(scratch),
                                 hostile_folder());
  const BusyLoops loops(load);
  fmt::print("| mutant | of | found | of | at least, expected | first reason |\n|---|---|---|---|---|---|\n");
  int missed = 0, always = 0;
  for (auto& one : built) {
    const honest::Mutant& mutant = *origins.at(one.kernel.name);
    const Counts counts = judged(one, repeat);
    const int found = counts.refused;
    // Found never, or not always where chance has no part in it.
    const bool bad = found == 0 || (mutant.chance >= 1 && counts.ok > 0);
    missed += bad;
    always += found == repeat;
    fmt::print("| {} | {} | {}{} | {} | {:.0f} % | {} |\n", mutant.name, mutant.kernel, found,
               bad ? " (!)" : "", repeat, 100 * mutant.chance, cell(counts.reason));
    std::fflush(stdout);
  }
  fmt::print("\n{} mutants, each judged {} times: {} found every time, {} not as they should be\n",
             built.size(), repeat, always, missed);
  return missed == 0 ? 0 : 1;
}

}  // namespace judge_bench
