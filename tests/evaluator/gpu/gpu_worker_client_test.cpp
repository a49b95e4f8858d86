// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The worker process on its own: commands and their answers, the kernels of the evaluator, misuse.
#include "evaluator/gpu/gpu_worker_client.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/call_plan.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "evaluator/gpu/support.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/element_access.hpp"

using namespace gpu_test;
using namespace kernelsearch::detail;
using namespace kernelsearch::detail::gpu;

namespace {

class Held {
 public:
  Held()
      : options_(quick()),
        builders_(GpuBackend::hip, options_),
        shared(1 << 20, Arena::Writers::both),
        worker(KERNELSEARCH_GPU_WORKER_PROGRAM, GpuBackend::hip, GpuWorkerClient::Role::device, 0, &shared) {
    REQUIRE(!worker.hello(30, device));
    const Built built =
        builders_.build(service_source(GpuBackend::hip), compile_options(device, options_, {}),
                        {service_names(), service_names() + service_count});
    REQUIRE_MESSAGE(built.verdict == Verdict::ok, built.reason);
    std::vector<FunctionFacts> facts;
    REQUIRE(!worker.load(service_module, *built.image, built.functions, facts));
    CHECK(facts.size() == service_count);
  }

  Built build(const std::string& source, const std::vector<std::string>& names) {
    return builders_.build(source, compile_options(device, options_, {}), names);
  }
  std::vector<std::uint64_t> act(const std::vector<Action>& actions) {
    Act::Reply done;
    const auto error = worker.act(actions, 20, done);
    CHECK_MESSAGE(!error, (error ? error->text : ""));
    return done.values;
  }
  std::optional<WorkerError> refused(const Action& action) {
    Act::Reply done;
    return worker.act({action}, 20, done);
  }

 private:
  GpuOptions options_;
  BuilderPool builders_;

 public:
  Arena shared;
  GpuDevice device;
  GpuWorkerClient worker;
};

constexpr BufferId first_buffer{1}, second_buffer{2}, third_buffer{3};

/// Elements of a filled array as doubles.
std::vector<double> filled(Held& held, const Argument& argument, std::size_t count, std::uint64_t seed,
                           InputFlavour flavour, bool magnitudes = false) {
  const std::size_t bytes = count * size_in_bytes(argument.type);
  constexpr BufferId array{7};
  CHECK(!held.worker.allocate({{array, bytes}}));
  PlannedArgument planned;
  planned.count = count;
  planned.type = argument.type;
  held.act({fill_action(argument, planned, array, seed, flavour, magnitudes), CopyOut{array, 0, bytes}});
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = load_element(argument.type, held.shared.data() + i * size_in_bytes(argument.type));
  return values;
}

constexpr ElementType every_type[] = {
    ElementType::f16, ElementType::bf16, ElementType::f32,    ElementType::f64, ElementType::i8,
    ElementType::i16, ElementType::i32,  ElementType::i64,    ElementType::u8,  ElementType::u16,
    ElementType::u32, ElementType::u64,  ElementType::boolean};

}  // namespace

TEST_CASE("GpuWorkerClient: contents are in their range for every type, way of filling and flavour") {
  Held held;
  for (const ElementType type : every_type)
    for (const Initialisation how :
         {Initialisation::uniform, Initialisation::ill_conditioned, Initialisation::normal}) {
      Argument argument;
      argument.name = "x";
      argument.type = type;
      argument.is_array = true;
      argument.initialisation = how;
      const bool whole = !is_floating(type), truth = type == ElementType::boolean;
      argument.low = truth ? 0 : type >= ElementType::u8 ? 3 : -5;
      argument.high = truth ? 2 : 20;
      if (how == Initialisation::normal) argument.low = 60, argument.high = 10;
      if ((how == Initialisation::ill_conditioned && whole) || (how == Initialisation::normal && truth))
        continue;
      for (const InputFlavour flavour :
           {InputFlavour::declared, InputFlavour::edge, InputFlavour::ill_conditioned}) {
        CAPTURE(to_string(type));
        CAPTURE(static_cast<int>(how));
        CAPTURE(static_cast<int>(flavour));
        const std::vector<double> values = filled(held, argument, 1000, 11, flavour);
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        const bool normal = how == Initialisation::normal;
        CHECK(*least >= (normal ? 0 : argument.low));
        CHECK(*most <= (normal ? 120 : argument.high - (whole ? 1 : 0)));
        if (!truth) CHECK(*least < *most);  // all may be true or all false
        if (flavour == InputFlavour::edge && how == Initialisation::uniform) CHECK(*least == argument.low);
        // The same seed gives the same contents, another one others, and magnitudes are the same without
        // signs.
        CHECK(filled(held, argument, 1000, 11, flavour) == values);
        CHECK(filled(held, argument, 1000, 12, flavour) != values);
        std::vector<double> magnitudes = values;
        if (!whole)
          for (double& value : magnitudes) value = std::abs(value);
        CHECK(filled(held, argument, 1000, 11, flavour, true) == magnitudes);
      }
    }
}

TEST_CASE("GpuWorkerClient: uniform numbers are uniform") {
  Held held;
  Argument argument;
  argument.name = "x";
  argument.exact = "the distribution itself is looked at";
  const std::vector<double> values = filled(held, argument, 20000, 5, InputFlavour::declared);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 20000;
  CHECK(std::abs(mean) < 0.02);
  for (const double from : {-1.0, -0.5, 0.0, 0.5})
    CHECK(std::abs(static_cast<double>(std::count_if(values.begin(), values.end(),
                                                     [&](double v) { return v >= from && v < from + 0.5; })) -
                   5000) < 300);
}

TEST_CASE("GpuWorkerClient: values widen and narrow to the nearest, as on the host") {
  Held held;
  const std::vector<double> numbers = {0,          1,      -1,      0.1,  1.0 / 3, 65504,  65519.9,
                                       65520,      1e30,   -2.5e-5, 6e-8, 3e-8,    2.9e-8, -1e-40,
                                       0.1 + 1e-9, 1023.5, 2049,    2051, 1e-310,  3.4e38};
  CHECK(!held.worker.allocate({{first_buffer, 160}, {second_buffer, 160}, {third_buffer, 160}}));
  std::memcpy(held.shared.data(), numbers.data(), 160);
  for (const ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    CAPTURE(to_string(type));
    std::memcpy(held.shared.data(), numbers.data(), 160);
    held.act({CopyIn{first_buffer, 0, 160},
              ConvertArray{first_buffer, second_buffer, ElementType::f64, type, 20},
              ConvertArray{second_buffer, third_buffer, type, ElementType::f64, 20},
              CopyOut{third_buffer, 0, 160}});
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      double got = 0;
      std::memcpy(&got, held.shared.data() + 8 * i, 8);
      std::byte stored[8];
      store_element(type, numbers[i], stored);
      // Through f32 to bf16 on the device: twice rounded, which may differ in the last place.
      const double right = load_element(type, stored);
      if (type == ElementType::bf16)
        CHECK((got == right || std::abs(got - right) <= std::abs(right) / 128));
      else
        CHECK(got == right);
    }
  }
}

TEST_CASE("GpuWorkerClient: guards, hashes, poison and rotations, for arrays of any length") {
  Held held;
  for (const std::uint64_t bytes : {1, 3, 7, 8, 16, 511, 512, 513, 4001}) {
    CAPTURE(bytes);
    CHECK(!held.worker.allocate({{first_buffer, bytes}, {second_buffer, bytes}}));
    const WriteGuard guard{first_buffer, 99};
    const CheckGuard check{first_buffer, 99};
    const FillPattern poison{first_buffer, 0x1122334455667788u, bytes},
        other{first_buffer, 0x1122334455667789u, bytes};
    const HashArray hash{first_buffer, bytes};
    const auto values = held.act({guard, poison, check, hash, other, hash, check, poison, hash});
    REQUIRE(values.size() == 5);
    CHECK(values[0] == 0);
    CHECK(values[1] != values[2]);
    CHECK(values[3] == 0);
    CHECK(values[4] == values[1]);
    CHECK(held.act({CheckGuard{first_buffer, 100}})[0] > 0);
    // Turned round it is the same bytes in another order; by its length it would be itself.
    const std::uint64_t begin = bytes / 3;
    for (std::uint64_t i = 0; i < bytes; ++i) held.shared.data()[i] = static_cast<std::byte>(i * 7);
    held.act({CopyIn{first_buffer, 0, bytes}, RotateArray{first_buffer, second_buffer, begin, bytes},
              CopyOut{second_buffer, 0, bytes}});
    bool right = true;
    for (std::uint64_t i = 0; i < bytes; ++i)
      right = right && held.shared.data()[i] == static_cast<std::byte>((i + begin) % bytes * 7);
    CHECK(right);
  }
}

TEST_CASE("GpuWorkerClient: poison that is left is counted, for elements of 2, 4 and 8 bytes") {
  Held held;
  CHECK(!held.worker.allocate({{first_buffer, 800}}));
  const FillPattern poison{first_buffer, 0x7e017e017e017e01u, 800};
  std::memset(held.shared.data(), 0, 80);
  for (const std::uint32_t size : {2u, 4u, 8u}) {
    const CountPattern left{first_buffer, size, size == 2 ? 0x7e01u : poison.word, 800 / size};
    CHECK(held.act({poison, left, CopyIn{first_buffer, 0, 80}, left}) ==
          std::vector<std::uint64_t>{800 / size, 720 / size});
  }
}

TEST_CASE("GpuWorkerClient: comparing allows what tolerances, slack and overflow allow, and nothing else") {
  Held held;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    double got, expected, slack;
    bool right;
  };
  const std::vector<Case> cases = {
      {1, 1, 0, true},          {1.01, 1, 0, true},    {1.2, 1, 0, false},   {1.2, 1, 0.1, true},
      {nan, 1, 0, false},       {nan, nan, 0, true},   {1, nan, 0, false},   {inf, inf, 0, true},
      {-inf, inf, 0, false},    {1e30, inf, 0, false}, {inf, 1, 0, false},   {inf, 3.4e38, 0, true},
      {-inf, 3.4e38, 0, false}, {5, 1, inf, true},     {nan, 1, inf, true},  {0.05, 0, 0, true},
      {0.2, 0, 0, false},       {102, 100, 0, true},   {112, 100, 0, false}, {inf, 3.35e38, 0, true}};
  const std::uint64_t bytes = 8 * cases.size();
  CHECK(!held.worker.allocate({{first_buffer, bytes}, {second_buffer, bytes}, {third_buffer, bytes}}));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    const float got = static_cast<float>(cases[i].got);
    std::memcpy(held.shared.data(), &got, 4);
    std::memcpy(held.shared.data() + 8, &cases[i].expected, 8);
    std::memcpy(held.shared.data() + 16, &cases[i].slack, 8);
    CompareArrays compare;
    compare.got = first_buffer;
    compare.expected = second_buffer;
    compare.slack = third_buffer;
    compare.type = ElementType::f32;
    compare.expected_type = ElementType::f64;
    compare.count = 1;
    compare.absolute = 0.1;
    compare.relative = 0.02;
    compare.overflow = 3.4e38 * 0.99;
    const auto values = held.act(
        {CopyIn{first_buffer, 0, 4}, CopyIn{second_buffer, 8, 8}, CopyIn{third_buffer, 16, 8}, compare});
    REQUIRE(values.size() == 2);
    CHECK((values[0] == 0) == cases[i].right);
    CHECK(values[1] == (cases[i].right ? ~std::uint64_t{0} : 0));
  }
}

TEST_CASE(
    "GpuWorkerClient: the first of several wrong elements is named; 64-bit integers are compared to the last "
    "bit") {
  Held held;
  CHECK(!held.worker.allocate({{first_buffer, 8000}, {second_buffer, 8000}}));
  std::vector<std::int64_t> right(1000);
  std::iota(right.begin(), right.end(), std::int64_t{1} << 60);
  std::vector<std::int64_t> got = right;
  got[377] += 1, got[500] -= 1, got[999] = 0;
  std::memcpy(held.shared.data(), got.data(), 8000);
  std::memcpy(held.shared.data() + 8000, right.data(), 8000);
  CompareArrays compare;
  compare.got = first_buffer;
  compare.expected = second_buffer;
  compare.type = compare.expected_type = ElementType::i64;
  compare.count = 1000;
  CHECK(held.act({CopyIn{first_buffer, 0, 8000}, CopyIn{second_buffer, 8000, 8000}, compare}) ==
        std::vector<std::uint64_t>{3, 377});
}

TEST_CASE(
    "GpuWorkerClient: fields of structs are compared and read in place, and bits where they are asked for") {
  struct Point {
    std::int32_t kind;
    float x;
  };
  Held held;
  CHECK(!held.worker.allocate({{first_buffer, 80}, {second_buffer, 80}}));
  std::vector<Point> right(10), got;
  for (std::int32_t i = 0; i < 10; ++i)
    right[static_cast<std::size_t>(i)] = {i, 0.5f * static_cast<float>(i)};
  got = right;
  got[3].x += 1e-6f;
  got[0].x = -0.0f;
  got[7].kind = 70;
  std::memcpy(held.shared.data(), got.data(), 80);
  std::memcpy(held.shared.data() + 80, right.data(), 80);
  held.act({CopyIn{first_buffer, 0, 80}, CopyIn{second_buffer, 80, 80}});
  const auto compared = [&](ElementType type, std::uint32_t offset, bool bits) {
    CompareArrays compare;
    compare.got = first_buffer;
    compare.expected = second_buffer;
    compare.type = compare.expected_type = type;
    compare.count = 10;
    compare.absolute = 1e-3;
    compare.stride = sizeof(Point);
    compare.offset = offset;
    compare.bits = bits;
    return held.act({compare});
  };
  constexpr std::uint64_t none = ~std::uint64_t{0};
  CHECK(compared(ElementType::i32, 0, false) == std::vector<std::uint64_t>{1, 7});
  CHECK(compared(ElementType::f32, 4, false) == std::vector<std::uint64_t>{0, none});
  CHECK(compared(ElementType::f32, 4, true) == std::vector<std::uint64_t>{2, 0});  // -0 has other bits than 0
  const auto read = held.act({ReadElement{first_buffer, 7, ElementType::i32, sizeof(Point), 0},
                              ReadElement{second_buffer, 9, ElementType::f32, sizeof(Point), 4}});
  double values[2];
  std::memcpy(values, read.data(), sizeof values);
  CHECK(values[0] == 70);
  CHECK(values[1] == 4.5);
}

TEST_CASE("GpuWorkerClient: arrays are written in pieces, from shared memory or with the command") {
  Held held;
  CHECK(!held.worker.allocate({{first_buffer, 64}}));
  for (int i = 0; i < 64; ++i) held.shared.data()[i] = static_cast<std::byte>(i);
  const std::vector<std::byte> more(16, std::byte{0xee});
  held.act({FillPattern{first_buffer, 0, 64}, CopyIn{first_buffer, 8, 16, 32},
            StoreBytes{first_buffer, 48, more}, CopyOut{first_buffer, 0, 64}});
  const std::byte* got = held.shared.data();
  CHECK(got[31] == std::byte{0});
  CHECK(got[32] == std::byte{8});
  CHECK(got[47] == std::byte{23});
  CHECK(got[48] == std::byte{0xee});
  CHECK(got[63] == std::byte{0xee});
}

TEST_CASE("GpuWorkerClient: what makes no sense is refused, and the process lives on") {
  Held held;
  const auto says = [](const std::optional<WorkerError>& error, const char* words) {
    REQUIRE(error);
    CHECK(error->kind == WorkerError::refused);
    CHECK_MESSAGE(contains(error->text, words), error->text);
  };
  const auto sent = [&held](const std::vector<std::byte>& command) {
    std::vector<std::byte> reply;
    return held.worker.exchange(command, 5, reply);
  };
  says(held.refused(HashArray{BufferId{1234}, 8}), "no buffer 1234");
  CHECK(!held.worker.allocate({{first_buffer, 64}, {second_buffer, 64}}));
  says(held.refused(CopyOut{first_buffer, 0, 65}), "leaves the shared memory or the buffer");
  says(held.refused(CopyIn{first_buffer, (1 << 20) - 8, 64}), "leaves the shared memory");
  says(held.refused(CopyIn{first_buffer, ~std::uint64_t{0} - 7, 64}), "leaves the shared memory");
  says(held.refused(CopyIn{first_buffer, 0, 32, 33}), "leaves its array");
  says(held.refused(CopyIn{first_buffer, 0, 8, ~std::uint64_t{0} - 3}), "leaves its array");
  says(held.refused(StoreBytes{first_buffer, 60, std::vector<std::byte>(5)}), "leaves its array");
  says(held.refused(RotateArray{second_buffer, first_buffer, 65, 64}), "rotation");
  says(held.refused(CallProgram{ProgramId{44}, false, {}}), "no such program");
  const auto acting = static_cast<std::uint32_t>(Command(Act{}).index());
  says(sent(Writer().put(acting).put(std::uint64_t{1}).put(std::uint32_t{999}).bytes()), "unknown command");
  std::vector<std::int32_t> blocks;
  const auto launching = [](ModuleId module, std::uint32_t function) {
    ProgramPlan plan;
    LaunchKernel launch;
    launch.module = module;
    launch.function = function;
    plan.steps.emplace_back(launch);
    return plan;
  };
  constexpr ProgramId program{1};
  says(held.worker.define(program, launching(ModuleId{9}, 0), blocks), "no module 9");
  says(held.worker.define(program, launching(service_module, 99), blocks), "no such function");
  says(sent(Writer().put(std::uint32_t{77}).bytes()), "unknown command");
  says(sent({}), "cut short");
  const auto loading = static_cast<std::uint32_t>(Command(LoadModule{}).index());
  says(sent(Writer().put(loading).put(std::uint32_t{3}).bytes()), "cut short");
  std::vector<FunctionFacts> facts;
  says(held.worker.load(ModuleId{3}, std::vector<std::byte>(100), {"f"}, facts), "loading the module");
  MemoryHandle handle{};
  CHECK(held.worker.lend(first_buffer, handle));
  CHECK(!held.worker.release({first_buffer, second_buffer, BufferId{555}}));
  CHECK(!held.worker.unload(ModuleId{555}));
  CHECK(held.worker.alive());
  CHECK(held.act({}).empty());
}

TEST_CASE("GpuWorkerClient: random commands never end it or its controller") {
  Held held;
  Rng rng(2024);
  for (int round = 0; round < 300 && held.worker.alive(); ++round) {
    Writer command;
    // Everything but compile, act with calls, and sizes that would be taken for allocations.
    const Command commands[] = {LoadModule{},     UnloadModule{}, DefineProgram{},
                                ReleaseBuffers{}, LendBuffer{},   BorrowBuffer{}};
    command.put(static_cast<std::uint32_t>(commands[rng.below(std::size(commands))].index()));
    for (auto left = rng.below(12); left > 0; --left) command.put(static_cast<std::uint32_t>(rng.below(5)));
    std::vector<std::byte> reply;
    (void)held.worker.exchange(command.bytes(), 10, reply);
  }
  CHECK(held.worker.alive());
}

TEST_CASE("GpuWorkerClient: a program with an unbound array, or a parameter that is not there") {
  Held held;
  const Built built = held.build("extern \"C\" __global__ void f(int* x) { if (x) *x = 5; }\n", {"f"});
  REQUIRE(built.verdict == Verdict::ok);
  std::vector<FunctionFacts> facts;
  constexpr ModuleId module{1};
  constexpr ProgramId program{1};
  REQUIRE(!held.worker.load(module, *built.image, built.functions, facts));
  ProgramPlan plan;
  plan.steps.emplace_back(LaunchKernel{module, 0, {}, {ArrayParameter{2}}});
  std::vector<std::int32_t> blocks;
  REQUIRE(!held.worker.define(program, plan, blocks));
  CHECK(blocks.size() == 1);
  for (const std::size_t bindings : {1, 3}) {  // too few, and none for that argument
    const auto error = held.refused(CallProgram{program, true, {bindings, std::nullopt}});
    REQUIRE(error);
    CHECK(contains(error->text, "not bound"));
  }
}

TEST_CASE("GpuWorkerClient: one that does not answer in time is ended, and says so") {
  Held held;
  const Built built = held.build(
      "extern \"C\" __global__ void f() { while (*(volatile int*)&threadIdx.x == 0) {} }\n", {"f"});
  REQUIRE(built.verdict == Verdict::ok);
  std::vector<FunctionFacts> facts;
  constexpr ModuleId module{1};
  constexpr ProgramId program{1};
  REQUIRE(!held.worker.load(module, *built.image, built.functions, facts));
  ProgramPlan plan;
  plan.steps.emplace_back(LaunchKernel{module, 0, {}, {}});
  std::vector<std::int32_t> blocks;
  REQUIRE(!held.worker.define(program, plan, blocks));
  Act::Reply done;
  const auto error = held.worker.act({CallProgram{program, false, {}}}, 0.2, done);
  REQUIRE(error);
  CHECK(error->kind == WorkerError::timed_out);
  CHECK(!held.worker.alive());
  const auto again = held.worker.act({}, 1, done);
  REQUIRE(again);
  CHECK(again->kind == WorkerError::ended);
}

TEST_CASE("find_gpu_worker: names what is missing") {
  CHECK_THROWS_AS((void)find_gpu_worker("/nowhere/at/all"), ConfigError);
  CHECK(find_gpu_worker(KERNELSEARCH_GPU_WORKER_PROGRAM) ==
        std::filesystem::path(KERNELSEARCH_GPU_WORKER_PROGRAM));
}
