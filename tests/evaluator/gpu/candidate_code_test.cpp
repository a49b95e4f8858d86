// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/candidate_code.hpp"

#include "evaluator/gpu/runtime_compiler.hpp"
#include "evaluator/gpu/support.hpp"
#include "evaluator/gpu/tool.hpp"
#include "evaluator/gpu/tool_support.hpp"
#include "kernelsearch/core/error.hpp"

using namespace gpu_test;
using detail::gpu::library_source;

namespace {

const std::string kernel =
    "__global__ void scale(int n, const float* x, float* y) {\n"
    "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
    "  if (i < n) y[i] = FACTOR * x[i] + 1;\n"
    "}\n";
const std::string host =
    "void run(int n, const float* x, float* y, hipStream_t stream) {\n"
    "  scale<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(n, x, y);\n"
    "}\n";

/// The problem `scale` in PEAK's form.
DeviceProblem launched(const std::string& host_region = host) {
  setenv("KERNELSEARCH_HIPCC", KERNELSEARCH_STANDIN_HIPCC, 1);
  DeviceProblem problem;
  problem.function = "run";
  problem.kernel = kernel;
  problem.host = host_region;
  problem.macros = "#define FACTOR 3\n";
  problem.launch.clear();
  problem.more = R"(, "tunables": {"BLOCK": [64, 128]})";
  return problem;
}

Candidate with_host(const Problem& problem, const std::string& region) {
  Kernel changed = problem.kernel;
  changed.regions.host = region;
  return {std::make_shared<const Kernel>(std::move(changed)), problem.kernel.space.default_config()};
}

}  // namespace

TEST_CASE("library_source: definitions, macros, device, host, and a call as the problem declares it") {
  DeviceProblem text = launched();
  text.backend = "cuda";
  text.arguments = R"([{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
      {"name": "h", "type": "f16", "size": "n"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}])";
  const Problem problem = text.parsed();
  CHECK(problem.build.compiler == "nvcc");
  const std::string source = library_source(problem, default_candidate(problem));
  std::size_t at = 0;
  for (const char* part :
       {"#define BLOCK 64\n", "#line 1 \"macros\"\n", "#line 1 \"device\"\n", "#line 1 \"host\"\n",
        "cudaStream_t", "run, static_cast<cudaStream_t>(stream)", "*static_cast<const std::int32_t*>(p[0])",
        "*static_cast<const float**>(p[1])", "kernelsearch_launch::Halves{*static_cast<void**>(p[2])}",
        "*static_cast<float**>(p[3])", "cudaGetLastError()"}) {
    const std::size_t found = source.find(part, at);
    CHECK_MESSAGE(found != std::string::npos, part);
    if (found != std::string::npos) at = found;
  }
  text.backend = "hip";
  const Problem hip = text.parsed();
  CHECK(hip.build.compiler == "hipcc");
  CHECK_FALSE(contains(library_source(hip, default_candidate(hip)), "cuda"));
}

TEST_CASE("a launch function is judged like any other candidate") {
  GpuOptions options = quick();
  options.limits.call = 3;
  const Problem problem = launched().parsed();
  GpuEvaluator evaluator(problem, options);
  CHECK(contains(evaluator.toolchain_id(), "HIP version: stand-in"));
  const auto own = evaluator.evaluate(default_candidate(problem), {});
  REQUIRE_MESSAGE(own.verdict == Verdict::ok, own.reason);
  CHECK(own.measurement.seconds > 0);
  CHECK(own.features.find("image_bytes"));
  CHECK_FALSE(own.features.find("registers"));
  const struct {
    const char* name;
    std::string region;
    Verdict verdict;
    const char* words;
  } hosts[] = {
      {"takes no stream",
       "void run(int n, const float* x, float* y) {\n  scale<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(n, x, "
       "y);\n}\n",
       Verdict::ok, ""},
      {"does not compile", "void run(int n, const float* x, float* y) {\n  undeclared();\n}\n",
       Verdict::build_failed, "host:2"},
      {"takes something else", "void run(int n, const double* x, float* y) {}\n", Verdict::build_failed,
       "const double*"},
      {"launches nothing", "void run(int n, const float* x, float* y) {}\n", Verdict::wrong_result,
       "37 elements of y unwritten"},
      {"launches too little",
       "void run(int n, const float* x, float* y, hipStream_t s) {\n  scale<<<1, 16, 0, s>>>(n, "
       "x, "
       "y);\n}\n",
       Verdict::wrong_result, "unwritten"},
      {"launches too large a block",
       "void run(int n, const float* x, float* y, hipStream_t s) {\n  scale<<<n, 4096, 0, s>>>(n, x, "
       "y);\n}\n",
       Verdict::launch_failed, "invalid argument"},
      {"cannot do this size",
       "bool run(int n, const float* x, float* y, hipStream_t s) {\n  if (n % 4 != 0) return false;\n"
       "  scale<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, s>>>(n, x, y);\n  return true;\n}\n",
       Verdict::rejected, "says that it cannot launch this (shape small)"},
      {"returns an error",
       "hipError_t run(int n, const float* x, float* y) { return hipErrorOutOfMemory; }\n",
       Verdict::launch_failed, "error 2, out of memory"},
      {"breaks its process", "void run(int n, const float* x, float* y) { *(volatile int*)0 = n; }\n",
       Verdict::crashed, "process ended"},
      {"never returns", "void run(int n, const float* x, float* y) { for (volatile int i = 0; i < 1;) {} }\n",
       Verdict::timed_out, "did not finish"},
      {"has no host region", "", Verdict::rejected, "no host region"},
  };
  for (const auto& one : hosts) {
    CAPTURE(one.name);
    const Evaluation e = evaluator.evaluate(with_host(problem, one.region), {});
    CAPTURE(e.reason);
    CHECK_MESSAGE(e.verdict == one.verdict, to_string(e.verdict));
    CHECK(contains(e.reason, one.words));
  }
  // Another one is judged as if nothing had been, from the cache, in pairs with the default.
  options.pairs.when = Pairing::always;
  options.pairs.min_pairs = 4;
  options.pairs.max_pairs = 8;
  GpuEvaluator pairing(problem, options);
  const Candidate other{std::make_shared<const Kernel>(problem.kernel), Config{{1}}};
  CHECK(contains(pairing.evaluate(default_candidate(problem), {}).provenance, "compiled earlier"));
  const Evaluation paired = pairing.evaluate(other, {});
  REQUIRE_MESSAGE(paired.verdict == Verdict::ok, paired.reason);
  CHECK(paired.measurement.speedup);
}

TEST_CASE("a launch function calls no library that the problem does not allow") {
  const std::string opens =
      "extern \"C\" void* dlopen(const char*, int);\n"
      "hipError_t run(int n, const float* x, float* y, hipStream_t s) {\n"
      "  scale<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, s>>>(n, x, y);\n"
      "  return dlopen(\"libhipblas.so\", 2) != nullptr ? hipErrorInvalidValue : hipSuccess;\n}\n";
  DeviceProblem text = launched();
  const std::string more = text.more;
  for (const char* rule : {"", R"(, "libraries": "none")", R"(, "libraries": ["hipblas"])"}) {
    text.more = more + rule;
    const Problem problem = text.parsed();
    GpuEvaluator evaluator(problem, quick());
    const Evaluation e = evaluator.evaluate(with_host(problem, opens), {});
    CHECK(e.verdict == Verdict::cheated);
    CHECK_MESSAGE(contains(e.reason, "it calls dlopen"), e.reason);
    const Evaluation own = evaluator.evaluate(default_candidate(problem), {});
    CHECK_MESSAGE(own.verdict == Verdict::ok, own.reason);
  }
  text.more = more + R"(, "libraries": ["dl"])";
  const Problem allowed = text.parsed();
  GpuEvaluator evaluator(allowed, quick());
  const Evaluation e = evaluator.evaluate(with_host(allowed, opens), {});
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);

  // One that the flags link: any that is no run-time library of a compiler.
  const auto linking = [&](const char* rule) {
    text.more = more + rule + R"(, "build": {"flags": ["-Xlinker", "--no-as-needed", "-lz"]})";
    const Problem problem = text.parsed();
    GpuEvaluator linked(problem, quick());
    return linked.evaluate(default_candidate(problem), {});
  };
  const Evaluation refused = linking(R"(, "libraries": "none")");
  CHECK(refused.verdict == Verdict::cheated);
  CHECK_MESSAGE(contains(refused.reason, "needs the library libz.so"), refused.reason);
  for (const char* rule : {"", R"(, "libraries": ["z"])"}) CHECK(linking(rule).verdict == Verdict::ok);
}

TEST_CASE("workers of devices get no variable that is called like a key") {
  setenv("NVIDIA_API_KEY", "secret_1", 1);
  setenv("HIP_TOKEN", "secret_2", 1);
  setenv("KERNELSEARCH_TEST_SECRET", "secret_3", 1);
  setenv("HIP_VISIBLE_DEVICES_TEST", "0", 1);
  const auto has = [](const std::vector<std::string>& entries, const char* words) {
    return std::any_of(entries.begin(), entries.end(),
                       [words](const std::string& entry) { return contains(entry, words); });
  };
  CHECK(has(detail::gpu::driver_environment(), "HIP_VISIBLE_DEVICES_TEST=0"));
  CHECK_FALSE(has(detail::gpu::driver_environment(), "secret_"));
  CHECK_FALSE(has(detail::gpu::compiler_environment(), "secret_"));
  for (const char* name :
       {"NVIDIA_API_KEY", "HIP_TOKEN", "KERNELSEARCH_TEST_SECRET", "HIP_VISIBLE_DEVICES_TEST"})
    unsetenv(name);
}

TEST_CASE("a launch function sees nothing of the user's where there is a sandbox") {
  const std::string secret = (scratch() / "secret").string();
  std::ofstream(secret) << "secret";
  const std::string reads =
      "extern \"C\" void* fopen(const char*, const char*);\n"
      "hipError_t run(int n, const float* x, float* y, hipStream_t s) {\n"
      "  scale<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, s>>>(n, x, y);\n"
      "  return fopen(\"" +
      secret + "\", \"r\") != nullptr ? hipErrorInvalidValue : hipSuccess;\n}\n";
  const Problem problem = launched().parsed();
  GpuOptions options = quick();
  GpuEvaluator open(problem, options);
  CHECK(open.evaluate(with_host(problem, reads), {}).verdict == Verdict::launch_failed);
  if (!sandbox_status().works) {
    MESSAGE("skipped: ", sandbox_status().problem);
    return;
  }
  options.sandbox = Sandbox::bubblewrap;
  GpuEvaluator closed(problem, options);
  const Evaluation e = closed.evaluate(with_host(problem, reads), {});
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("without a reference the default and its launch function are it") {
  DeviceProblem text = launched();
  text.reference.clear();
  const Problem problem = text.parsed();
  GpuEvaluator evaluator(problem, quick());
  CHECK(evaluator.evaluate(default_candidate(problem), {}).verdict == Verdict::ok);
  Kernel wrong = problem.kernel;
  wrong.regions.macros = "#define FACTOR 2\n";
  const Evaluation e = evaluator.evaluate(
      {std::make_shared<const Kernel>(std::move(wrong)), problem.kernel.space.default_config()}, {});
  CHECK(e.verdict == Verdict::wrong_result);
}

TEST_CASE("what a launch function cannot be combined with, and the compiler that it needs") {
  const auto refused = [](const DeviceProblem& problem, const char* words) {
    CHECK_THROWS_WITH_AS(GpuEvaluator(problem.parsed(), quick()), doctest::Contains(words), ConfigError);
  };
  DeviceProblem both = launched();
  both.launch = R"({"grid": [1], "block": [64], "function": "scale"})";
  both.launch = "[" + both.launch + "]";
  refused(both, "both a host region and `launch`");
  DeviceProblem compiler = launched();
  compiler.more += R"(, "build": {"compiler": "hiprtc"})";
  refused(compiler, "set build.compiler to hipcc");
  DeviceProblem none;
  none.more = R"(, "build": {"compiler": "hipcc"})";
  refused(none, "set build.compiler to hiprtc");
  const DeviceProblem problem = launched();
  setenv("KERNELSEARCH_HIPCC", "/nonexistent/hipcc", 1);
  refused(problem, "a launch function needs a compiler that is not there: hipcc");
}

TEST_CASE("examples/cuda/matmul_peak: nvcc takes it, at its default and elsewhere") {
  if (!detail::gpu::find_tool("nvcc", "KERNELSEARCH_NVCC", {}, {})) {
    MESSAGE("skipped: no nvcc");
    return;
  }
  const Problem problem = read_problem(KERNELSEARCH_SOURCE_DIR "/examples/cuda/matmul_peak");
  GpuOptions options = quick();
  options.sandbox = Sandbox::automatic;
  options.architecture = "sm_90a";
  detail::gpu::BuilderPool builders(GpuBackend::cuda, options);
  GpuDevice device;
  device.backend = GpuBackend::cuda;
  std::vector<Value> values = problem.kernel.space.values(problem.kernel.space.default_config());
  values[*problem.kernel.space.find("K_SPLITS")] = std::int64_t{4};
  const auto own = std::make_shared<const Kernel>(problem.kernel);
  for (const Config& config :
       {problem.kernel.space.default_config(), *problem.kernel.space.config_of(values)}) {
    const auto built = build_candidate(builders, problem, {own, config}, device, options);
    CHECK_MESSAGE(built.verdict == Verdict::ok, built.reason);
    CHECK(built.library);
    CHECK(build_candidate(builders, problem, {own, config}, device, options).from_cache);
  }
  Kernel broken = problem.kernel;
  broken.regions.host.insert(broken.regions.host.find("const dim3"), "undeclared();\n");
  const auto built = build_candidate(
      builders, problem,
      {std::make_shared<const Kernel>(std::move(broken)), problem.kernel.space.default_config()}, device,
      options);
  CHECK(built.verdict == Verdict::build_failed);
  CHECK_MESSAGE(contains(built.reason, "undeclared"), built.reason);
  CHECK_MESSAGE(contains(built.reason, "host("), built.reason);
}

TEST_CASE("BuilderPool: no way to make NVRTC or nvcc show a readable file of the user's") {
  const auto folder = std::filesystem::path(scratch()) / "readable";
  std::filesystem::create_directories(folder);
  const std::string contents = "SECRET_5be20d71";
  const std::string at = (folder / "secret.txt").string();
  std::ofstream(at) << contents << "\n";
  std::ofstream(folder / "secret.rsp") << "-D" << contents << "=1\n";
  for (const auto& place : {folder, folder / "secret.txt", folder / "secret.rsp"})
    std::filesystem::permissions(place, std::filesystem::perms(0755));
  for (auto above = folder.parent_path(); above.string().size() > 4; above = above.parent_path())
    if (std::error_code error; true)
      std::filesystem::permissions(above, std::filesystem::perms(0055), std::filesystem::perm_options::add,
                                   error);
  const std::string harmless = "extern \"C\" __global__ void f(int* y) { *y = 1; }\n";
  struct Attack {
    const char* name;
    std::string source;
    std::vector<std::string> options = {};
  };
  const std::vector<Attack> attacks = {
      {"include", "#include \"" + at + "\"\n" + harmless},
      {"-include", harmless, {"-include=" + at}},
      {"-I", "#include <secret.txt>\n" + harmless, {"-I" + folder.string()}},
      {"inline PTX", "extern \"C\" __global__ void f() { asm(\".include \\\"" + at + "\\\";\"); }\n"},
      {"options file",
       "#ifdef " + contents + "\n#error " + contents + "\n#endif\n" + harmless,
       {"--options-file=" + (folder / "secret.rsp").string()}},
  };
  const auto log_of = [](const Attack& attack, Sandbox sandbox, bool library) {
    GpuOptions options = quick();
    options.sandbox = sandbox;
    options.cache_directory = scratch() / to_string(sandbox);
    detail::gpu::BuilderPool builders(GpuBackend::cuda, options);
    const detail::gpu::Built built = library ? builders.build_library(attack.source, attack.options)
                                             : builders.build(attack.source, attack.options, {});
    return built.reason + built.log;
  };
  for (const bool library : {false, true}) {
    if (library && !detail::gpu::find_tool("nvcc", "KERNELSEARCH_NVCC", {}, {})) {
      MESSAGE("skipped: no nvcc");
      continue;
    }
    if (std::string problem; !library && !detail::gpu::RuntimeCompiler::load(GpuBackend::cuda, problem)) {
      MESSAGE("skipped: ", problem);
      continue;
    }
    CAPTURE(library);
    std::size_t shown = 0;
    for (const Attack& attack : attacks) shown += contains(log_of(attack, Sandbox::none, library), contents);
    CHECK(shown >= 2);  // without a sandbox they do succeed: this test can fail
    for (const Sandbox sandbox : {Sandbox::bubblewrap, Sandbox::landlock}) {
      if (!sandbox_status(sandbox).works) continue;
      CAPTURE(to_string(sandbox));
      for (const Attack& attack : attacks) {
        CAPTURE(attack.name);
        const std::string log = log_of(attack, sandbox, library);
        CHECK_MESSAGE(!contains(log, contents), log);
      }
      const std::string honest = log_of({"honest", harmless}, sandbox, library);
      CHECK_MESSAGE(!contains(honest, "error"), honest);
    }
  }
}
