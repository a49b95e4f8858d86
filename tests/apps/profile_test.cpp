// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "apps/command.hpp"

using namespace kernelsearch_test;

namespace {

// Nothing here needs a GPU or a tool of NVIDIA's: what cannot be had is found out before one is started.
const std::string profiled_problem = R"({
  "schema": 1, "name": "twice", "backend": "BACKEND", "function": "twice",
  "kernel": {"device": {"text": "CODE"}},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "large", "n": 5000}, {"name": "odd", "n": 37, "weight": 0}],
  "tunables": {"UNROLL": [1, 2, 4], "WIDE": {"values": [1, 2]}}, "constraints": ["UNROLL * WIDE <= 4"] MORE,
  "reference": {"function": "twice_reference" LAUNCH,
                "source": {"text": "REFERENCE"}}})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string cuda_problem() {
  std::string text = replaced(profiled_problem, "BACKEND", "cuda");
  text = replaced(text, "CODE", "extern \\\"C\\\" __global__ void twice(int n, const float* x, float* y) {}");
  text = replaced(text, "MORE", R"(, "launch": {"grid": [1], "block": [32]})");
  text = replaced(text, "LAUNCH", R"(, "launch": {"grid": [1], "block": [32]})");
  return replaced(text, "REFERENCE",
                  "extern \\\"C\\\" __global__ void twice_reference(int n, const real* x, real* y) {}");
}

std::string host_problem() {
  std::string text = replaced(profiled_problem, "BACKEND", "host");
  text = replaced(text, "CODE",
                  "extern \\\"C\\\" void twice(int n, const float* x, float* y) { for (int i = 0; i < n; "
                  "++i) y[i] = 2 * x[i]; }");
  text = replaced(replaced(text, "MORE", ""), "LAUNCH", "");
  return replaced(
      text, "REFERENCE",
      "void twice_reference(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }");
}

}  // namespace

TEST_CASE("command: profile says which settings it does not know") {
  const Desk desk;
  std::filesystem::create_directory(desk.path() / "twice");
  write_text(desk.path() / "twice" / "problem.json", cuda_problem());
  const auto refused = [&](const std::vector<std::string>& more, const std::string& words) {
    std::vector<std::string> arguments{"profile", "twice"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = desk.kernelsearch(arguments);
    CHECK(ran.code == 3);
    CHECK(ran.out == "");
    INFO(ran.err);
    CHECK(ran.err.find(words) != std::string::npos);
  };
  refused({"--config", R"({"UNROL": 2})"}, "there is no such tunable: UNROL; did you mean UNROLL?");
  refused({"--config", R"({"UNROLL": 3})"}, "a value is not one of its tunable's");
  refused({"--config", R"({"UNROLL": 4, "WIDE": 2})"}, "break a constraint");
  refused({"--config", "{"}, "--config");
  refused({"--config", "[1]"}, "no such settings");
  refused({"--config", "fastest"}, "no such settings: fastest");
  refused({"--config", "best"}, "there is no store of runs yet");
  write_text(desk.path() / "settings.json", R"({"WIDE": 3})");
  refused({"--config", "settings.json"}, "a value is not one of its tunable's");
  // right settings: the next thing missing is the tool
  write_text(desk.path() / "settings.json", R"({"WIDE": 2})");
  setenv("KERNELSEARCH_NCU", "/nonexistent/ncu", 1);
  setenv("KERNELSEARCH_COMPUTE_SANITIZER", "/nonexistent/sanitizer", 1);
  refused({"--config", "settings.json"}, "Nsight Compute is not there");
  refused({"--no-counters", "--sanitize", "memcheck"}, "Compute Sanitizer is not there");
  refused({"--no-counters", "--sanitize", "memchek"}, "no such tool of Compute Sanitizer: memchek");
  unsetenv("KERNELSEARCH_NCU");
  unsetenv("KERNELSEARCH_COMPUTE_SANITIZER");
}

TEST_CASE("command: profile is for GPUs, and finds the winner of a problem's newest run") {
  const Desk desk;
  std::filesystem::create_directory(desk.path() / "twice");
  write_text(desk.path() / "twice" / "problem.json", host_problem());
  const Ran tuned = desk.kernelsearch(
      {"tune", "twice", "--budget", "3", "--store", "runs.db", "--out", "tuned", "--sandbox", "none"});
  REQUIRE_MESSAGE(tuned.code == 0, tuned.err);
  const Ran best = desk.kernelsearch({"profile", "twice", "--config", "best", "--store", "runs.db"});
  CHECK(best.code == 3);
  CHECK_MESSAGE(best.err.find("Nsight Compute profiles CUDA kernels: host") != std::string::npos, best.err);
  write_text(desk.path() / "twice" / "problem.json", cuda_problem());
  const Ran other = desk.kernelsearch({"profile", "twice", "--config", "best", "--store", "runs.db"});
  CHECK(other.code == 3);
  CHECK_MESSAGE(other.err.find("no run of this problem has a winner") != std::string::npos, other.err);
}
