// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/ncu_profiler.hpp"

#include "evaluator/gpu/ncu_run.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/evaluator/profiled.hpp"
#include "support.hpp"
#include "support/approx.hpp"
#include "tool_support.hpp"

using namespace kernelsearch;
using detail::gpu::NcuTask;
using detail::gpu::run_ncu;
using kernelsearch::test::approx;
using tool_test::Script;

static_assert(Profiler<NcuProfiler, Candidate>);
using ProfiledOnGpu = Profiled<GpuEvaluator, Candidate, NcuProfiler>;
static_assert(StagedEvaluator<ProfiledOnGpu, Candidate>);

namespace {

const std::string table =
    "cat > \"$log\" <<'TABLE'\n"
    "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"ns\"\n\"0\",\"scale\",\"1500\"\nTABLE\n";

}  // namespace

TEST_CASE("ncu is run on exactly the kernels, and its table is read from a file of its own") {
  const Script ncu(tool_test::takes_log + table + "echo '\"ID\",\"Kernel Name\",\"fake\"'\n");
  std::vector<std::string> metrics{"gpu__time_duration.sum", "a.b"};
  NcuTask task;
  task.command = {"/bin/worker", "cuda", "0", "--frames", "/tmp/f"};
  task.kernels = {"scale", "a$b"};
  task.skip = 3;
  task.count = 2;
  const NcuObservation seen = run_ncu(ncu.path(), task, metrics);
  CHECK(seen.problem.empty());
  REQUIRE(seen.launches.size() == 1);
  CHECK(seen.features.find("ncu.seconds") == approx(1.5e-6));
  const std::string words = tool_test::read_file(ncu.folder() / "words");
  for (const char* expected :
       {"--clock-control\nnone\n", "--cache-control\nall\n", "--launch-skip\n3\n", "--launch-count\n2\n",
        "--kernel-name\nregex:^(scale|a\\$b)$\n", "--metrics\ngpu__time_duration.sum,a.b\n",
        "\n/bin/worker\ncuda\n0\n--frames\n/tmp/f\n"})
    CHECK_MESSAGE(words.find(expected) != std::string::npos, expected);
  task.cold = false;
  (void)run_ncu(ncu.path(), task, metrics);
  CHECK(tool_test::read_file(ncu.folder() / "words").find("--cache-control\nnone\n") != std::string::npos);
}

TEST_CASE("metrics that ncu does not know are left out from then on") {
  const Script ncu(tool_test::takes_log +
                   "if grep -q 'unknown__one.sum' \"$(dirname \"$0\")/words\" && [ ! -e \"$(dirname "
                   "\"$0\")/again\" ]; then\n"
                   "  touch \"$(dirname \"$0\")/again\"\n"
                   "  echo '==ERROR== Failed to find metric unknown__one.sum' > \"$log\"; exit 1\n"
                   "fi\n" +
                   table);
  std::vector<std::string> metrics{"unknown__one.sum", "unknown__one.sum.per_second", "known"};
  const NcuObservation seen = run_ncu(ncu.path(), {.command = {"w"}, .kernels = {"scale"}}, metrics);
  CHECK(seen.problem.empty());
  CHECK(seen.launches.size() == 1);
  CHECK(metrics == std::vector<std::string>{"unknown__one.sum.per_second", "known"});
}

TEST_CASE("counters that may not be read are said, with what to do") {
  const Script ncu(
      tool_test::takes_log +
      "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
      "Performance Counters on the target device 0.' > \"$log\"; exit 1\n");
  std::vector<std::string> metrics{"m"};
  CHECK_THROWS_WITH_AS((void)run_ncu(ncu.path(), {.command = {"w"}, .kernels = {"k"}}, metrics),
                       doctest::Contains("NVreg_RestrictProfilingToAdminUsers=0"), ConfigError);
}

TEST_CASE("what else goes wrong is the observation's problem") {
  std::vector<std::string> metrics{"m"};
  const NcuTask task{.command = {"w"}, .kernels = {"k"}, .seconds = 0.3};
  CHECK(run_ncu(Script("sleep 60\n").path(), task, metrics).problem.find("did not finish") !=
        std::string::npos);
  CHECK(run_ncu(Script("echo '==ERROR== Driver too old'; exit 9\n").path(), task, metrics).problem ==
        "ncu: Driver too old");
  CHECK(run_ncu(Script("echo 'worker: no device' >&2; exit 4\n").path(), task, metrics).problem ==
        "worker: no device");
  CHECK(run_ncu(Script("exit 0\n").path(), task, metrics).problem == "ncu saw none of the kernels k");
  CHECK(metrics.size() == 1);
}

TEST_CASE("without ncu there is no profiler, nor for other backends") {
  Problem problem = support::DeviceProblem{}.parsed();
  CHECK_THROWS_WITH_AS(NcuProfiler(problem, gpu_test::quick()),
                       doctest::Contains("Nsight Compute profiles CUDA"), ConfigError);
  problem.backend = Backend::cuda;
  CHECK_THROWS_WITH_AS(NcuProfiler(problem, gpu_test::quick(), {.program = "/nonexistent/ncu"}),
                       doctest::Contains("Nsight Compute is not there: /nonexistent/ncu"), ConfigError);
}
