// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled with -fno-exceptions -fno-rtti, with kernelsearch::header_only and with
// kernelsearch::core_noexcept: a search runs, and misuse reaches the handler that this program installs.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "kernelsearch/kernelsearch.hpp"
#include "kernelsearch/policy/registry.hpp"

#if KERNELSEARCH_EXCEPTIONS || KERNELSEARCH_HEADER_ONLY != EXPECTED_HEADER_ONLY
#  error "compile this with -fno-exceptions and the KERNELSEARCH_HEADER_ONLY that the target is for"
#endif

using namespace kernelsearch;

namespace {

constexpr int misuse_code = 42;

Space make_space() {
  return SpaceBuilder()
      .add(Tunable::power_of_two("block", 1, 1024))
      .add(Tunable::integer("tile", 1, 40))
      .add(Tunable::boolean("pad"))
      .require("block * tile <= 4096")
      .require({"tile"}, [](std::span<const Value> values) { return to_number(values[0]) != 7; })
      .build();
}

/// Fastest at block 64, tile 20, with padding; a multiple of 11 does not build.
struct Valley {
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext&) const {
    const std::vector<Value> values = candidate.kernel->space.values(candidate.config);
    const double tile = to_number(values[1]);
    if (std::fmod(tile, 11.0) == 0) return Evaluation::failed(Verdict::build_failed, "a multiple of 11");
    return Evaluation::succeeded(1.0 + std::abs(std::log2(to_number(values[0])) - 6.0) +
                                 std::abs(tile - 20) / 10 + (std::get<bool>(values[2]) ? 0 : 1));
  }
};

std::string search(std::string_view policy, std::size_t in_flight) {
  const Space space = make_space();
  Optimizer loop{make_config_policy(policy, {space, 1}),
                 TemplateGenerator{Kernel{{}, space}},
                 Cached{Valley{}, [](const Candidate& c) { return c.kernel->space.key(c.config); }},
                 {.in_flight = in_flight}};
  const RunSummary summary = loop.run(MaxTrials{2000});
  const std::string best = space.key(loop.best()->candidate->config);
  std::printf("%.*s, %d in flight: %s, best %s\n", static_cast<int>(policy.size()), policy.data(),
              static_cast<int>(in_flight), summary.reason.c_str(), best.c_str());
  return best;
}

/// Runs `misuse` in a process of its own; true when the replaced handler got a message that holds `text`.
template <class Misuse>
bool reaches_handler(const char* text, Misuse misuse) {
  static const char* expected;
  expected = text;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    set_failure_handler([](std::string_view message) {
      std::_Exit(message.find(expected) != std::string_view::npos ? misuse_code : 1);
    });
    misuse();
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == misuse_code;
}

bool check(bool right, const char* what) {
  if (!right) std::fprintf(stderr, "failed: %s\n", what);
  return right;
}

/// Misuse that comes as a value: nothing ends the process.
bool faults_are_values() {
  bool right = true;
  const auto says = [](const Fault& fault, const char* text) {
    return fault.text().find(text) != std::string::npos;
  };
  const Result<Space> misspelt = SpaceBuilder().add(Tunable::boolean("tile")).require("tiel").try_build();
  right &= check(!misspelt && says(misspelt.error(), "tile"), "try_build names the nearest tunable");
  const Result<Space> empty =
      SpaceBuilder().add(Tunable::integer("tile", 1, 4)).require("tile > 4").try_build();
  right &= check(!empty && says(empty.error(), "`tile > 4`"),
                 "try_build names the constraint that leaves nothing");
  const Result<Space> twice = Space::try_build({Tunable::boolean("pad"), Tunable::boolean("pad")});
  right &= check(!twice && says(twice.error(), "pad"), "try_build names the repeated tunable");
  const Result<Space> made =
      SpaceBuilder().add(Tunable::integer("tile", 1, 4)).require("tile > 3").try_build();
  right &= check(made && made->count() == BigCount(1), "try_build builds what is right");
  const Result<Expression> broken = Expression::try_parse("tile +");
  right &= check(!broken && says(broken.error(), "not an expression"), "try_parse says why");
  right &= check(Expression::try_parse("tile + 1").ok(), "try_parse parses what is right");
  const Result<AnyPolicy<Config>> unknown = try_make_config_policy("ranom", {make_space(), 1});
  right &=
      check(!unknown && says(unknown.error(), "random"), "try_make_config_policy names the nearest policy");
  right &= check(try_make_config_policy("random", {make_space(), 1}).ok(), "and makes one that there is");
  return right;
}

struct Idle {
  using Proposal = int;
  std::vector<int> ask(std::size_t) { return {}; }
  void tell(std::span<const Observation<int>>) {}
};
struct Identity {
  using Candidate = int;
  Generation<int> generate(int x, const History<int>&) { return Generation<int>::one(x); }
};

}  // namespace

int main() {
  bool right = faults_are_values();
  for (const ConfigPolicyEntry& policy : config_policies())
    for (const std::size_t in_flight : {1, 4})
      right &= check(search(policy.name, in_flight) == "64,20,true", policy.name.data());
  right &= check(reaches_handler("not outstanding: trial 7; tell each id",
                                 [] {
                                   Optimizer loop{Idle{}, Identity{}};
                                   loop.tell(TrialId{7}, {});
                                 }),
                 "telling an unknown id reaches the handler");
  right &= check(reaches_handler("a count of 0",
                                 [] {
                                   Optimizer loop{Idle{}, Identity{}, External{}, {.in_flight = 0}};
                                 }),
                 "wrong options reach the handler");
  right &=
      check(reaches_handler(
                "tile", [] { (void)SpaceBuilder().add(Tunable::boolean("tile")).require("tiel").build(); }),
            "a constraint on an unknown name reaches the handler");
  right &= check(reaches_handler("random",
                                 [] {
                                   (void)make_config_policy("ranom", {make_space(), 1});
                                 }),
                 "a misspelt policy reaches the handler");
  RunRecord<int, int> damaged;
  damaged.events.emplace_back(AskEvent{1, 1});
  Optimizer resumed{Idle{}, Identity{}};
  const Result<void> repeated = resumed.try_resume(damaged);
  right &= check(!repeated && repeated.error().text().find("0 instead of 1") != std::string::npos,
                 "a record that is not repeated is a fault");
  return right ? 0 : 1;
}
