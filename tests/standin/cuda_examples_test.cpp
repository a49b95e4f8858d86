// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Problems of examples/cuda whose kernels do without assembler where no CUDA compiler reads them, and those
// of bench/corpus: right on the stand-in with warps of 32, and taken by NVIDIA's run-time compiler where that
// is installed.
#include <algorithm>
#include <filesystem>

#include "evaluator/gpu/device_source.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "standin/support.hpp"
#include "support/temporary_folder.hpp"

using namespace standin_test;

namespace {

constexpr const char* names[] = {"scan", "topk", "csr_spmv"};

Problem cuda_example(const std::string& name) {
  const std::filesystem::path examples = std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "examples";
  return read_problem(name == "csr_spmv" ? examples / "csr_spmv_cuda.json" : examples / "cuda" / name);
}

std::vector<std::filesystem::path> corpus_folders() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(KERNELSEARCH_SOURCE_DIR "/bench/corpus"))
    if (entry.is_directory()) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

/// The default, then for each value of each tunable a configuration that has it where one is drawn, and some
/// more.
std::vector<Config> drawn_configs(const Space& space, int more) {
  std::vector<Config> all{space.default_config()};
  Rng rng(11);
  for (std::size_t i = 0; i < space.size(); ++i)
    for (const std::uint32_t value : space.usable(i)) {
      const auto has = [&](const Config& config) { return config.indices[i] == value; };
      for (int tries = 0; tries < 200 && std::none_of(all.begin(), all.end(), has); ++tries)
        if (Config config = space.sample(rng); has(config)) all.push_back(std::move(config));
    }
  for (int i = 0; i < more; ++i) all.push_back(space.sample(rng));
  return all;
}

/// Compiles configurations and the reference by NVRTC; false where that is not installed.
bool check_nvrtc(const Problem& problem, const std::vector<Config>& configs) {
  unsetenv("KERNELSEARCH_NVRTC");
  std::string missing;
  const auto compiler = RuntimeCompiler::load(GpuBackend::cuda, missing);
  if (compiler == nullptr) {
    MESSAGE("skipped: ", missing);
    return false;
  }
  GpuDevice device;
  device.backend = GpuBackend::cuda;
  GpuOptions options;
  options.architecture = "sm_90a";
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  for (const Config& config : configs) {
    const Candidate candidate{kernel, config};
    const DeviceCode code = compiler->compile(
        device_source(candidate), compile_options(device, options, candidate_flags(problem, candidate)),
        launched_kernels(problem, candidate));
    CHECK_MESSAGE(code.ok, kernel->space.key(config), ": ", code.log);
  }
  for (const char* real : {"float", "double"}) {
    const DeviceCode code =
        compiler->compile(reference_source(problem, real), compile_options(device, options, {"-std=c++20"}),
                          {problem.reference.function});
    CHECK_MESSAGE(code.ok, code.log);
  }
  return true;
}

}  // namespace

TEST_CASE("examples/cuda: NVIDIA's run-time compiler takes those that the stand-in runs") {
  for (const char* name : names) {
    CAPTURE(std::string(name));
    const Problem problem = cuda_example(name);
    if (!check_nvrtc(problem, drawn_configs(problem.kernel.space, 0))) return;
  }
}

TEST_CASE("bench/corpus: 1,000 to 1,500 configurations, with roles") {
  CHECK(corpus_folders().size() >= 15);
  for (const std::filesystem::path& folder : corpus_folders()) {
    CAPTURE(folder.filename().string());
    const Problem problem = read_problem(folder);
    CHECK(problem.name == folder.filename().string());
    const std::string count = problem.kernel.space.count().to_string();
    CHECK(std::stoi(count) >= 1000);
    CHECK(std::stoi(count) <= 1500);
    for (const Tunable& tunable : problem.kernel.space.tunables())
      CHECK_MESSAGE((tunable.role != TunableRole::none) == (tunable.name != "MIN_BLOCKS"), tunable.name);
  }
}

TEST_CASE(
    "bench/corpus: NVIDIA's run-time compiler takes the default and three more configurations of each") {
  for (const std::filesystem::path& folder : corpus_folders()) {
    CAPTURE(folder.filename().string());
    const Problem problem = read_problem(folder);
    const Space& space = problem.kernel.space;
    Rng rng(5);
    if (!check_nvrtc(problem,
                     {space.default_config(), space.sample(rng), space.sample(rng), space.sample(rng)}))
      return;
  }
}

TEST_CASE("bench/corpus: NVIDIA's run-time compiler takes every value of every tunable" *
          doctest::test_suite("thorough")) {
  for (const std::filesystem::path& folder : corpus_folders()) {
    CAPTURE(folder.filename().string());
    const Problem problem = read_problem(folder);
    if (!check_nvrtc(problem, drawn_configs(problem.kernel.space, 0))) return;
  }
}

#ifdef KERNELSEARCH_GPU_WORKER

namespace {

/// The problem for the stand-in, of the listed shapes those that are only checked.
Problem for_standin(Problem problem) {
  problem.backend = Backend::hip;
  problem.build.compiler = "hiprtc";
  std::erase_if(problem.shapes, [](const Shape& shape) { return shape.weight > 0; });
  for (Shape& shape : problem.shapes) shape.weight = 1;
  return problem;
}

GpuOptions quick_options(const std::filesystem::path& cache) {
  GpuOptions options;
  options.worker = KERNELSEARCH_GPU_WORKER;
  options.cache_directory = cache;
  options.pairs.when = Pairing::never;
  options.check.seeds = 1;
  options.limits.call = 60;
  options.sandbox = Sandbox::none;  // of the generator of inputs
  options.sampling = {.precision = 1.0, .min_samples = 1, .max_samples = 1, .budget_seconds = 0.01};
  return options;
}

}  // namespace

TEST_CASE(
    "examples/cuda: scan, topk and csr_spmv are right at configurations that have every value of every "
    "tunable" *
    doctest::test_suite("thorough")) {
  const StandIn standin({{"WARP", "32"}, {"ORDER", "shuffle"}});
  const TemporaryFolder cache;
  for (const char* name : names) {
    CAPTURE(std::string(name));
    Problem problem = for_standin(cuda_example(name));
    // Small enough for a processor: some tiles of each size, some rows.
    REQUIRE(problem.shapes.size() >= 3);
    for (Shape& shape : problem.shapes) {
      for (auto& [variable, value] : shape.variables) {
        if (variable == "n") value = std::min<std::int64_t>(std::get<std::int64_t>(value), 70001);
        // 64 KiB of shared memory are all that the stand-in has.
        if (variable == "cols") value = std::min<std::int64_t>(std::get<std::int64_t>(value), 3001);
        if (variable == "rows") value = std::min<std::int64_t>(std::get<std::int64_t>(value), 3);
      }
    }
    GpuEvaluator evaluator(problem, quick_options(cache.path()));
    const auto kernel = std::make_shared<const Kernel>(problem.kernel);
    for (const Config& config : drawn_configs(kernel->space, 2)) {
      const Evaluation evaluation = evaluator.evaluate({kernel, config}, {});
      CHECK_MESSAGE(evaluation.verdict == Verdict::ok, kernel->space.key(config), ": ", evaluation.reason);
    }
  }
}

TEST_CASE("bench/corpus: the default and two more configurations of each are right" *
          doctest::test_suite("thorough")) {
  const StandIn standin({{"WARP", "32"}, {"ORDER", "shuffle"}});
  const TemporaryFolder cache;
  for (const std::filesystem::path& folder : corpus_folders()) {
    CAPTURE(folder.filename().string());
    const Problem problem = for_standin(read_problem(folder));
    REQUIRE(problem.shapes.size() == 1);
    GpuEvaluator evaluator(problem, quick_options(cache.path()));
    const auto kernel = std::make_shared<const Kernel>(problem.kernel);
    Rng rng(7);
    for (const Config& config :
         {kernel->space.default_config(), kernel->space.sample(rng), kernel->space.sample(rng)}) {
      const Evaluation evaluation = evaluator.evaluate({kernel, config}, {});
      CHECK_MESSAGE(evaluation.verdict == Verdict::ok, kernel->space.key(config), ": ", evaluation.reason);
    }
  }
}

#endif
