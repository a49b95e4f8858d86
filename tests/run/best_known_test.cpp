// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/best_known.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/space/space_builder.hpp"
#include "kernelsearch/store/kernel_codec.hpp"
#include "kernelsearch/store/run_recorder.hpp"
#include "run/idle_tunables.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using detail::best_known;
using detail::config_of_values;
using detail::without_idle_tunables;

namespace {

Space two_tunables() {
  return SpaceBuilder()
      .add(Tunable::power_of_two("A", 1, 8))
      .add(Tunable::boolean("B"))
      .require("A < 8 or B")
      .build();
}

Problem known_problem() {
  Problem problem;
  problem.name = "known";
  problem.kernel = {{"int f() { return A; }", "", ""}, two_tunables()};
  return problem;
}

/// A run with one right trial for each pair of values and seconds.
void add_run(RunStore& store, const Kernel& kernel, const std::string& digest, const std::string& device,
             const std::vector<std::pair<Config, double>>& trials) {
  const RunId id =
      store.begin_run({.problem = "known", .problem_digest = digest, .policy = "random", .device = device});
  RunRecorder<Config> recorder(store, id, CandidateCodec<Candidate>());
  const auto shared = std::make_shared<const Kernel>(kernel);
  std::uint64_t number = 0;
  for (const auto& [config, seconds] : trials) {
    Outcome outcome;
    outcome.id = TrialId{number++};
    outcome.evaluation = Evaluation::succeeded(seconds);
    outcome.objective = seconds;
    recorder.on_trial({Candidate{shared, config}, outcome}, config);
  }
  recorder.on_end("done");
}

}  // namespace

TEST_CASE("best known: the fastest configuration of the same code, measured in the same way") {
  const TemporaryFolder folder;
  RunStore store(folder.path() / "runs.db");
  const Problem problem = known_problem();
  CHECK_FALSE(best_known(store, problem, "d", "gpu"));
  add_run(store, problem.kernel, "d", "gpu",
          {{Config{{0, 0}}, 4.0}, {Config{{2, 1}}, 3.0}, {Config{{1, 0}}, 3.5}});
  auto found = best_known(store, problem, "d", "gpu");
  REQUIRE(found);
  CHECK(found->config == Config{{2, 1}});
  CHECK(found->values == R"({"A":4,"B":true})");
  CHECK(found->seconds == 3.0);
  CHECK(found->trial == TrialId{1});
  CHECK(detail::told(problem.kernel.space, *found).find("A = 4, B = true (run 1, trial 1, ") !=
        std::string::npos);
  // Measured otherwise, elsewhere, of other code: not this kernel's.
  add_run(store, problem.kernel, "other", "gpu", {{Config{{1, 1}}, 1.0}});
  add_run(store, problem.kernel, "d", "another", {{Config{{1, 1}}, 1.0}});
  Kernel other = problem.kernel;
  other.regions.device = "int f() { return 2 * A; }";
  add_run(store, other, "d", "gpu", {{Config{{1, 1}}, 1.0}});
  CHECK(best_known(store, problem, "d", "gpu")->config == Config{{2, 1}});
  // A part of the space that lacks the best has its own.
  Problem part = problem;
  part.kernel.space = SpaceBuilder()
                          .add(Tunable::power_of_two("A", 1, 8))
                          .add(Tunable::boolean("B"))
                          .require("A < 4")
                          .build();
  CHECK(best_known(store, part, "d", "gpu")->config == Config{{1, 0}});
  // The default needs no telling.
  add_run(store, problem.kernel, "d", "gpu", {{problem.kernel.space.default_config(), 0.5}});
  CHECK_FALSE(best_known(store, problem, "d", "gpu"));
  CHECK(config_of_values(problem.kernel.space, R"({"A": 4, "B": true})") == Config{{2, 1}});
  for (const char* none :
       {"", "{}", "[]", R"({"A": 4})", R"({"A": 3, "B": true})", R"({"A": 8, "B": false})"})
    CHECK_FALSE(config_of_values(problem.kernel.space, none));
}

TEST_CASE("idle tunables: what neither text nor problem reads keeps its value") {
  const Problem problem = known_problem();
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  const Candidate held = without_idle_tunables(problem, {kernel, Config{{1, 0}}});  // B is not in the text
  CHECK(held.kernel->space.count() == BigCount(3));                                 // A = 8 needs B
  CHECK(held.kernel->space.contains(Config{{2, 0}}));
  CHECK_FALSE(held.kernel->space.contains(Config{{2, 1}}));
  CHECK(held.kernel->space.key(held.config) == kernel->space.key(Config{{1, 0}}));
  CHECK(candidate_digest(held) == candidate_digest({kernel, Config{{1, 0}}}));
  Kernel both = problem.kernel;
  both.regions.macros = "#if B\n#endif\n";
  const auto used = std::make_shared<const Kernel>(both);
  CHECK(without_idle_tunables(problem, {used, Config{{1, 0}}}).kernel == used);
  Problem flags = problem;
  flags.build.flags = {"-DX=${B}"};
  CHECK(without_idle_tunables(flags, {kernel, Config{{1, 0}}}).kernel == kernel);
}
