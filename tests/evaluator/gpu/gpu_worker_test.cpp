// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The worker process on its own: commands and their answers, the kernels of the evaluator, misuse.
#include "evaluator/gpu/gpu_worker.hpp"

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
        shared(1 << 20),
        worker(KERNELSEARCH_GPU_WORKER_PROGRAM, GpuBackend::hip, GpuWorker::Role::device, 0, &shared) {
    REQUIRE(!worker.hello(30, device));
    const Built built = builders_.build(service_source(), compile_options(device, options_, {}),
                                        {service_names(), service_names() + service_count});
    REQUIRE_MESSAGE(built.verdict == Verdict::ok, built.reason);
    std::vector<FunctionFacts> facts;
    REQUIRE(!worker.load(0, *built.image, built.functions, facts));
    CHECK(facts.size() == service_count);
  }

  Built build(const std::string& source, const std::vector<std::string>& names) {
    return builders_.build(source, compile_options(device, options_, {}), names);
  }
  std::vector<std::uint64_t> act(const std::vector<Action>& actions) {
    GpuWorker::Done done;
    const auto error = worker.act(actions, {}, 20, done);
    CHECK_MESSAGE(!error, (error ? error->text : ""));
    return done.values;
  }
  std::optional<WorkerError> refused(const Action& action) {
    GpuWorker::Done done;
    return worker.act({action}, {}, 20, done);
  }

 private:
  GpuOptions options_;
  BuilderPool builders_;

 public:
  Arena shared;
  GpuDevice device;
  GpuWorker worker;
};

Action make(Act kind, std::uint32_t buffer, std::uint64_t count = 0) {
  Action action;
  action.kind = kind;
  action.buffer = buffer;
  action.count = count;
  return action;
}

/// Elements of a filled array as doubles.
std::vector<double> filled(Held& held, const Argument& argument, std::size_t count, std::uint64_t seed,
                           InputFlavour flavour, bool magnitudes = false) {
  const std::size_t bytes = count * size_in_bytes(argument.type);
  CHECK(!held.worker.allocate({7}, {bytes}));
  PlannedArgument planned;
  planned.count = count;
  planned.type = argument.type;
  Action out = make(Act::out, 7, bytes);
  held.act({fill_action(argument, planned, 7, seed, flavour, magnitudes), out});
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

TEST_CASE("GpuWorker: contents are in their range for every type, way of filling and flavour") {
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
        CHECK(*least < *most);
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

TEST_CASE("GpuWorker: uniform numbers are uniform") {
  Held held;
  Argument argument;
  argument.name = "x";
  const std::vector<double> values = filled(held, argument, 20000, 5, InputFlavour::declared);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 20000;
  CHECK(std::abs(mean) < 0.02);
  for (const double from : {-1.0, -0.5, 0.0, 0.5})
    CHECK(std::abs(static_cast<double>(std::count_if(values.begin(), values.end(),
                                                     [&](double v) { return v >= from && v < from + 0.5; })) -
                   5000) < 300);
}

TEST_CASE("GpuWorker: values widen and narrow to the nearest, as on the host") {
  Held held;
  const std::vector<double> numbers = {0,          1,      -1,      0.1,  1.0 / 3, 65504,  65519.9,
                                       65520,      1e30,   -2.5e-5, 6e-8, 3e-8,    2.9e-8, -1e-40,
                                       0.1 + 1e-9, 1023.5, 2049,    2051, 1e-310,  3.4e38};
  CHECK(!held.worker.allocate({1, 2, 3}, {160, 160, 160}));
  std::memcpy(held.shared.data(), numbers.data(), 160);
  for (const ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    CAPTURE(to_string(type));
    Action in = make(Act::in, 1, 160), narrow = make(Act::widen, 2, 20), wide = make(Act::widen, 3, 20),
           out = make(Act::out, 3, 160);
    narrow.other = 1;
    narrow.type = static_cast<std::uint32_t>(ElementType::f64);
    narrow.init = static_cast<std::uint32_t>(type);
    wide.other = 2;
    wide.type = narrow.init;
    wide.init = narrow.type;
    std::memcpy(held.shared.data(), numbers.data(), 160);
    held.act({in, narrow, wide, out});
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

TEST_CASE("GpuWorker: guards, hashes, poison and rotations, for arrays of any length") {
  Held held;
  for (const std::uint64_t bytes : {1, 3, 7, 8, 16, 511, 512, 513, 4001}) {
    CAPTURE(bytes);
    CHECK(!held.worker.allocate({1, 2}, {bytes, bytes}));
    Action guard = make(Act::guard, 1), check = make(Act::guard_check, 1),
           poison = make(Act::poison, 1, bytes), hash = make(Act::hash, 1, bytes),
           other = make(Act::poison, 1, bytes);
    guard.seed = check.seed = 99;
    poison.word = 0x1122334455667788u;
    other.word = 0x1122334455667789u;
    const auto values = held.act({guard, poison, check, hash, other, hash, check, poison, hash});
    REQUIRE(values.size() == 5);
    CHECK(values[0] == 0);
    CHECK(values[1] != values[2]);
    CHECK(values[3] == 0);
    CHECK(values[4] == values[1]);
    check.seed = 100;
    CHECK(held.act({check})[0] > 0);
    // Turned round it is the same bytes in another order; by its length it would be itself.
    Action turn = make(Act::rotate, 2, bytes), out = make(Act::out, 2, bytes), in = make(Act::in, 1, bytes);
    turn.other = 1;
    turn.seed = bytes / 3;
    for (std::uint64_t i = 0; i < bytes; ++i) held.shared.data()[i] = static_cast<std::byte>(i * 7);
    held.act({in, turn, out});
    bool right = true;
    for (std::uint64_t i = 0; i < bytes; ++i)
      right = right && held.shared.data()[i] == static_cast<std::byte>((i + turn.seed) % bytes * 7);
    CHECK(right);
  }
}

TEST_CASE("GpuWorker: poison that is left is counted, for elements of 2, 4 and 8 bytes") {
  Held held;
  CHECK(!held.worker.allocate({1}, {800}));
  Action poison = make(Act::poison, 1, 800), in = make(Act::in, 1, 80), left = make(Act::poison_left, 1);
  poison.word = 0x7e017e017e017e01u;
  std::memset(held.shared.data(), 0, 80);
  for (const std::uint32_t size : {2u, 4u, 8u}) {
    left.type = size;
    left.count = 800 / size;
    left.word = size == 2 ? 0x7e01u : poison.word;
    CHECK(held.act({poison, left, in, left}) == std::vector<std::uint64_t>{800 / size, 720 / size});
  }
}

TEST_CASE("GpuWorker: comparing allows what tolerances, slack and overflow allow, and nothing else") {
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
  CHECK(!held.worker.allocate({1, 2, 3}, {8 * cases.size(), 8 * cases.size(), 8 * cases.size()}));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    const float got = static_cast<float>(cases[i].got);
    std::memcpy(held.shared.data(), &got, 4);
    std::memcpy(held.shared.data() + 8, &cases[i].expected, 8);
    std::memcpy(held.shared.data() + 16, &cases[i].slack, 8);
    Action first = make(Act::in, 1, 4), second = make(Act::in, 2, 8), third = make(Act::in, 3, 8);
    second.word = 8;
    third.word = 16;
    Action compare = make(Act::compare, 1, 1);
    compare.other = 2;
    compare.type = static_cast<std::uint32_t>(ElementType::f32);
    compare.init = static_cast<std::uint32_t>(ElementType::f64);
    compare.word = 4;
    compare.low = 0.1;
    compare.high = 0.02;
    compare.top = 3.4e38 * 0.99;
    const auto values = held.act({first, second, third, compare});
    REQUIRE(values.size() == 2);
    CHECK((values[0] == 0) == cases[i].right);
    CHECK(values[1] == (cases[i].right ? ~std::uint64_t{0} : 0));
  }
}

TEST_CASE(
    "GpuWorker: the first of several wrong elements is named; 64-bit integers are compared to the last bit") {
  Held held;
  CHECK(!held.worker.allocate({1, 2}, {8000, 8000}));
  std::vector<std::int64_t> right(1000);
  std::iota(right.begin(), right.end(), std::int64_t{1} << 60);
  std::vector<std::int64_t> got = right;
  got[377] += 1, got[500] -= 1, got[999] = 0;
  std::memcpy(held.shared.data(), got.data(), 8000);
  std::memcpy(held.shared.data() + 8000, right.data(), 8000);
  Action first = make(Act::in, 1, 8000), second = make(Act::in, 2, 8000),
         compare = make(Act::compare, 1, 1000);
  second.word = 8000;
  compare.other = 2;
  compare.type = compare.init = static_cast<std::uint32_t>(ElementType::i64);
  CHECK(held.act({first, second, compare}) == std::vector<std::uint64_t>{3, 377});
}

TEST_CASE("GpuWorker: what makes no sense is refused, and the process lives on") {
  Held held;
  const auto says = [](const std::optional<WorkerError>& error, const char* words) {
    REQUIRE(error);
    CHECK(error->kind == WorkerError::refused);
    CHECK_MESSAGE(contains(error->text, words), error->text);
  };
  says(held.refused(make(Act::hash, 1234, 8)), "no buffer 1234");
  CHECK(!held.worker.allocate({1, 2}, {64, 64}));
  says(held.refused(make(Act::out, 1, 65)), "leaves the shared memory or the buffer");
  Action far = make(Act::in, 1, 64);
  far.word = (1 << 20) - 8;
  says(held.refused(far), "leaves the shared memory");
  far.word = ~std::uint64_t{0} - 7;
  says(held.refused(far), "leaves the shared memory");
  Action turn = make(Act::rotate, 1, 64);
  turn.other = 2;
  turn.seed = 65;
  says(held.refused(turn), "rotation");
  Action call = make(Act::call, 0);
  call.program = 44;
  says(held.refused(call), "no such program");
  Action unknown;
  unknown.kind = static_cast<Act>(999);
  CHECK(held.refused(unknown));
  std::vector<std::int32_t> blocks;
  ProgramPlan plan;
  plan.steps.resize(1);
  plan.steps[0].module = 9;
  says(held.worker.program(1, plan, blocks), "no module 9");
  plan.steps[0].module = 0;
  plan.steps[0].function = 99;
  says(held.worker.program(1, plan, blocks), "no such function");
  says(held.worker.call(Writer().put(std::uint32_t{77}), 5), "unknown command");
  CHECK(held.worker.call(Writer(), 5));
  CHECK(held.worker.call(Writer().put(Op::load).put(std::uint32_t{3}), 5));
  std::vector<FunctionFacts> facts;
  says(held.worker.load(3, std::vector<std::byte>(100), {"f"}, facts), "loading the module");
  MemoryHandle handle{};
  CHECK(held.worker.lend(1, handle));
  CHECK(!held.worker.release({1, 2, 555}));
  CHECK(!held.worker.unload(555));
  CHECK(held.worker.alive());
  CHECK(held.act({}).empty());
}

TEST_CASE("GpuWorker: random commands never end it or its controller") {
  Held held;
  Rng rng(2024);
  for (int round = 0; round < 300 && held.worker.alive(); ++round) {
    Writer command;
    // Everything but compile, act with calls, and sizes that would be taken for allocations.
    const Op ops[] = {Op::load, Op::unload, Op::program, Op::release, Op::lend, Op::borrow};
    command.put(ops[rng.below(std::size(ops))]);
    for (auto left = rng.below(12); left > 0; --left) command.put(static_cast<std::uint32_t>(rng.below(5)));
    (void)held.worker.call(command, 10);
  }
  CHECK(held.worker.alive());
}

TEST_CASE("GpuWorker: a program with an unbound array, or a parameter that is not there") {
  Held held;
  const Built built = held.build("extern \"C\" __global__ void f(int* x) { if (x) *x = 5; }\n", {"f"});
  REQUIRE(built.verdict == Verdict::ok);
  std::vector<FunctionFacts> facts;
  REQUIRE(!held.worker.load(1, *built.image, built.functions, facts));
  ProgramPlan plan;
  plan.steps.resize(1);
  plan.steps[0].module = 1;
  plan.steps[0].parameters = 1;
  plan.parameters.resize(1);
  plan.parameters[0].kind = Parameter::array;
  plan.parameters[0].index = 2;
  std::vector<std::int32_t> blocks;
  REQUIRE(!held.worker.program(1, plan, blocks));
  CHECK(blocks.size() == 1);
  Action call = make(Act::timed_call, 0);
  call.program = 1;
  call.bindings = 1;
  const auto error = held.refused(call);
  REQUIRE(error);
  CHECK(contains(error->text, "not bound"));
}

TEST_CASE("GpuWorker: one that does not answer in time is ended, and says so") {
  Held held;
  const Built built = held.build(
      "extern \"C\" __global__ void f() { while (*(volatile int*)&threadIdx.x == 0) {} }\n", {"f"});
  REQUIRE(built.verdict == Verdict::ok);
  std::vector<FunctionFacts> facts;
  REQUIRE(!held.worker.load(1, *built.image, built.functions, facts));
  ProgramPlan plan;
  plan.steps.resize(1);
  plan.steps[0].module = 1;
  std::vector<std::int32_t> blocks;
  REQUIRE(!held.worker.program(1, plan, blocks));
  Action call = make(Act::call, 0);
  call.program = 1;
  GpuWorker::Done done;
  const auto error = held.worker.act({call}, {}, 0.2, done);
  REQUIRE(error);
  CHECK(error->kind == WorkerError::timed_out);
  CHECK(!held.worker.alive());
  const auto again = held.worker.act({}, {}, 1, done);
  REQUIRE(again);
  CHECK(again->kind == WorkerError::ended);
}

TEST_CASE("find_gpu_worker: names what is missing") {
  CHECK_THROWS_AS((void)find_gpu_worker("/nowhere/at/all"), ConfigError);
  CHECK(find_gpu_worker(KERNELSEARCH_GPU_WORKER_PROGRAM) ==
        std::filesystem::path(KERNELSEARCH_GPU_WORKER_PROGRAM));
}
