// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/replay_target.hpp"

#include <sys/wait.h>

#include "evaluator/gpu/tool.hpp"
#include "kernelsearch/core/error.hpp"
#include "support.hpp"

namespace {

using namespace kernelsearch;
using namespace kernelsearch::detail::gpu;
using kernelsearch::detail::Finished;
using support::default_candidate;
using support::DeviceProblem;
using support::with_code;

struct Replayed {
  std::string problem;
  std::size_t launches = 0;
  int status = 0;
  std::string errors;
  [[nodiscard]] int code() const { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
};

Replayed replay(const DeviceProblem& text, const std::string& code, const ReplayCall& call,
                bool exact = false) {
  ReplayTarget target(text.parsed(), gpu_test::quick());
  const Candidate candidate =
      code.empty() ? default_candidate(target.problem()) : with_code(target.problem(), code);
  const Built built = target.build(candidate);
  REQUIRE_MESSAGE(built.verdict == Verdict::ok, built.reason);
  const kernelsearch::detail::ScratchFolder scratch;
  const auto file = scratch.path() / "frames";
  Replayed replayed;
  replayed.problem = target.write(candidate, built, call, file, replayed.launches);
  if (!replayed.problem.empty()) return replayed;
  const Finished finished = run_tool(target.command(file, exact), 60);
  REQUIRE(!finished.timed_out);
  replayed.status = finished.status;
  replayed.errors = finished.errors;
  return replayed;
}

TEST_CASE("a candidate runs without a controller, on inputs as declared, in every call") {
  DeviceProblem problem;
  problem.arguments =
      R"([{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n", "low": 2, "high": 3},
                          {"name": "y", "type": "f32", "size": "n", "role": "inout", "low": 5, "high": 6}])";
  problem.reference.clear();
  // Traps where an input is not what was declared, and leaves its second one different.
  const std::string code =
      "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  if (!(x[i] >= 2 && x[i] < 3 && y[i] >= 5 && y[i] < 6)) __builtin_trap();\n"
      "  y[i] += 100 * WRONG;\n"
      "}\n";
  const auto with = [&](const char* wrong) { return "#define WRONG " + std::string(wrong) + "\n" + code; };
  CHECK(replay(problem, with("1"), {.shape = 1, .seed = 7}).code() == 0);
  CHECK(replay(problem, with("1"), {.shape = 1, .seed = 7, .warm_up = 0}).code() == 0);
  // With two calls to warm up the second finds what the first left, and dies.
  CHECK(replay(problem, with("1"), {.shape = 1, .seed = 7, .warm_up = 2}).code() != 0);
  CHECK(replay(problem, with("0"), {.shape = 1, .seed = 7, .warm_up = 2}).code() == 0);
}

TEST_CASE("launches are counted, and a call that cannot be planned is said") {
  DeviceProblem problem;
  CHECK(replay(problem, {}, {.shape = 0, .seed = 1}).launches == 1);
  problem.launch =
      R"([{"zero": "y"}, {"function": "scale", "arguments": ["n", "x", "y"], "grid": [8], "block": [128]},
                       {"function": "scale", "arguments": ["n", "x", "y"], "grid": [8], "block": [128], "if": "n > 100"}])";
  CHECK(replay(problem, {}, {.shape = 0, .seed = 1}).launches == 1);
  CHECK(replay(problem, {}, {.shape = 1, .seed = 1}).launches == 2);
  // whole for the default only
  problem.more = R"(, "tunables": {"PER": {"values": [1, 3]}})";
  problem.launch = R"({"grid": ["n / PER"], "block": [128]})";
  ReplayTarget target(problem.parsed(), gpu_test::quick());
  const Candidate third{std::make_shared<const Kernel>(target.problem().kernel), Config{{1}}};
  std::size_t launches = 0;
  CHECK(target.write(third, target.build(third), {.shape = 0, .seed = 1}, "/nonexistent/frames", launches)
            .find("the grid") == 0);
  CHECK_THROWS_AS((void)target.write(default_candidate(target.problem()), target.build(third),
                                     {.shape = 0, .seed = 1}, "/nonexistent/frames", launches),
                  DeviceError);
  problem.launch = R"({"grid": [8], "block": [128]})";
  problem.more = R"(, "valid": "n > 100")";
  CHECK(replay(problem, {}, {.shape = 0, .seed = 1}).problem == "`valid` is false for shape small");
  CHECK_THROWS_AS((void)replay(problem, {}, {.shape = 2, .seed = 1}), ConfigError);
}

TEST_CASE("buffers have zones around them unless they are to be exact") {
  const std::string code =
      "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
      "  if (blockIdx.x == 0 && threadIdx.x == 0) y[n + 600] = 1;\n"
      "}\n";
  const ReplayCall call{.shape = 1, .seed = 1, .warm_up = 0};
  CHECK(replay({}, code, call, false).code() == 0);
  const Replayed exact = replay({}, code, call, true);
  CHECK(exact.code() == replay_refused);
  CHECK(exact.errors.find("illegal") != std::string::npos);
}

TEST_CASE("the shape to look at") {
  DeviceProblem problem;
  problem.shapes =
      R"([{"name": "small", "n": 37, "weight": 0}, {"name": "a", "n": 1000}, {"name": "b", "n": 500, "weight": 3}])";
  ReplayTarget target(problem.parsed(), gpu_test::quick());
  const Candidate candidate = default_candidate(target.problem());
  CHECK(target.shape(candidate, "", false) == 2);
  CHECK(target.shape(candidate, "", true) == 0);
  CHECK(target.shape(candidate, "a", true) == 1);
  CHECK_THROWS_AS((void)target.shape(candidate, "c", true), ConfigError);
  problem.more = R"(, "valid": "n > 500")";
  ReplayTarget other(problem.parsed(), gpu_test::quick());
  CHECK(other.shape(candidate, "", false) == 1);
  CHECK(other.shape(candidate, "", true) == 1);
  problem.more = R"(, "valid": "n > 5000 or PER == 1", "tunables": {"PER": {"values": [1, 3]}})";
  ReplayTarget third(problem.parsed(), gpu_test::quick());
  const auto kernel = std::make_shared<const Kernel>(third.problem().kernel);
  CHECK(third.shape({kernel, Config{{0}}}, "", false) == 2);
  CHECK(!third.shape({kernel, Config{{1}}}, "", false));
}

TEST_CASE("a device that is not there, none chosen, another backend") {
  GpuOptions options = gpu_test::quick();
  options.devices = {99};
  CHECK_THROWS_AS(ReplayTarget(DeviceProblem{}.parsed(), options), DeviceError);
  options.devices.clear();
  CHECK_THROWS_AS(ReplayTarget(DeviceProblem{}.parsed(), options), ConfigError);
  Problem host = DeviceProblem{}.parsed();
  host.backend = Backend::host;
  CHECK_THROWS_AS(ReplayTarget(host, gpu_test::quick()), ConfigError);
}

}  // namespace
