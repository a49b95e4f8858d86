// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The OpenCL backend on a device: PoCL's processors, or the device that KERNELSEARCH_TEST_DEVICE numbers.
// Driver, kernels of the evaluator, hostile and honest kernels, faults of the library, examples and the
// command.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/call_plan.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/driver.hpp"
#include "evaluator/gpu/launch_judgement.hpp"
#include "evaluator/gpu/opencl_api.hpp"
#include "evaluator/gpu/runtime_compiler.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/device_problem.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail::gpu;

namespace {

int test_device() {
  const char* given = std::getenv("KERNELSEARCH_TEST_DEVICE");
  return given != nullptr ? std::atoi(given) : 0;
}

const GpuDevice& device() {
  static const GpuDevice found = [] {
    for (GpuDevice& one : gpu_status(GpuBackend::opencl).devices)
      if (one.ordinal == test_device()) return one;
    return GpuDevice{};
  }();
  return found;
}

const TemporaryFolder& cache() {
  static const TemporaryFolder folder;
  return folder;
}

GpuOptions options() {
  GpuOptions chosen;
  chosen.devices = {test_device()};
  chosen.cache_directory = cache() / "cache";
  chosen.limits.call = 2;
  chosen.builders = 1;
  chosen.sampling = {.precision = 0, .min_samples = 6, .max_samples = 12, .budget_seconds = 20};
  chosen.cache = CacheMode::warm;  // rewriting a cache by threads of a busy host takes most of the time
  chosen.pairs.when = Pairing::never;
  return chosen;
}

/// y[i] = 3 x[i] + 1, with a workspace that is nobody's business but the kernel's.
support::DeviceProblem scale() {
  support::DeviceProblem problem;
  problem.backend = "opencl";
  problem.kernel =
      "__kernel void scale(int n, const __global float* x, __global float* y, __global float* w) {\n"
      "  const int i = get_global_id(0);\n"
      "  if (i < n) y[i] = 3 * x[i] + 1;\n"
      "}\n";
  problem.arguments = R"([{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                          {"name": "y", "type": "f32", "size": "n", "role": "out"},
                          {"name": "w", "type": "f32", "size": "n + 64", "role": "workspace"}])";
  problem.shapes = R"([{"name": "small", "n": 37, "weight": 0}, {"name": "large", "n": 1000}])";
  problem.launch = R"({"grid": ["(n + 63) // 64"], "block": [64]})";
  problem.reference =
      "__kernel void scale_reference(int n, const __global real* x, __global real* y) {\n"
      "  const int i = get_global_id(0);\n"
      "  if (i < n) y[i] = 3 * x[i] + 1;\n"
      "}\n";
  return problem;
}

std::string kernel(const std::string& body) {
  return "__kernel void scale(int n, const __global float* x, __global float* y, __global float* w) {\n"
         "  const int i = get_global_id(0);\n" +
         body + "\n}\n";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct Sample {
  const char* name;
  const char* body;
  std::vector<Verdict> verdicts;  ///< that it may get
  const char* words;              ///< of the reason
};

const std::vector<Sample>& hostile_kernels() {
  using enum Verdict;
  static const std::vector<Sample> all{
      {"writes just behind its array",
       "if (i < n) y[i] = 3 * x[i] + 1; if (i == 0) y[n] = 1;",
       {cheated},
       "it wrote outside of its arrays: y["},
      {"writes just before its array",
       "if (i < n) y[i] = 3 * x[i] + 1; if (i == 0) y[-1] = 1;",
       {cheated},
       "it wrote outside of its arrays: y[-1], before the beginning of y ("},
      {"writes behind its workspace",
       "if (i < n) y[i] = 3 * x[i] + 1; if (i == 0) w[n + 64] = 1;",
       {cheated},
       "it wrote outside of its arrays: w["},
      {"writes far away",
       "if (i < n) y[i] = 3 * x[i] + 1; *(volatile __global int*)(8ul + i) = 7;",
       {crashed, launch_failed},
       ""},
      {"never ends", "volatile int turn = 1; while (turn) turn = 1; y[i] = 0;", {timed_out, crashed}, ""},
      {"changes its input",
       "if (i < n) { y[i] = 3 * x[i] + 1; ((__global float*)x)[i] = 0; }",
       {cheated},
       "it changed its input x"},
      {"leaves elements as they were",
       "if (i < n && i % 2 == 0) y[i] = 3 * x[i] + 1;",
       {wrong_result},
       "unwritten"},
      {"is wrong", "if (i < n) y[i] = 3 * x[i] + 1.5f;", {wrong_result}, "expected"},
      // What it keeps in its workspace tells it how often it was called; the first calls are right.
      {"counts its calls",
       "__global uint* calls = (__global uint*)w + n; if (i == 0) calls[0] = calls[1] == 7u ? calls[0] + 1 : "
       "1;"
       " if (i == 0) calls[1] = 7u; barrier(CLK_GLOBAL_MEM_FENCE);"
       " if (i < n) y[i] = n > 100 && calls[0] > 4 ? 1.0f : 3 * x[i] + 1;",
       {wrong_result, cheated},
       ""},
      // It takes an address that it has seen for contents that it has seen.
      {"knows addresses",
       "__global ulong* seen = (__global ulong*)w; const ulong at = (ulong)x;"
       " const int known = seen[4] == 77ul && seen[at / 4096 % 4] == at;"
       " barrier(CLK_GLOBAL_MEM_FENCE); if (i == 0) { seen[4] = 77ul; seen[at / 4096 % 4] = at; }"
       " if (i < n) y[i] = n > 100 && known ? 1.0f : 3 * x[i] + 1;",
       {ok, wrong_result, cheated},
       ""},
      // It takes contents that begin alike for the same.
      {"knows contents",
       "const int key = (int)(x[0] * 4) & 15; __global float* kept = w + 16;"
       " const int known = w[key] == 5.0f; const float mine = i < n ? 3 * x[i] + 1 : 0;"
       " barrier(CLK_GLOBAL_MEM_FENCE);"
       " if (i < n) { y[i] = n > 100 && known ? kept[i] : mine; if (!known) kept[i] = mine; }"
       " if (i == 0) w[key] = 5.0f;",
       {wrong_result, cheated},
       ""},
      {"waits where others do not",
       "if (i % 3 == 0) barrier(CLK_LOCAL_MEM_FENCE); if (i < n) y[i] = 3 * x[i] + 1;",
       {ok, wrong_result, timed_out, crashed, launch_failed, build_failed},
       ""},
      // It is right as long as no timed call has contents that an earlier one had.
      {"trips over contents that come again",
       "if (i < n) y[i] = 3 * x[i] + 1; if (i == 0 && n > 100) { __global uint* t = (__global uint*)w;"
       " if (t[0] != 4242u || t[1] > 40u) { t[0] = 4242u; t[1] = 0; }"
       " const uint key = as_uint(x[0]) ^ (as_uint(x[n - 1]) * 3u);"
       " for (uint k = 0; k < t[1]; ++k) if (t[2 + k] == key) y[0] = -7777.0f;"
       " t[2 + t[1]] = key; t[1] += 1; }",
       {ok},
       ""},
      {"is no OpenCL C", "if (i < n) y[i] = 3 * unknown[i] + 1;", {build_failed}, "unknown"},
  };
  return all;
}

Problem example(const std::string& name) {
  const char* given = std::getenv("KERNELSEARCH_TEST_DATA");
  const std::filesystem::path tests =
      given != nullptr ? given : std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests";
  return read_problem(tests / ".." / "examples" / "opencl" / name);
}

std::filesystem::path faulty_library() {
  const char* given = std::getenv("KERNELSEARCH_TEST_FAULTY_OPENCL");
  return given != nullptr ? given : KERNELSEARCH_FAULTY_OPENCL_LIBRARY;
}

/// The library with faults while it lives.
struct Faulty {
  explicit Faulty(const char* fault) {
    setenv("KERNELSEARCH_OPENCL", faulty_library().c_str(), 1);
    setenv("KERNELSEARCH_FAULTY_OPENCL", fault, 1);
  }
  ~Faulty() {
    unsetenv("KERNELSEARCH_OPENCL");
    unsetenv("KERNELSEARCH_FAULTY_OPENCL");
  }
  Faulty(const Faulty&) = delete;
  Faulty& operator=(const Faulty&) = delete;
};

/// A worker of a backend with the evaluator's kernels.
class Held {
 public:
  Held(GpuBackend backend, const GpuOptions& chosen)
      : builders_(backend, chosen),
        shared(1 << 20, detail::Arena::Writers::both),
        worker(find_gpu_worker({}), backend, GpuWorkerClient::Role::device, chosen.devices.front(), &shared) {
    GpuDevice found;
    REQUIRE(!worker.hello(60, found));
    const Built built = builders_.build(service_source(backend), compile_options(found, chosen, {}),
                                        {service_names(), service_names() + service_count});
    REQUIRE_MESSAGE(built.verdict == Verdict::ok, built.reason);
    std::vector<FunctionFacts> facts;
    REQUIRE(!worker.load(service_module, *built.image, built.functions, facts));
  }
  std::vector<std::uint64_t> act(std::vector<Action> actions) {
    Act::Reply done;
    const auto error = worker.act(std::move(actions), 60, done);
    REQUIRE_MESSAGE(!error, (error ? error->text : ""));
    return done.values;
  }

 private:
  BuilderPool builders_;

 public:
  detail::Arena shared;
  GpuWorkerClient worker;
};

}  // namespace

TEST_CASE("opencl: addresses reach any place of a buffer, and events the commands between them") {
  std::string problem;
  const auto driver = load_driver(GpuBackend::opencl, problem);
  REQUIRE_MESSAGE(driver != nullptr, problem);
  const Driver& d = *driver;
  REQUIRE(d.init(0) == success);
  int number = 0, count = 0;
  REQUIRE((d.device_count(&count) == success && count > test_device()));
  CHECK(d.device_get(&number, count) == no_device);
  REQUIRE((d.device_get(&number, test_device()) == success && d.device_use(number) == success));
  Address at = 0, other = 0;
  REQUIRE((d.allocate(&at, 16384) == success && d.allocate(&other, 100) == success));
  CHECK(at != other);
  std::vector<unsigned char> bytes(16384), back(16384);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 7);
  REQUIRE(d.copy_in(at, bytes.data(), bytes.size()) == success);
  REQUIRE(d.set_bytes(at + 5, 0xee, 3, nullptr) == success);
  REQUIRE(d.copy_within(other + 1, at + 4, 10, nullptr) == success);
  REQUIRE(d.copy_out(back.data(), other + 1, 10) == success);
  CHECK((back[0] == bytes[4] && back[1] == 0xee && back[3] == 0xee && back[4] == bytes[8]));
  CHECK(d.copy_out(back.data(), at + 100000000, 1) != success);
  CHECK(has(d.describe(invalid_value), "CL_INVALID_MEM_OBJECT"));

  const auto compiler = RuntimeCompiler::load(GpuBackend::opencl, problem, test_device());
  REQUIRE_MESSAGE(compiler != nullptr, problem);
  CHECK(RuntimeCompiler::load(GpuBackend::opencl, problem, 1000) == nullptr);
  CHECK(has(problem, "there is no OpenCL device 1000"));
  const DeviceCode code = compiler->compile(
      "__kernel void f(__global uchar* a, __global uchar* memory, ulong byte, __local uint* l, uint n) {\n"
      "  l[get_local_id(0)] = n;\n"
      "  if (get_global_id(0) == 0) { a[0] = n; if (memory) memory[byte] = n + 1; }\n"
      "}\n__kernel void g(int n) {}\n",
      {}, {"f", "g"});
  REQUIRE_MESSAGE(code.ok, code.log);
  CHECK(code.lowered == std::vector<std::string>{"f", "g"});
  Module module = nullptr;
  REQUIRE(d.module_load(&module, code.image.data()) == success);
  Function f = nullptr, g = nullptr, none = nullptr;
  REQUIRE((d.module_function(&f, module, "f") == success && d.module_function(&g, module, "g") == success));
  CHECK(d.module_function(&none, module, "h") == not_found);
  using Kind = LaunchParameter::Kind;
  Address array = at + 4096, place = at + 8195, nothing = 0;
  std::uint32_t n = 9;
  LaunchShape shape;
  shape.block[0] = 4;
  const LaunchParameter given[] = {
      {Kind::array, &array, 4}, {Kind::place, &place, 0}, {Kind::local, nullptr, 16}, {Kind::value, &n, 4}};
  Event begin = nullptr, end = nullptr;
  REQUIRE((d.event_create(&begin, 0) == success && d.event_create(&end, 0) == success));
  float elapsed = -1;
  REQUIRE((d.event_record(begin, nullptr) == success && d.event_record(end, nullptr) == success));
  REQUIRE((d.synchronize() == success && d.event_elapsed(&elapsed, begin, end) == success));
  CHECK(elapsed == 0.0F);
  REQUIRE(d.event_record(begin, nullptr) == success);
  REQUIRE(d.launch_kernel(f, shape, nullptr, given) == success);
  REQUIRE((d.event_record(end, nullptr) == success && d.synchronize() == success));
  REQUIRE(d.event_elapsed(&elapsed, begin, end) == success);
  CHECK((elapsed > 0.0F && elapsed < 10000.0F));
  REQUIRE(d.copy_out(back.data(), at, back.size()) == success);
  CHECK((back[4096] == 9 && back[8195] == 10 && back[8196] == bytes[8196]));
  const LaunchParameter null_place[] = {
      {Kind::array, &array, 4}, {Kind::place, &nothing, 0}, {Kind::local, nullptr, 16}, {Kind::value, &n, 4}};
  CHECK((d.launch_kernel(f, shape, nullptr, null_place) == success && d.synchronize() == success));
  CHECK(d.launch_kernel(g, shape, nullptr, std::span(given, 2)) != success);
  CHECK(has(d.describe(invalid_value), "there are no images"));
  CHECK(d.release(at) == success);
  CHECK(d.release(at) != success);
  CHECK((d.event_destroy(begin) == success && d.event_destroy(end) == success));
  CHECK(d.module_unload(module) == success);
}

TEST_CASE("opencl: its kernels of the evaluator find what those of CUDA and HIP find") {
  setenv("KERNELSEARCH_HIP_RUNTIME", KERNELSEARCH_STANDIN_HIP, 0);
  setenv("KERNELSEARCH_HIPRTC", KERNELSEARCH_STANDIN_HIPRTC, 0);
  GpuOptions of_standin = options(), of_opencl = options();
  of_standin.devices = {0};
  of_standin.sandbox = Sandbox::none;  // the stand-in's headers are where no sandbox sees them
  if (gpu_status(GpuBackend::hip).devices.empty()) {
    MESSAGE("skipped: there is no stand-in of HIP here");
    return;
  }
  Held standin(GpuBackend::hip, of_standin), opencl(GpuBackend::opencl, of_opencl);
  constexpr BufferId a{1}, b{2}, c{3}, e{4};
  constexpr std::uint64_t count = 3001;
  for (Held* held : {&standin, &opencl})
    REQUIRE(!held->worker.allocate({{a, count * 8}, {b, count * 8}, {c, count * 8}, {e, count * 8}}));
  const auto both = [&](const std::vector<Action>& actions) {
    const auto expected = standin.act(actions), got = opencl.act(actions);
    CHECK(!expected.empty());
    CHECK(got == expected);
  };
  for (const ElementType type :
       {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64, ElementType::i8,
        ElementType::i16, ElementType::i32, ElementType::i64, ElementType::u8, ElementType::u16,
        ElementType::u32, ElementType::u64, ElementType::boolean})
    for (const Initialisation how : {Initialisation::zeros, Initialisation::ones, Initialisation::uniform,
                                     Initialisation::arange, Initialisation::permutation})
      for (const InputFlavour flavour : {InputFlavour::declared, InputFlavour::edge}) {
        CAPTURE(static_cast<int>(type));
        CAPTURE(static_cast<int>(how));
        const std::uint64_t bytes = count * size_in_bytes(type);
        FillArray fill{a, type, how, flavour, type == ElementType::f32, 12345, count, -3, 5, 4.5, 100};
        if (how == Initialisation::uniform) fill.factor = 8;  // stretches of 128 elements
        if (!is_floating(type)) fill.low = 0, fill.high = 5, fill.top = 4;
        if (how == Initialisation::permutation) fill.factor = 1009;
        both({fill, HashArray{a, bytes},
              ConvertArray{a, b, type, is_floating(type) ? ElementType::f64 : type, count},
              HashArray{b, is_floating(type) ? count * 8 : bytes}, ReadElement{a, 17, type, 0, 0}});
      }
  FillArray drawn{
      a, ElementType::f32, Initialisation::uniform, InputFlavour::declared, false, 5, count, -1, 1, 1, 0};
  FillArray other = drawn;
  other.buffer = b;
  other.seed = 6;
  CompareArrays compare;
  compare.got = a;
  compare.expected = b;
  compare.count = count;
  compare.absolute = 0.5;
  ComputeSlack slack{c, c, a, e, ElementType::f32, count, 1e-3};
  both({drawn, other, compare, WriteGuard{a, 77}, CheckGuard{a, 77}, CheckGuard{a, 78},
        FillPattern{b, 0x7fc00123u, count * 4}, CountPattern{b, 4, 0x7fc00123u, count},
        HashArray{b, count * 4 - 3}});
  both(
      {drawn, ConvertArray{a, c, ElementType::f32, ElementType::f64, count}, slack, HashArray{e, count * 8}});
  compare.slack = e;
  compare.bits = true;
  both({compare});
}

TEST_CASE("opencl: hostile kernels get the verdict that each deserves, and the next one is judged unharmed") {
  const Problem problem = scale().parsed();
  const auto honest = support::default_candidate(problem);
  GpuOptions cold = options();
  cold.cache = CacheMode::cold;
  const Evaluation emptied = GpuEvaluator(problem, cold).evaluate(honest, {});
  CHECK_MESSAGE(emptied.verdict == Verdict::ok, emptied.reason);
  GpuEvaluator evaluator(problem, options());
  const Evaluation first = evaluator.evaluate(honest, {});
  REQUIRE_MESSAGE(first.verdict == Verdict::ok, first.reason);
  CHECK(first.features.find("verified_calls").value_or(0) > 0);
  CHECK(first.features.find("preferred_multiple").value_or(0) > 0);
  CHECK(first.features.find("local_bytes").has_value());
  CHECK(!first.features.find("registers").has_value());
  CHECK(has(first.provenance, "sandbox "));
  for (const Sample& sample : hostile_kernels()) {
    CAPTURE(std::string(sample.name));
    const Evaluation judged = evaluator.evaluate(support::with_code(problem, kernel(sample.body)), {});
    CAPTURE(judged.reason);
    CHECK_MESSAGE(
        std::find(sample.verdicts.begin(), sample.verdicts.end(), judged.verdict) != sample.verdicts.end(),
        to_string(judged.verdict));
    CHECK(has(judged.reason, sample.words));
    const Evaluation next = evaluator.evaluate(honest, {});
    CHECK_MESSAGE(next.verdict == Verdict::ok, "the next: " << next.reason);
  }
}

TEST_CASE("opencl: launches that a device cannot do are said in words") {
  support::DeviceProblem large = scale();
  large.launch = R"({"grid": [1], "block": ["n - 1000 + BLOCK"]})";
  large.more = R"(, "tunables": {"BLOCK": [1024]})";
  large.shapes = R"([{"name": "large", "n": 1000}])";
  const Problem one = large.parsed();
  const Evaluation too_many = GpuEvaluator(one, options()).evaluate(support::default_candidate(one), {});
  if (device().threads_per_block < 1024) CHECK(too_many.verdict == Verdict::launch_failed);

  const Problem problem = scale().parsed();
  Problem with_host = problem;
  with_host.kernel.regions.host = "void scale() {}";
  CHECK_THROWS_WITH_AS(GpuEvaluator(with_host, options()), doctest::Contains("no launch function"),
                       ConfigError);
  GpuEvaluator evaluator(problem, options());
  const Evaluation fewer = evaluator.evaluate(
      support::with_code(problem, "__kernel void scale(int n, const __global float* x) {}\n"), {});
  CHECK(fewer.verdict == Verdict::launch_failed);
  CHECK_MESSAGE(has(fewer.reason, "parameter 2 of 2"), fewer.reason);
  const Evaluation image = evaluator.evaluate(
      support::with_code(
          problem, "__kernel void scale(int n, image2d_t x, __global float* y, __global float* w) {}\n"),
      {});
  CHECK(image.verdict == Verdict::build_failed);
  CHECK_MESSAGE(has(image.reason, "no images and no samplers"), image.reason);
  const Evaluation missing =
      evaluator.evaluate(support::with_code(problem, "__kernel void other(int n) {}\n"), {});
  CHECK(missing.verdict == Verdict::build_failed);
  CHECK_MESSAGE(has(missing.reason, "there is no kernel scale"), missing.reason);
}

TEST_CASE("opencl: several parameters in local memory, of sizes that follow from tunables") {
  support::DeviceProblem text = scale();
  // Each group turns its elements around in two arrays; what is one element too short would be seen.
  text.kernel =
      "__kernel void scale(int n, __local float* mine, const __global float* x, __global float* y,\n"
      "                    __global float* w, __local float* turned) {\n"
      "  const int i = get_global_id(0), l = get_local_id(0);\n"
      "  mine[l] = i < n ? x[i] : 0;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  turned[GROUP - 1 - l] = 3 * mine[GROUP - 1 - l] + 1;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  if (i < n) y[i] = turned[l];\n"
      "}\n";
  text.launch =
      R"([{"function": "scale", "arguments": ["n", "mine", "x", "y", "w"], "grid": ["(n + GROUP - 1) // GROUP"],
      "block": ["GROUP"], "local": [{"name": "mine", "bytes": "4 * GROUP * MANY"}, {"name": "turned", "bytes": "4 * GROUP"}]}])";
  text.more = R"(, "tunables": {"GROUP": [32, 64], "MANY": [1, 10000000]})";
  const Problem problem = text.parsed();
  GpuEvaluator evaluator(problem, options());
  const auto at = [&](std::uint32_t group, std::uint32_t many) {
    return evaluator.evaluate({std::make_shared<const Kernel>(problem.kernel), Config{{group, many}}}, {});
  };
  for (const std::uint32_t group : {0U, 1U}) {
    const Evaluation right = at(group, 0);
    CHECK_MESSAGE(right.verdict == Verdict::ok, right.reason);
    CHECK(right.features.find("shared_bytes").value_or(0) >= (group == 0 ? 256 : 512));
  }
  const Evaluation too_large = at(0, 1);
  CHECK(too_large.verdict == Verdict::launch_failed);
  CHECK_MESSAGE(has(too_large.reason, "bytes of dynamic shared memory"), too_large.reason);
}

TEST_CASE("opencl: events that say less than the clock are not believed") {
  std::vector<double> seconds{1e-9, 1e-9, 1e-9};
  CHECK(!charge_outside(seconds, {}, 1e-4));
  CHECK(!charge_outside(seconds, {1e-5, 2e-5, 9e-5}, 1e-4));
  CHECK(seconds.front() == 1e-9);
  CHECK(charge_outside(seconds, {1e-3, 2e-3, 3e-3}, 1e-4));
  CHECK(seconds == std::vector<double>{1e-3, 2e-3, 3e-3});
  std::vector<double> alike{1e-3, 1e-3};
  CHECK(!charge_outside(alike, {1.2e-3, 1.2e-3}, 1e-4));

  support::DeviceProblem slow = scale();
  slow.shapes = R"([{"name": "large", "n": 400000}])";
  const Problem problem = slow.parsed();
  const std::string turns = device().on_host ? "200" : "50000";  // long beside what launching takes
  const Candidate candidate =
      support::with_code(problem, kernel("float s = 0; if (i < n) { for (int k = 0; k < " + turns +
                                         "; ++k) s += native_sin(x[i] + k); "
                                         "y[i] = 3 * x[i] + 1 + (s > 1e9f ? 1 : 0); }"));
  const Evaluation honest = GpuEvaluator(problem, options()).evaluate(candidate, {});
  REQUIRE_MESSAGE(honest.verdict == Verdict::ok, honest.reason);
  const Faulty library("times");
  const Evaluation lying = GpuEvaluator(problem, options()).evaluate(candidate, {});
  REQUIRE_MESSAGE(lying.verdict == Verdict::ok, lying.reason);
  CHECK(lying.features.find("charged_batches").value_or(0) > 0);
  CHECK(lying.measurement.seconds > 1e-6);
}

TEST_CASE(
    "opencl: a loader that cuts its list of platforms does not cut that of the processes started later") {
  const char* const before = std::getenv("OCL_ICD_FILENAMES");
  const std::string kept = before != nullptr ? before : "";
  const std::string list = kept.empty() ? "libpocl.so.2:libother.so" : kept;
  setenv("OCL_ICD_FILENAMES", list.c_str(), 1);
  {
    const Faulty library("lists");
    std::string problem;
    CHECK(load_opencl(problem) != nullptr);
  }
  const char* const after = std::getenv("OCL_ICD_FILENAMES");
  CHECK((after != nullptr ? after : "") == list);
  kept.empty() ? unsetenv("OCL_ICD_FILENAMES") : setenv("OCL_ICD_FILENAMES", kept.c_str(), 1);
}

TEST_CASE("opencl: errors of the library cost one candidate, not the run") {
  const Problem problem = scale().parsed();
  const auto honest = support::default_candidate(problem);
  for (const auto& [named, verdict] : {std::pair("clEnqueueNDRangeKernel:-5:60", Verdict::launch_failed),
                                       std::pair("clEnqueueNDRangeKernel:-54:60", Verdict::launch_failed),
                                       std::pair("clFinish:-36:20", Verdict::crashed)}) {
    const auto fault = named;  // no structured binding: clang 14 captures none
    CAPTURE(std::string(fault));
    std::optional<GpuEvaluator> evaluator;
    std::optional<Verdict> got;
    {
      const Faulty library(fault);
      evaluator.emplace(problem, options());
      try {
        got = evaluator->evaluate(honest, {}).verdict;
      } catch (const Error& error) {  // the referee met it first
        CHECK_MESSAGE(has(error.what(), "CL_"), error.what());
      }
    }
    if (got) CHECK_MESSAGE(*got == verdict, to_string(*got));
    GpuEvaluator sound(problem, options());
    CHECK(sound.evaluate(honest, {}).verdict == Verdict::ok);
  }
  const Faulty library("clGetPlatformIDs:-1001:1");
  const GpuStatus status = gpu_status(GpuBackend::opencl);
  CHECK(status.devices.empty());
  CHECK_MESSAGE(has(status.problem, "apt-get install pocl-opencl-icd"), status.problem);
  CHECK_MESSAGE(has(status.compiler_problem, "apt-get install pocl-opencl-icd"), status.compiler_problem);
}

TEST_CASE("opencl: devices by platform, behind one that cannot be used") {
  using kernelsearch_test::Desk;
  const GpuDevice before = device();
  REQUIRE(before.platform >= 0);
  const Faulty library("platform");
  const GpuStatus status = gpu_status(GpuBackend::opencl);
  REQUIRE(!status.unusable.empty());
  CHECK(status.unusable.front().ordinal == 0);
  CHECK_MESSAGE(has(status.unusable.front().problem, "the device lacks cl_khr_fp64"),
                status.unusable.front().problem);
  CHECK(status.problem.empty());
  const std::string name =
      std::to_string(before.platform + 1) + ":" + std::to_string(before.number_in_platform);
  REQUIRE(gpu_ordinal(name, status) == before.ordinal + 1);

  const Desk desk;
  const std::filesystem::path folder = desk.path() / "matmul";
  std::filesystem::copy(example("matmul").folder, folder);
  std::string json = kernelsearch_test::read_text(folder / "problem.json");
  json.replace(json.find("\"256\", \"n\": 256"), 15, "\"96\", \"n\": 96  ");
  kernelsearch_test::write_text(folder / "problem.json", json);
  const auto tune = [&](std::string devices) {
    return desk.kernelsearch({"tune", "matmul", "--budget", "2", "--samples", "6", "--devices",
                              std::move(devices), "--store", "runs.db", "--policy", "random"});
  };
  const auto ran = tune(name);
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK_MESSAGE(has(ran.err + ran.out, before.name), ran.err);
  const auto unusable = tune("0:0");
  CHECK(unusable.code != 0);
  CHECK_MESSAGE(has(unusable.err, "there is no such device: 0:0; there is: "), unusable.err);
  CHECK_MESSAGE(has(unusable.err, "device 0 cannot be used: "), unusable.err);
  const auto doctor = desk.kernelsearch({"doctor"});
  const std::string line = "platform " + std::to_string(before.platform + 1) + ", device " +
                           std::to_string(before.number_in_platform) + " of it: " + before.name;
  CHECK_MESSAGE(has(doctor.out, line), doctor.out);
  CHECK_MESSAGE(has(doctor.out, "the device lacks cl_khr_fp64"), doctor.out);

  // Other backends have no platforms.
  const auto host =
      desk.kernelsearch({"tune", (example("matmul").folder / ".." / ".." / "host" / "matmul").string(),
                         "--budget", "1", "--devices", "0:0", "--store", "runs.db"});
  CHECK(host.code != 0);
  CHECK_MESSAGE(has(host.err, "only devices of OpenCL have platforms"), host.err);
}

TEST_CASE("opencl: examples are right at several configurations") {
  for (const char* name : {"matmul", "transpose", "reduction", "convolution", "stencil"}) {
    CAPTURE(std::string(name));
    Problem problem = example(name);
    std::erase_if(problem.shapes, [](const Shape& shape) { return shape.weight > 0; });
    problem.shapes.front().weight = 1;
    GpuOptions chosen = options();
    chosen.sampling.max_samples = 6;
    GpuEvaluator evaluator(problem, chosen);
    const auto shared = std::make_shared<const Kernel>(problem.kernel);
    Rng rng(7);
    for (int i = 0; i < 5; ++i) {
      const Candidate candidate{shared, i == 0 ? shared->space.default_config() : shared->space.sample(rng)};
      CAPTURE(shared->space.key(candidate.config));
      const Evaluation judged = evaluator.evaluate(candidate, {});
      const bool invalid = judged.verdict == Verdict::rejected && has(judged.reason, "`valid` is false");
      CHECK_MESSAGE((judged.verdict == Verdict::ok || invalid), to_string(judged.verdict)
                                                                    << ": " << judged.reason);
    }
  }
}

TEST_CASE("opencl: tune, resume, best and recordings by the command") {
  using kernelsearch_test::Desk;
  const Desk desk;
  const std::filesystem::path folder = desk.path() / "matmul";
  std::filesystem::copy(example("matmul").folder, folder);
  std::string json = kernelsearch_test::read_text(folder / "problem.json");
  json.replace(json.find("\"256\", \"n\": 256"), 15, "\"96\", \"n\": 96  ");
  kernelsearch_test::write_text(folder / "problem.json", json);
  const std::string devices = std::to_string(test_device());
  const auto run = [&](std::vector<std::string> arguments) {
    const auto ran = desk.kernelsearch(arguments);
    CHECK_MESSAGE(ran.code == 0, ran.err);
    return ran;
  };
  (void)run({"tune", "matmul", "--budget", "4", "--samples", "6", "--devices", devices, "--store", "runs.db",
             "--policy", "random"});
  (void)run({"tune", "--resume", "latest", "--budget", "7", "--store", "runs.db", "--record", "run.t4.json",
             "--out", "won"});
  const std::string source = kernelsearch_test::read_text(desk.path() / "won" / "matmul_opencl_best.cl");
  CHECK_MESSAGE(has(source, "#define GROUP_X "), source);
  CHECK(has(source, "__kernel"));
  CHECK(!has(source, "#include"));
  CHECK(has(source, "built with the driver"));
  std::string problem;
  const auto compiler = RuntimeCompiler::load(GpuBackend::opencl, problem, test_device());
  REQUIRE(compiler != nullptr);
  const DeviceCode code = compiler->compile(source, {}, {"matmul"});
  CHECK_MESSAGE(code.ok, code.log);
  CHECK(has(run({"best", "--store", "runs.db"}).out, "GROUP_X"));
  (void)run({"convert", "run.t4.json", "run.json", "--to", "cachefile", "--space", "matmul"});
  (void)run({"convert", "run.json", "back.t4.json", "--to", "t4", "--space", "matmul"});
  const auto before = nlohmann::json::parse(kernelsearch_test::read_text(desk.path() / "run.t4.json")),
             after = nlohmann::json::parse(kernelsearch_test::read_text(desk.path() / "back.t4.json"));
  REQUIRE(before.at("results").size() == 7);
  REQUIRE(after.at("results").size() == 7);
  for (std::size_t i = 0; i < 7; ++i)
    CHECK(before["results"][i]["configuration"] == after["results"][i]["configuration"]);
  const auto doctor = run({"doctor"});
  CHECK_MESSAGE(has(doctor.out, "OpenCL device " + devices), doctor.out);
  CHECK(has(doctor.out, "OpenCL compiler"));
}

int main(int argc, char** argv) {
  if (device().name.empty()) {
    const GpuStatus status = gpu_status(GpuBackend::opencl);
    std::printf("skipped: no OpenCL device can be used here: %s\n", status.problem.c_str());
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
