// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

#include "hostile/attacks.hpp"
#include "judge_bench.hpp"
#include "kernelsearch/judge/machine.hpp"

// Does an attack on the judge ever pay? Every kernel of tests/hostile/attacks (with --all also those of
// tests/evaluator/host/hostile) is judged over and over, beside the honest kernel that it pretends to be.
namespace judge_bench {
namespace {

using namespace kernelsearch;
using hostile::Attack;
using hostile::Judgement;

struct Choice {
  int repeat = 100;
  int jobs = 0;  ///< 0: half of the cores
  std::vector<std::string> only;
  bool all = false, list = false;
};

struct Row {
  Attack attack;
  std::map<std::string, int> verdicts;
  double largest_gain = 0;
  int accepted_with_gain = 0, refused_by_pairs = 0, judged = 0;
  std::string reason;  ///< of the last that was refused, or what went wrong
  bool broken = false;
};

Choice choice_of(const Arguments& arguments) {
  Choice choice;
  choice.repeat = arguments.number("repeat", choice.repeat);
  choice.jobs = arguments.number("jobs", choice.jobs);
  std::istringstream names(arguments.text("only", ""));
  for (std::string name; std::getline(names, name, ',');) choice.only.push_back(name);
  choice.all = arguments.has("all");
  choice.list = arguments.has("list");
  return choice;
}

std::vector<Row> chosen(const Choice& choice) {
  std::vector<Row> rows;
  std::vector<Attack> attacks = hostile::attacks();
  if (choice.all || !choice.only.empty()) {
    auto scaling = hostile::scale_attacks();
    attacks.insert(attacks.end(), scaling.begin(), scaling.end());
  }
  for (Attack& attack : attacks)
    if (attack.blames_the_problem()) {  // right, so there is nothing to refuse
    } else if (choice.only.empty() ||
               std::find(choice.only.begin(), choice.only.end(), attack.name) != choice.only.end())
      rows.emplace_back().attack = std::move(attack);
  for (const std::string& name : choice.only)
    if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return row.attack.name == name; }))
      kernelsearch::detail::raise<ConfigError>("there is no such attack", name, "--list names all");
  return rows;
}

/// Judges one attack as often as asked.
void judge(Row& row, hostile::Arbiter& arbiter, int repeat) {
  try {
    for (int i = 0; i < repeat; ++i) {
      const Judgement outcome = arbiter.judge(row.attack);
      ++row.judged;
      ++row.verdicts[std::string(to_string(outcome.verdict))];
      row.largest_gain = std::max(row.largest_gain, outcome.gain);
      row.accepted_with_gain += outcome.claims ? 1 : 0;
      row.refused_by_pairs += outcome.refused_by_pairs ? 1 : 0;
      if (outcome.rejected()) row.reason = outcome.reason;
      if (outcome.verdict == Verdict::build_failed) {  // says nothing of the judge, unless that is the attack
        row.broken = !row.attack.value("expect").starts_with("build_failed");
        return;
      }
    }
  } catch (const std::exception& error) {
    row.broken = true;
    row.reason = error.what();
  }
}

void print(const std::vector<Row>& rows) {
  std::printf(
      "| attack | kind | judged | verdicts | largest gain | refused only by pairs | accepted with a gain |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const Row& row : rows) {
    std::string verdicts;
    for (const auto& [verdict, count] : row.verdicts)
      verdicts += (verdicts.empty() ? "" : ", ") + verdict + " " + std::to_string(count);
    char gain[32] = "-";
    if (row.largest_gain > 0) std::snprintf(gain, sizeof gain, "%.3f", row.largest_gain);
    std::printf("| %s | %s | %d | %s | %s | %d | %d |\n", row.attack.name.c_str(),
                row.attack.value("kind").c_str(), row.judged, verdicts.c_str(), gain, row.refused_by_pairs,
                row.accepted_with_gain);
  }
}

}  // namespace

int judge_attacks(const Arguments& arguments) {
  const Choice choice = choice_of(arguments);
  std::vector<Row> rows = chosen(choice);
  if (choice.list) {
    for (const Row& row : rows)
      std::printf("%s: %s, %s\n", row.attack.name.c_str(), row.attack.value("kind").c_str(),
                  row.attack.value("problem").c_str());
    return 0;
  }
  const std::vector<int> cores = host_machine().cores;
  const std::size_t most =
      choice.jobs > 0 ? static_cast<std::size_t>(choice.jobs) : std::max<std::size_t>(cores.size() / 2, 1);
  const std::size_t jobs = std::min({most, cores.size(), rows.size()});
  const Scratch cache;
  print_machine(0);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t job = 0; job < jobs; ++job)
    threads.emplace_back([&, job] {
      // A core of its own each, the last ones first, and its neighbour free for who measures from outside.
      HostOptions options = hostile::light(cache.path());
      options.core = cores[cores.size() - 1 - job * (cores.size() / jobs)];
      std::map<std::string, std::unique_ptr<hostile::Arbiter>> arbiters;
      for (std::size_t i = next++; i < rows.size(); i = next++) {
        Row& row = rows[i];
        try {
          const std::string place = hostile::place_of(row.attack);
          auto& arbiter = arbiters[place];
          if (!arbiter) arbiter = std::make_unique<hostile::Arbiter>(place, options);
          judge(row, *arbiter, choice.repeat);
        } catch (const std::exception& error) {
          row.broken = true;
          row.reason = error.what();
        }
        std::fprintf(stderr, "%s: done\n", row.attack.name.c_str());
      }
    });
  for (std::thread& thread : threads) thread.join();
  print(rows);
  int code = 0;
  for (const Row& row : rows) {
    if (row.broken)
      std::printf("\n%s could not be judged: %s\n", row.attack.name.c_str(), row.reason.c_str());
    if (row.accepted_with_gain != 0)
      std::printf("\n%s was accepted with a gain %d times of %d\n", row.attack.name.c_str(),
                  row.accepted_with_gain, row.judged);
    if (row.broken || row.accepted_with_gain != 0) code = 1;
  }
  return code;
}

}  // namespace judge_bench
