// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// External evaluators: attacks that are caught or gain nothing, false alarms, the slope against a known
// cost.
//   external_bench [--repeat 20] [--honest 100]
// Exits with 1 where an attack gained something or an honest program was called wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "external/scripted_evaluator.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

Evaluation judged(const std::string& mode, double microseconds) {
  const TemporaryFolder folder;
  ExternalEvaluator evaluator(test::scripted_problem(folder.path(), mode, microseconds));
  return evaluator.evaluate(evaluator.problem().default_candidate(), {});
}

}  // namespace

int main(int argc, char** argv) {
  int repeat = 20, honest = 100;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--repeat") repeat = std::atoi(argv[i + 1]);
    if (std::string_view(argv[i]) == "--honest") honest = std::atoi(argv[i + 1]);
  }
  bool good = true;
  constexpr double cost = 1000;
  fmt::print("Attacks on calls of {} us: caught by a verdict, or timed in full (at least 0.9 of it)\n", cost);
  fmt::print("{:12} {:>8} {:>10} {:>8}  verdicts\n", "attack", "caught", "no gain", "of");
  for (const char* mode : {"skip", "first", "by_slot", "by_number", "part", "late", "outside", "inputs",
                           "lie", "more", "edited", "kind", "twice", "pad", "ahead", "by_content"}) {
    int caught = 0, in_vain = 0;
    std::map<std::string, int> verdicts;
    for (int i = 0; i < repeat; ++i) {
      const Evaluation evaluation = judged(mode, cost);
      ++verdicts[std::string(to_string(evaluation.verdict))];
      if (evaluation.verdict != Verdict::ok)
        ++caught;
      else if (evaluation.measurement.seconds >= 0.9 * cost * 1e-6)
        ++in_vain;
    }
    std::string text;
    for (const auto& [name, count] : verdicts) text += fmt::format(" {} {}", name, count);
    fmt::print("{:12} {:8} {:10} {:8} {}\n", mode, caught, in_vain, repeat, text);
    good = good && caught + in_vain == repeat;
  }
  fmt::print("\nHonest programs: slope over the known cost\n{:>8} {:>6} {:>8} {:>8} {:>8} {:>14} {:>12}\n",
             "us", "runs", "least", "median", "most", "within 10 %", "false alarms");
  for (const double microseconds : {200.0, 500.0, 1000.0, 5000.0}) {
    std::vector<double> ratios;
    int alarms = 0, within = 0;
    const int runs = std::max(honest / 4, 1);
    for (int i = 0; i < runs; ++i) {
      const Evaluation evaluation = judged("honest", microseconds);
      if (evaluation.verdict != Verdict::ok) {
        ++alarms;
        fmt::print("  {}\n", evaluation.reason);
        continue;
      }
      ratios.push_back(evaluation.measurement.seconds * 1e6 / microseconds);
      within += std::abs(ratios.back() - 1) <= 0.1 ? 1 : 0;
    }
    std::sort(ratios.begin(), ratios.end());
    if (ratios.empty()) ratios.push_back(NAN);
    fmt::print("{:8} {:6} {:8.3f} {:8.3f} {:8.3f} {:>11}/{} {:12}\n", microseconds, runs, ratios.front(),
               ratios[ratios.size() / 2], ratios.back(), within, runs, alarms);
    good = good && alarms == 0;
  }
  return good ? 0 : 1;
}
