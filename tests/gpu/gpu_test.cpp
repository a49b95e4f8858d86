// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The evaluator and the command on a GPU.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "apps/command.hpp"
#include "evaluator/gpu/tool.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/recorded/replay.hpp"
#include "support/approx.hpp"
#include "support/device_examples.hpp"
#include "support/device_problem.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_backend.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

namespace fs = std::filesystem;

const TemporaryFolder& folder() {
  static const TemporaryFolder temporary;
  return temporary;
}

GpuOptions quick() {
  GpuOptions options;
  options.cache_directory = folder() / "cache";
  options.include = {support::test_data() / ".." / "include"};
  options.check.seeds = 1;
  options.verification = {.search_seconds = 0,
                          .finalist_seconds = 0.02};  // references of large shapes are slow
  options.limits.call = 2;
  options.sandbox = Sandbox::none;
  options.sampling = {.precision = 0.05, .min_samples = 6, .max_samples = 24, .budget_seconds = 0.2};
  options.pairs.when = Pairing::never;
  return options;
}

support::DeviceProblem scale() {
  support::DeviceProblem problem;
  problem.backend = std::string(to_string(support::test_backend()));
  return problem;
}

/// A problem with everything that is only checked, and of what is timed the shape with the least work.
Problem reduced(Problem problem) {
  const auto work = [&](const Shape& shape) {
    const auto& expression = problem.operations ? problem.operations : problem.bytes;
    return expression ? to_number(kernelsearch::evaluate(*expression, shape)) : 0.0;
  };
  const Shape* least = nullptr;
  for (const Shape& shape : problem.shapes)
    if (shape.weight > 0 && (least == nullptr || work(shape) < work(*least))) least = &shape;
  std::vector<Shape> kept;
  for (const Shape& shape : problem.shapes)
    if (shape.weight == 0 || &shape == least) kept.push_back(shape);
  problem.shapes = kept;
  return problem;
}

/// The default with what `settings` says instead.
std::optional<Config> config_of(const Space& space, const nlohmann::json& settings) {
  std::vector<Value> values = space.values(space.default_config());
  for (const auto& [name, setting] : settings.items()) {
    const auto at = space.find(name);
    if (!at) return std::nullopt;
    Value& value = values[*at];
    if (setting.is_boolean())
      value = setting.get<bool>();
    else if (setting.is_number_integer())
      value = setting.get<std::int64_t>();
    else if (setting.is_number())
      value = setting.get<double>();
    else if (setting.is_string())
      value = setting.get<std::string>();
    else
      value = setting.get<Permutation>();
  }
  return space.config_of(values);
}

/// What of a problem folder is judged: the default, and the best that were found on an H200.
struct Example {
  std::string name;
  Problem problem;
  std::vector<std::pair<std::string, Config>> configs;
  std::string fault;
  std::vector<Evaluation> results{};
};

std::vector<fs::path> examples(std::string_view backend) {
  return support::device_examples(support::test_data() / ".." / "examples", backend);
}

/// The file of the best configuration. For NAME.json, it is in the folder NAME as well.
fs::path best_file(const fs::path& path) {
  return fs::path(path).replace_extension() / "best_h200.json";
}

Example example(const fs::path& path) {
  Problem problem = read_problem(path);
  HostOptions host;
  host.sandbox = Sandbox::none;
  host.cache_directory = folder() / "cache";
  fill_generated_sizes(problem, host);
  Example found{path.stem().string(), reduced(std::move(problem)), {}, {}};
  const Space& space = found.problem.kernel.space;
  found.configs.emplace_back("default", space.default_config());
  std::ifstream file(best_file(path));
  if (!file) return found;
  const auto best = nlohmann::json::parse(file);
  for (const auto& [shape, settings] : best.items()) {
    if (!settings.is_object()) continue;
    const auto config = config_of(space, settings);
    if (!config)
      found.fault += "best_h200.json names no configuration of the space for shape " + shape + "\n";
    if (config && std::none_of(found.configs.begin(), found.configs.end(),
                               [&](const auto& known) { return known.second == *config; }))
      found.configs.emplace_back("best for " + shape, *config);
  }
  return found;
}

// All builds at once, since compilers take most of the time; candidates then run one after another.
void judge(Example& example) try {
  GpuEvaluator evaluator(example.problem, quick());
  const auto kernel = std::make_shared<const Kernel>(example.problem.kernel);
  std::vector<Staged<GpuArtifact>> staged(example.configs.size());
  std::vector<std::thread> builders;
  for (std::size_t i = 0; i < staged.size(); ++i)
    builders.emplace_back([&, i] { staged[i] = evaluator.build({kernel, example.configs[i].second}, {}); });
  for (std::thread& builder : builders) builder.join();
  for (auto& one : staged)
    example.results.push_back(one.artifact ? evaluator.run(std::move(one), {}) : std::move(one.evaluation));
} catch (const Error& error) {
  example.fault += error.what();
}

}  // namespace

TEST_CASE("every example is right by default and at its best") {
  if (support::test_backend() == GpuBackend::hip) {
    MESSAGE("skipped: timed shapes are too much for a processor; test_standin runs small ones");
    return;
  }
  std::vector<Example> all;
  const char* only = getenv("KERNELSEARCH_TEST_EXAMPLE");
  for (const fs::path& path : examples(to_string(support::test_backend())))
    if (only == nullptr || path.stem() == only) all.push_back(example(path));
  std::erase_if(all, [](const Example& one) {
    const bool without = !one.problem.kernel.regions.host.empty() &&
                         !detail::gpu::find_tool("nvcc", "KERNELSEARCH_NVCC", {}, {});
    if (without) MESSAGE("skipped: no nvcc for the launch function of ", one.name);
    return without;
  });
  CHECK(!all.empty());
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::clamp(std::thread::hardware_concurrency() / 5, 1u, 3u); ++t)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < all.size(); i = next++) judge(all[i]);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Example& judged : all) {
    CAPTURE(judged.name);
    CHECK_MESSAGE(judged.fault.empty(), judged.fault);
    for (std::size_t i = 0; i < judged.results.size(); ++i) {
      const Evaluation& e = judged.results[i];
      CAPTURE(judged.configs[i].first);
      CHECK_MESSAGE(e.verdict == Verdict::ok, to_string(e.verdict) << ": " << e.reason);
      if (e.verdict != Verdict::ok) continue;
      CHECK(e.measurement.seconds > 0);
      // Of what a launch function launches the evaluator does not know the resources.
      if (!judged.problem.kernel.regions.host.empty()) continue;
      for (const char* feature : {"registers", "occupancy", "blocks_per_multiprocessor"}) {
        REQUIRE_MESSAGE(e.features.find(feature), feature);
        CHECK_MESSAGE(*e.features.find(feature) > 0, feature);
      }
      CHECK(*e.features.find("occupancy") <= 1.0);
    }
  }
}

TEST_CASE("what is called an example's best is a configuration of its space") {
  for (const fs::path& path : examples("cuda")) {
    if (!fs::exists(best_file(path))) continue;
    CAPTURE(path.stem().string());
    const Example read = example(path);
    CHECK_MESSAGE(read.fault.empty(), read.fault);
    CHECK(read.configs.size() > 1);
  }
}

TEST_CASE("what breaks a process has its verdict, and the next candidate a new process") {
  const Problem problem = scale().parsed();
  GpuOptions options = quick();
  options.limits.call = 1;
  GpuEvaluator evaluator(problem, options);
  const auto body = [](const std::string& text) {
    return "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
           "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           text + "\n  if (i < n) y[i] = 3 * x[i] + 1;\n}\n";
  };
  const struct {
    const char* name;
    std::string code;
    Verdict verdict;
  } kernels[] = {
      {"hangs", body("while (*(volatile const float*)x < 100) {}"), Verdict::timed_out},
      {"illegal address", body("if (i == 3) y[1ll << 40] = 0;"), Verdict::crashed},
      {"null", body("if (i == 3) *(volatile float*)(n > 0 ? nullptr : y) = 0;"), Verdict::crashed},
      {"trap", body("if (i == 3) __trap();"), Verdict::crashed},
      {"build", body("undeclared = 3;"), Verdict::build_failed},
      {"outside", body("if (i == 3) y[n] = 3;"), Verdict::cheated},
      {"hangs again", body("while (*(volatile const float*)x < 100) {}"), Verdict::timed_out},
  };
  for (const auto& kernel : kernels) {
    CAPTURE(std::string(kernel.name));
    const Evaluation e = evaluator.evaluate(support::with_code(problem, kernel.code), {});
    CHECK_MESSAGE(e.verdict == kernel.verdict, to_string(e.verdict) << ": " << e.reason);
    const Evaluation next = evaluator.evaluate(support::default_candidate(problem), {});
    CHECK_MESSAGE(next.verdict == Verdict::ok, next.reason);
  }
}

TEST_CASE("launches that the device refuses") {
  support::DeviceProblem given = scale();
  given.launch = R"({"grid": ["(n + 127) // 128"], "block": ["BLOCK"], "shared_bytes": "SHARED"})";
  given.arguments.insert(given.arguments.rfind(']'),
                         R"(, {"name": "w", "type": "f32", "size": "ROOM", "role": "workspace"})");
  given.kernel.replace(given.kernel.find("float* y)"), 9, "float* y, float* w)");
  given.more =
      R"(, "tunables": {"BLOCK": [128, 2048], "SHARED": [0, 60000, 1000000], "ROOM": [1, 100000000000]})";
  const Problem problem = given.parsed();
  GpuEvaluator evaluator(problem, quick());
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  const auto verdict = [&](std::vector<std::uint32_t> indices) {
    const Evaluation e = evaluator.evaluate({kernel, Config{std::move(indices)}}, {});
    CAPTURE(e.reason);
    CHECK(e.reason.empty() == (e.verdict == Verdict::ok));
    return e.verdict;
  };
  CHECK(verdict({0, 0, 0}) == Verdict::ok);
  CHECK(verdict({1, 0, 0}) == Verdict::launch_failed);
  CHECK(verdict({0, 1, 0}) == Verdict::ok);
  CHECK(verdict({0, 2, 0}) == Verdict::launch_failed);
  CHECK(verdict({0, 0, 1}) == Verdict::launch_failed);
  CHECK(verdict({0, 0, 0}) == Verdict::ok);
}

TEST_CASE("constants, templates by name, steps, arrays set to zero") {
  support::DeviceProblem given = scale();
  given.kernel = R"(
__constant__ float c_factor[2];
template <int Width> __global__ void part(int n, const float* x, float* partial) {
  for (int w = 0; w < Width; ++w) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * Width + w;
    if (i < n) atomicAdd(partial + i % 64, c_factor[i % 2] * x[i]);
  }
}
__global__ void finish(const float* partial, float* y) { y[threadIdx.x] = partial[threadIdx.x]; }
)";
  given.arguments =
      R"([{"name": "n", "type": "i32"}, {"name": "factor", "type": "f32", "size": 2, "symbol": "c_factor"},
      {"name": "x", "type": "f32", "size": "n"}, {"name": "partial", "type": "f32", "size": 64, "role": "workspace"},
      {"name": "y", "type": "f32", "size": 64, "role": "out"}])";
  given.launch = R"json([{"zero": "partial"},
      {"function": "part<${WIDTH}>", "arguments": ["n", "x", "partial"], "grid": ["(n + 128*WIDTH - 1) // (128*WIDTH)"], "block": [128]},
      {"function": "finish", "arguments": ["partial", "y"], "grid": [1], "block": [64]}])json";
  given.reference =
      "extern \"C\" __global__ void scale_reference(int n, const real* factor, const real* x, real* y) {\n"
      "  real t = 0;\n  for (int i = threadIdx.x; i < n; i += 64) t += factor[i % 2] * x[i];\n"
      "  y[threadIdx.x] = t;\n}\n";
  given.reference_launch = R"({"grid": [1], "block": [64]})";
  given.more = R"(, "tunables": {"WIDTH": [1, 4]})";
  const Problem problem = given.parsed();
  GpuEvaluator evaluator(problem, quick());
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  for (const std::uint32_t width : {0u, 1u}) {
    const Evaluation e = evaluator.evaluate({kernel, Config{{width}}}, {});
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  }
}

TEST_CASE("pairs, incumbents and fresh processes") {
  const Problem problem = scale().parsed();
  GpuOptions options = quick();
  options.pairs = {.when = Pairing::always, .min_pairs = 6, .max_pairs = 12, .budget_seconds = 0.2};
  GpuEvaluator evaluator(problem, options);
  const Candidate candidate = support::default_candidate(problem);
  const Evaluation e = evaluator.evaluate(candidate, {});
  REQUIRE_MESSAGE(e.verdict == Verdict::ok, e.reason);
  REQUIRE(e.measurement.speedup);
  CHECK(e.measurement.speedup->pairs >= 6);
  evaluator.renew();
  const Speedup same = evaluator.compare(candidate, candidate);
  CHECK(same.ratio > 0.2);
  CHECK(same.ratio < 5);
  EvaluationContext hopeless;
  hopeless.incumbent = 1e-12;
  const Evaluation slower = evaluator.evaluate(candidate, hopeless);
  REQUIRE(slower.verdict == Verdict::ok);
  CHECK(slower.measurement.shapes[0].ended == SamplingEnd::slower);
}

TEST_CASE("tune ends well, and what it recorded can be replayed") {
  const kernelsearch_test::Desk desk;
  fs::path given = support::test_data() / ".." / "examples" / "cuda" / "matmul_tiled";
  if (support::test_backend() == GpuBackend::hip) {  // that one is too much work for a processor
    support::DeviceProblem small = scale();
    small.kernel.replace(small.kernel.find("3 * x"), 5, "(FACTOR) * x");
    small.launch = R"({"grid": ["(n + BLOCK - 1) // BLOCK"], "block": ["BLOCK"]})";
    small.more =
        R"(, "tunables": {"BLOCK": [32, 64, 128, 256], "FACTOR": [3, 1, 2, 4], "UNUSED": [1, 2, 3]}, "default": {"BLOCK": 64})";
    given = desk.path() / "small";
    fs::create_directories(given);
    std::ofstream(given / "problem.json") << small.text();
  }
  const auto ran =
      desk.kernelsearch({"tune", fs::canonical(given).string(), "--budget", "30", "--record", "record.json",
                         "--store", "runs.db", "--out", "tuned", "--json", "--sandbox", "none"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const auto result = ran.json();
  REQUIRE(result.is_object());
  CHECK(result["trials"] == 30);
  CHECK(result["verdicts"]["ok"].get<int>() > 0);
  CHECK(result["best"]["seconds"].get<double>() > 0);
  const Recording recording = read_recording(desk.path() / "record.json");
  CHECK(recording.trials.size() > 0);
  CHECK(recording.trials.size() <= 30);
  RecordedReplay again = replay(recording);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < recording.trials.size(); ++i) {
    const Evaluation e = again.evaluate(recording.trials[i].config, {});
    CHECK(e.verdict == recording.trials[i].evaluation.verdict);
    if (e.verdict == Verdict::ok) best = std::min(best, e.measurement.seconds);
  }
  CHECK(best > 0);
  CHECK(std::isfinite(best));
  const auto compared = desk.kernelsearch({"inspect", "record.json", "--json"});
  REQUIRE_MESSAGE(compared.code == 0, compared.err);
  CHECK(compared.json()["best"]["seconds"].get<double>() == approx(best));
  const auto doctor = desk.kernelsearch({"doctor"});
  CHECK_MESSAGE(doctor.out.find(std::string(to_string(support::test_backend()))) != std::string::npos,
                doctor.out);
}

int main(int argc, char** argv) {
  if (support::nothing_to_test_on()) return support::skipped;
  return doctest::Context(argc, argv).run();
}
