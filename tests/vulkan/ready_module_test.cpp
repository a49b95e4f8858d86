// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A ready module of SPIR-V as a kernel: made here by glslangValidator, then judged, refused and written.
#include "shader/ready_module.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "shader/shader_text.hpp"
#include "shader/spirv_words.hpp"
#include "vulkan/problems.hpp"
#include "vulkan/support.hpp"

using namespace vulkan_test;

namespace {

/// y = scale x FACTOR + 1, right where FACTOR is 1, in groups of GROUP.
const std::string ready_text_of_axpy = R"(#version 450
layout(constant_id = 3) const uint GROUP = 16;
layout(constant_id = 7) const float FACTOR = 5.0;
layout(local_size_x_id = 3) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Sizes { int n; float scale; };
shared float part[GROUP];
void main() {
  const int i = int(gl_GlobalInvocationID.x);
  part[gl_LocalInvocationID.x] = scale * FACTOR;
  barrier();
  if (i < n) y[i] = part[GROUP - 1 - gl_LocalInvocationID.x] * x[i] + 1.0;
}
)";

std::vector<std::uint32_t> compiled(const std::string& text, std::vector<std::string> options = {}) {
  ShaderBuild build;
  build.text = text;
  build.options = std::move(options);
  ShaderBuilt built = run_glslang(find_glslang(), build);
  REQUIRE_MESSAGE(!built.words.empty(), built.log);
  return std::move(built.words);
}

/// Without the names of variables, constants and members.
std::vector<std::uint32_t> stripped(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint32_t> out(words.begin(), words.begin() + 5);
  spirv::for_each_instruction(std::span(words), [&](std::uint32_t op, std::span<const std::uint32_t> w) {
    if (op != spirv::op_name && op != spirv::op_member_name) out.insert(out.end(), w.begin(), w.end());
  });
  return out;
}

/// The folder of the problem with the module's bytes, and changes to its JSON.
struct Change {
  std::string from, to;
};
void write_ready(const TemporaryFolder& folder, const std::string& module,
                 const std::vector<Change>& changes = {}) {
  std::string json = R"({
  "schema": 1, "name": "axpy", "backend": "vulkan", "function": "axpy", "kernel": {"device": "axpy.spv"},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "scale", "type": "f32", "value": 2.5},
                {"name": "x", "type": "f32", "size": "n"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "whole", "n": 65536}, {"name": "odd", "n": 1001, "weight": 0}],
  "tunables": {"GROUP": [32, 64, 128], "FACTOR": [1.0, 2.0]},
  "launch": {"grid": ["(n + GROUP - 1) // GROUP"], "block": ["GROUP"]},
  "reference": {"source": "reference.comp", "function": "axpy_reference",
                "launch": {"grid": ["(n + 63) // 64"], "block": [64]}},
  "tolerances": {"f32": {"absolute": 1e-5}}, "operations": "2*n", "bytes": "8*n"
})";
  for (const Change& change : changes) {
    REQUIRE_MESSAGE(json.find(change.from) != std::string::npos, change.from);
    json.replace(json.find(change.from), change.from.size(), change.to);
  }
  folder.write("problem.json", json);
  folder.write("axpy.spv", module);
  folder.write("reference.comp", axpy().reference.source);
}

std::string why_refused(const std::string& module, const std::vector<Change>& changes = {}) {
  const TemporaryFolder folder;
  write_ready(folder, module, changes);
  try {
    (void)read_problem(folder.path());
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

std::string says(const std::string& text, std::string_view part) {
  return contains(text, part) ? std::string() : text.empty() ? "it was taken" : text;
}

}  // namespace

TEST_CASE("Vulkan: a ready module is judged with its tunables as specialisation constants") {
  if (skipped()) return;
  const std::vector<std::uint32_t> words = compiled(ready_text_of_axpy);
  for (const bool named : {true, false}) {
    CAPTURE(named);
    const TemporaryFolder folder, cache;
    if (named)
      write_ready(folder, ready_bytes(words));
    else
      write_ready(folder, ready_bytes(stripped(words)),
                  {{"\"GROUP\": [32", "\"constant_3\": [32"},
                   {"\"FACTOR\"", "\"constant_7\""},
                   {"(n + GROUP - 1) // GROUP", "(n + constant_3 - 1) // constant_3"},
                   {"[\"GROUP\"]", "[\"constant_3\"]"}});
    const Problem problem = read_problem(folder.path());
    GpuEvaluator evaluator(problem, quick(cache.path()));
    const auto kernel = std::make_shared<const Kernel>(problem.kernel);
    const std::size_t group = *kernel->space.find(named ? "GROUP" : "constant_3"),
                      factor = *kernel->space.find(named ? "FACTOR" : "constant_7");
    for (std::uint32_t g = 0; g < 3; ++g)
      for (std::uint32_t f = 0; f < 2; ++f) {
        Config config = kernel->space.default_config();
        config.indices[group] = g;
        config.indices[factor] = f;
        const Evaluation got = evaluator.evaluate({kernel, config}, {});
        CAPTURE(kernel->space.key(config));
        CHECK_MESSAGE(got.verdict == (f == 0 ? Verdict::ok : Verdict::wrong_result), got.reason);
        if (f == 0) CHECK(got.features.find("shared_bytes") == 4.0 * (32u << g));
      }
  }
}

TEST_CASE("Vulkan: tunables that only the launch names need no constant, others do") {
  if (skipped()) return;
  const std::string module = ready_bytes(compiled(ready_text_of_axpy));
  const std::vector<Change> grid{{"\"FACTOR\": [1.0, 2.0]", "\"FACTOR\": [1.0], \"SPARE\": [0, 1]"},
                                 {"\"(n + GROUP - 1) // GROUP\"", "\"(n + GROUP - 1) // GROUP + SPARE\""}};
  const TemporaryFolder folder, cache;
  write_ready(folder, module, grid);
  const Problem problem = read_problem(folder.path());
  GpuEvaluator evaluator(problem, quick(cache.path()));
  Candidate candidate = problem.default_candidate();
  candidate.config.indices[*candidate.kernel->space.find("SPARE")] = 1;
  const Evaluation got = evaluator.evaluate(candidate, {});
  CHECK_MESSAGE(got.verdict == Verdict::ok, got.reason);

  const std::string why = why_refused(module, {{"\"FACTOR\": [1.0, 2.0]", "\"UNROLL\": [1, 2]"}});
  CHECK(says(why, "/tunables/UNROLL is a tunable that the module cannot have") == "");
  CHECK(says(why, "its specialisation constants are GROUP, FACTOR") == "");
  CHECK(says(why_refused(module, {{"[1.0, 2.0]", "[\"fast\"]"}}), "FACTOR cannot be fast: it is a number") ==
        "");
}

TEST_CASE("Vulkan: what is no module that can be launched is refused when the problem is read") {
  if (skipped()) return;
  const std::vector<std::uint32_t> words = compiled(ready_text_of_axpy);
  const std::string module = ready_bytes(words);
  CHECK(why_refused(module) == "");
  CHECK(why_refused("// listed by glslangValidator -x\n" + ready_text(words)) == "");
  CHECK(says(why_refused("#version 450\nvoid main() {}\n"), "this is not a module of SPIR-V") == "");
  CHECK(says(why_refused("0x07230203,0x00010300,neither\n"), "no number behind word 2") == "");
  CHECK(says(why_refused(module.substr(0, module.size() - 2)), "not a number of words") == "");
  CHECK(says(why_refused(module.substr(0, module.size() / 8 * 4)), "this module is cut short") == "");
  std::vector<std::uint32_t> newer = words;
  newer[1] = 0x00010600;
  CHECK(says(why_refused(ready_bytes(newer)), "SPIR-V 1.6") == "");
  CHECK(says(why_refused(module, {{"\"axpy.spv\"}", "\"axpy.spv\", \"macros\": {\"text\": \"int a;\"}}"}}),
             "/kernel/macros") == "");
  CHECK(says(why_refused(module, {{"\"backend\": \"vulkan\"", "\"backend\": \"opencl\""}}),
             "a kernel of Vulkan alone") == "");
  CHECK(says(why_refused(module, {{"\"reference.comp\"", "\"axpy.spv\""}}),
             "write the reference as a source") == "");
  // Two kernels of a module that has one: each would be the other.
  CHECK(
      says(why_refused(module, {{"{\"grid\": [\"(n + GROUP - 1) // GROUP\"], \"block\": [\"GROUP\"]}",
                                 "[{\"function\": \"first\", \"grid\": [\"n\"], \"block\": [\"GROUP\"]}, "
                                 "{\"function\": \"second\", \"grid\": [\"n\"], \"block\": [\"GROUP\"]}]"}}),
           "its entry points are main") == "");
}

TEST_CASE("Vulkan: a problem with a ready module is written and read again as it was") {
  if (skipped()) return;
  const std::string module = ready_bytes(compiled(ready_text_of_axpy));
  const TemporaryFolder folder, other;
  write_ready(folder, module);
  const Problem problem = read_problem(folder.path());
  write_problem(problem, other / "copy");
  CHECK(kernelsearch_test::read_text(other / "copy/axpy.spv") == module);
  CHECK(read_problem(other / "copy").kernel.regions == problem.kernel.regions);
  const Problem inside = parse_problem(problem_json(problem), {});
  CHECK(inside.kernel.regions == problem.kernel.regions);
  CHECK(inside.names.device == "axpy.spv");
}

TEST_CASE(
    "Vulkan: the winner of a ready module is a module that needs no specialisation; check and systems") {
  if (skipped()) return;
  const kernelsearch_test::Desk desk;
  const TemporaryFolder folder;
  const std::vector<std::uint32_t> words = compiled(ready_text_of_axpy);
  write_ready(folder, ready_bytes(words));
  std::filesystem::copy(folder.path(), desk.path() / "axpy");
  auto ran = desk.kernelsearch({"check", "axpy", "--quick"});
  CHECK_MESSAGE(ran.code == 0, ran.out, ran.err);
  ran = desk.kernelsearch({"tune", "axpy", "--budget", "6", "--samples", "4", "--policy", "random", "--seed",
                           "3", "--cache", "warm", "--no-learning", "--store", "runs.db", "--out", "best"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const auto record =
      nlohmann::json::parse(kernelsearch_test::read_text(desk.path() / "best/axpy_best.json"));
  CHECK(record.at("settings").at("FACTOR") == 1.0);
  CHECK(!record.contains("compiler"));
  const auto best = ready_words(kernelsearch_test::read_text(desk.path() / "best/axpy_best.spv"));
  REQUIRE(best);
  CHECK(best->size() == words.size());
  const auto kernel = read_ready(*best, "axpy", true, {});
  REQUIRE(kernel);
  CHECK(kernel->local_size[0] == record.at("settings").at("GROUP").get<std::uint32_t>());
  // As a kernel of its own, which nothing specialises, it is right.
  const TemporaryFolder alone, cache;
  const std::string group = std::to_string(kernel->local_size[0]);
  write_ready(alone, ready_bytes(*best),
              {{"\"tunables\": {\"GROUP\": [32, 64, 128], \"FACTOR\": [1.0, 2.0]},", ""},
               {"(n + GROUP - 1) // GROUP", "(n + " + group + " - 1) // " + group},
               {"[\"GROUP\"]", "[" + group + "]"}});
  const Problem problem = read_problem(alone.path());
  const Evaluation got = GpuEvaluator(problem, quick(cache.path())).evaluate(problem.default_candidate(), {});
  CHECK_MESSAGE(got.verdict == Verdict::ok, got.reason);
  ran = desk.kernelsearch({"best", "latest", "--source", "--store", "runs.db"});
  REQUIRE(ran.code == 0);
  CHECK(contains(ran.out, "// axpy: the best of 6 trials"));
  CHECK(contains(ran.out, "built with nothing: the module was ready"));
  CHECK(*ready_words(ran.out) == *best);
  ran = desk.kernelsearch({"tune", "axpy", "--system", "peak", "--budget", "3", "--store", "other.db"});
  CHECK(ran.code != 0);
  CHECK_MESSAGE(contains(ran.err, "has no source that a model could rewrite"), ran.err);
}
