// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/code_inspected.hpp"
#include "support.hpp"

using namespace kernelsearch;

static_assert(ArtifactInspector<HostCodeInspector, HostArtifact>);
static_assert(StagedEvaluator<CodeInspected<HostEvaluator, Candidate, HostCodeInspector>, Candidate>);

namespace {

std::filesystem::path script(const std::string& name, const std::string& body) {
  const auto path = support::scratch() / name;
  std::ofstream(path) << "#!/bin/sh\n" << body;
  chmod(path.c_str(), 0755);
  return path;
}

Problem problem_with(const std::string& flags) {
  return parse_problem(R"({
    "schema": 1, "name": "inspected", "function": "scale",
    "kernel": {"device": {"text": "extern \"C\" void scale(int n, const float* x, float* y) {\n#pragma GCC ivdep\n  for (int i = 0; i < n; ++i) y[i] = 3.0f * x[i] + 1.0f;\n}"}},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                  {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "build": {"compiler": "g++", "flags": [)" +
                           flags + R"(]},
    "shapes": [{"name": "one", "n": 4096}],
    "tunables": {}})",
                       support::scratch());
}

Features features_with(const std::string& flags) {
  HostOptions options;
  options.cache_directory = support::scratch() / "cache";
  options.pairs.when = Pairing::never;
  options.sampling.max_samples = options.sampling.min_samples = 3;
  if (!sandbox_status().works) options.sandbox = Sandbox::none;
  const Problem problem = problem_with(flags);
  CodeInspected<HostEvaluator, Candidate, HostCodeInspector> evaluator(
      HostEvaluator(problem, options), HostCodeInspector({.sandbox = options.sandbox}));
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  const Evaluation evaluation = evaluator.evaluate({kernel, kernel->space.default_config()}, {});
  CHECK_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
  return evaluation.features;
}

}  // namespace

TEST_CASE("HostCodeInspector: evaluated candidates have features of their machine code") {
  if (find_objdump().empty()) {
    MESSAGE("skipped: no objdump");
    return;
  }
#if defined(__x86_64__)
  const Features vector = features_with(R"("-O3", "-mavx2", "-mfma", "-ffp-contract=fast")");
  CHECK(vector.find("code.complete") == 1);
  CHECK(vector.find("code.loop.vector_256").value_or(0) >= 1);
  CHECK(vector.find("code.loop.fma").value_or(0) >= 1);
  CHECK(vector.find("code.loop.scalar_fp") == 0);
  CHECK(vector.find("library_bytes").value_or(0) > 0);  // what the evaluator says itself is kept
  const Features scalar = features_with(R"("-O2", "-fno-tree-vectorize", "-ffp-contract=off")");
  CHECK(scalar.find("code.loop.vector_256") == 0);
  CHECK(scalar.find("code.loop.vector_128") == 0);
  CHECK(scalar.find("code.loop.fma") == 0);
  CHECK(scalar.find("code.loop.scalar_fp") == 2);
#endif
}

TEST_CASE("HostCodeInspector: without objdump, or where it fails, nothing is known") {
  HostCodeInspector without({.program = "/nonexistent/objdump"});
  CHECK(find_objdump("/nonexistent/objdump").empty());
  const auto library = support::scratch() / "some.so";
  std::ofstream(library) << "x";
  CHECK(without.inspect({{}, library}).empty());
  CHECK_THROWS_WITH_AS((void)without.read(library), doctest::Contains("there is no objdump"), ConfigError);
  HostCodeInspector failing(
      {.program = script("failing", "echo 'not my format' >&2; exit 1\n"), .sandbox = Sandbox::none});
  CHECK(failing.inspect({{}, library}).empty());
  CHECK_THROWS_WITH_AS((void)failing.read(library), doctest::Contains("not my format"), ConfigError);
  CHECK_THROWS_WITH_AS((void)failing.read(support::scratch() / "none.so"),
                       doctest::Contains("cannot be opened"), ConfigError);
  HostCodeInspector hanging(
      {.program = script("hanging", "sleep 60\n"), .sandbox = Sandbox::none, .seconds = 0.2});
  CHECK(hanging.inspect({{}, library}).empty());
}

TEST_CASE("HostCodeInspector: a library is read once") {
  const auto calls = support::scratch() / "calls";
  HostCodeInspector inspector(
      {.program = script(
           "counting", "[ \"$1\" = -d ] || exit 0\necho >> " + calls.string() +
                           "\nprintf '0 <kernelsearch_entry>:\\n 0:\\tdivps %%xmm0,%%xmm1\\n 2:\\tret\\n'\n"),
       .sandbox = Sandbox::none});
  const auto library = support::scratch() / "other.so";
  std::ofstream(library) << "x";
  for (int i = 0; i < 3; ++i) CHECK(inspector.inspect({{}, library}).find("code.division") == 1);
  CHECK(support::read(calls) == "\n");
}
