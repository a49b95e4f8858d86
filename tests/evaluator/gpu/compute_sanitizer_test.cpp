// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/compute_sanitizer.hpp"

#include "evaluator/gpu/sanitizer_run.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/evaluator/validated.hpp"
#include "support.hpp"
#include "tool_support.hpp"

using namespace kernelsearch;
using detail::gpu::run_sanitizer;
using tool_test::Script;

static_assert(Validator<ComputeSanitizer, Candidate>);
using ValidatedOnGpu = Validated<GpuEvaluator, Candidate, ComputeSanitizer>;
static_assert(StagedEvaluator<ValidatedOnGpu, Candidate>);

namespace {

std::string writes(const std::string& log, const std::string& then = "exit 0\n") {
  return tool_test::takes_log + "cat > \"$log\" <<'LOG'\n" + log + "LOG\n" + then;
}

const std::string clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";
const std::string invalid =
    "========= Invalid __global__ read of size 4 bytes\n=========     at k+0x10\n========= ERROR SUMMARY: 3 "
    "errors\n";

}  // namespace

TEST_CASE("verdicts of the tools") {
  const Script failing(writes(invalid));
  const auto memcheck = run_sanitizer(failing.path(), SanitizerTool::memcheck, {"/bin/worker", "x"}, 10);
  CHECK(memcheck.verdict == Verdict::crashed);
  CHECK(memcheck.reason == "memcheck: Invalid __global__ read of size 4 bytes at k+0x10 (3 errors)");
  CHECK(memcheck.report.kernel == "k");
  const std::string words = tool_test::read_file(failing.folder() / "words");
  CHECK(words.find("--tool\nmemcheck\n") == 0);
  CHECK(words.find("\n/bin/worker\nx\n") != std::string::npos);
  CHECK(run_sanitizer(failing.path(), SanitizerTool::initcheck, {"w"}, 10).verdict == Verdict::wrong_result);
  CHECK(run_sanitizer(failing.path(), SanitizerTool::racecheck, {"w"}, 10).verdict == Verdict::wrong_result);
  CHECK(run_sanitizer(failing.path(), SanitizerTool::synccheck, {"w"}, 10).verdict == Verdict::crashed);
  const auto fine = run_sanitizer(Script(writes(clean)).path(), SanitizerTool::memcheck, {"w"}, 10);
  CHECK(fine.verdict == Verdict::ok);
  CHECK(fine.reason.empty());
}

TEST_CASE("a kernel cannot print its own acquittal") {
  const Script printing("cat <<'LOG'\n" + clean + "LOG\n" + writes(invalid));
  CHECK(run_sanitizer(printing.path(), SanitizerTool::memcheck, {"w"}, 10).verdict == Verdict::crashed);
}

TEST_CASE("a tool that gave no judgement is never taken for one that found nothing") {
  const auto run = [](const std::string& body, double seconds = 10) {
    return run_sanitizer(Script(body).path(), SanitizerTool::racecheck, {"w"}, seconds);
  };
  CHECK_THROWS_WITH_AS((void)run("echo 'Device not supported'; exit 1\n"),
                       doctest::Contains("Device not supported"), DeviceError);
  CHECK_THROWS_AS((void)run("exit 0\n"), DeviceError);
  CHECK_THROWS_AS((void)run(writes("========= COMPUTE-SANITIZER\n")), DeviceError);
  CHECK_THROWS_AS((void)run(writes(clean, "exit 3\n")), DeviceError);
  CHECK_THROWS_AS((void)run(writes(clean, "kill -9 $$\n")), DeviceError);
  const auto refused =
      run(writes(clean, "echo 'kernelsearch-gpu-worker: command 5: too many threads' >&2; exit 4\n"));
  CHECK(refused.verdict == Verdict::launch_failed);
  CHECK(refused.reason.find("too many threads") != std::string::npos);
  const auto late = run("sleep 60\n", 0.3);
  CHECK(late.verdict == Verdict::timed_out);
}

TEST_CASE("names of tools") {
  CHECK(sanitizer_tools("racecheck,memcheck") ==
        std::vector<SanitizerTool>{SanitizerTool::racecheck, SanitizerTool::memcheck});
  CHECK(sanitizer_tools("").empty());
  CHECK_THROWS_WITH_AS((void)sanitizer_tools("memcheck,leaks"), doctest::Contains("leaks"), ConfigError);
  CHECK(to_string(SanitizerTool::synccheck) == "synccheck");
}

TEST_CASE("without the program there is no validator, nor for other backends") {
  Problem problem = support::DeviceProblem{}.parsed();
  CHECK_THROWS_AS(ComputeSanitizer(problem, gpu_test::quick()), ConfigError);
  problem.backend = Backend::cuda;
  CHECK_THROWS_WITH_AS(ComputeSanitizer(problem, gpu_test::quick(), {.program = "/nonexistent/cs"}),
                       doctest::Contains("Compute Sanitizer is not there: /nonexistent/cs"), ConfigError);
}
