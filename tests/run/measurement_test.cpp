// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/measurement.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <thread>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/process/sandbox.hpp"
#include "kernelsearch/run/finalists.hpp"
#include "run/support.hpp"

using namespace kernelsearch;

TEST_CASE("host_options, gpu_options: what the options say, and the defaults of each backend") {
  MeasurementOptions options;
  CHECK(cache_mode(options, Backend::host) == "warm");
  CHECK(cache_mode(options, Backend::cuda) == "cold");
  CHECK(cache_mode(options, Backend::hip) == "cold");
  CHECK(host_options(options).sandbox == resolved(Sandbox::automatic));
  CHECK(host_options(options).cache == CacheMode::warm);
  CHECK(host_options(options).core == host_machine().cores.back());
  CHECK(gpu_options(options).cache == CacheMode::cold);
  const SamplingOptions defaults = HostOptions{}.sampling;
  CHECK(host_options(options).sampling.min_samples == defaults.min_samples);
  options = {"none", "cold", 0, {2, 3}, 5, 7};
  CHECK(cache_mode(options, Backend::host) == "cold");
  CHECK(host_options(options).sandbox == Sandbox::none);
  CHECK(host_options(options).cache == CacheMode::cold);
  CHECK(host_options(options).core == 0);
  CHECK(host_options(options).sampling.min_samples == 7);
  CHECK(host_options(options).sampling.max_samples == 7);
  CHECK(gpu_options(options).devices == std::vector<int>{2, 3});
  CHECK(gpu_options(options).builders == 5);
  CHECK(gpu_options(options).sampling.max_samples == 7);
  options.cache = "warm";
  CHECK(gpu_options(options).cache == CacheMode::warm);
}

TEST_CASE("finalist_pairs: no more pairs than samples, and one pair of processes where those are few") {
  const PairOptions standard = FinalistSteps().pairs;
  MeasurementOptions options;
  CHECK(finalist_pairs(options).max_pairs == standard.max_pairs);
  CHECK(finalist_pairs(options).rounds == standard.rounds);
  CHECK(host_options(options).finalist_rounds == HostOptions{}.finalist_rounds);
  options.samples = 30;
  CHECK(finalist_pairs(options).max_pairs == 30);
  CHECK(finalist_pairs(options).min_pairs == standard.min_pairs);
  CHECK(finalist_pairs(options).rounds == standard.rounds);
  CHECK(host_options(options).finalist_rounds == HostOptions{}.finalist_rounds);
  options.samples = 5;
  CHECK(finalist_pairs(options).min_pairs == 5);
  CHECK(finalist_pairs(options).max_pairs == 5);
  CHECK(finalist_pairs(options).rounds == 1);
  CHECK(host_options(options).finalist_rounds == 1);
  CHECK(host_options(options).pairs.max_pairs == 5);
}

TEST_CASE("chosen_sandbox: what is asked for, and an error where it is weaker than required") {
  MeasurementOptions options;
  options.sandbox = "none";
  CHECK(chosen_sandbox(options) == Sandbox::none);
  options.require_sandbox = "landlock";
  CHECK_THROWS_WITH_AS((void)chosen_sandbox(options),
                       doctest::Contains("the sandbox is weaker than required: none, required landlock"),
                       ConfigError);
  CHECK_THROWS_AS((void)make_evaluator(run_test::small_problem(), options), ConfigError);
  for (const Sandbox sandbox : {Sandbox::bubblewrap, Sandbox::landlock}) {
    if (!sandbox_status(sandbox).works) continue;
    options = {};
    options.sandbox = to_string(sandbox);
    CHECK(chosen_sandbox(options) == sandbox);
    options.require_sandbox = options.sandbox;
    CHECK(chosen_sandbox(options) == sandbox);
  }
  options = {};
  options.require_sandbox = "auto";
  CHECK_THROWS_WITH_AS((void)chosen_sandbox(options), doctest::Contains("must be named"), ConfigError);
  options = {};
  options.sandbox = "firejail";
  CHECK_THROWS_WITH_AS((void)chosen_sandbox(options), doctest::Contains("no such sandbox"), ConfigError);
}

TEST_CASE("leave_core_to_measuring: this thread keeps off it, others do not, and one core alone stays") {
  const std::vector<int> cores = host_machine().cores;
  std::vector<int> left;
  std::thread([&] {
    leave_core_to_measuring(cores.back());
    left = host_machine().cores;
    leave_core_to_measuring(left.empty() ? 0 : left.front());
    leave_core_to_measuring(left.empty() ? 0 : left.front());
    CHECK(!host_machine().cores.empty());
  }).join();
  CHECK(left.size() == (cores.size() > 1 ? cores.size() - 1 : 1));
  if (cores.size() > 1) CHECK(std::find(left.begin(), left.end(), cores.back()) == left.end());
  CHECK(host_machine().cores == cores);
}

TEST_CASE("make_evaluator: a backend that this machine has none for is a ConfigError") {
  Problem problem = run_test::small_problem();
  problem.backend = Backend::opencl;
  CHECK_THROWS_AS((void)make_evaluator(problem, {}), Error);
  CHECK_THROWS_AS((void)make_pairing_evaluator(problem, {}), Error);
}

TEST_CASE("make_evaluator: candidates' machine code is looked into where that is asked for") {
  const Problem problem = run_test::small_problem();
  MeasurementOptions options;
  if (!sandbox_status().works) options.sandbox = "none";
  options.samples = 3;
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  const Candidate candidate{kernel, kernel->space.default_config()};
  AnyEvaluator plain = make_evaluator(problem, options);
  CHECK(!plain.evaluate(candidate, {}).features.find("code.complete"));
  options.inspect = true;
  AnyEvaluator inspecting = make_evaluator(problem, options);
  CHECK(inspecting.device_id() == plain.device_id());
  if (find_objdump().empty()) return;
  CHECK(inspecting.evaluate(candidate, {}).features.find("code.instructions").value_or(0) > 0);
}
