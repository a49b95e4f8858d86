// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/worker_client.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>

#include "evaluator/host/support.hpp"
#include "judge/compile.hpp"
#include "judge/runner.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "process/pinned_thread.hpp"
#include "process/process.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;

namespace {

/// A worker with a kernel of `scale`, as it is timed.
struct Timed {
  explicit Timed(const std::string& source)
      : Timed(parse_problem(support::scale_problem(source), support::sources)) {}
  explicit Timed(Problem timed)
      : problem(std::move(timed)),
        options(support::quick()),
        settings(worker_settings(options, {host_machine().cores.back()}, problem)),
        plan(plan_shape(problem, problem.default_candidate(), 1)) {
    CompileCache compiler(options, host_machine().id(), host_machine().cores);
    const Compiled compiled = compiler.compile(candidate_job(problem, problem.default_candidate()));
    REQUIRE_MESSAGE(compiled.verdict == Verdict::ok, compiled.reason);
    runner.emplace(settings, compiled.library, Storage::native, false,
                   Slots(plan, Storage::native, 1 << 20, 2, 16).arena_bytes());
    REQUIRE(!runner->fault());
    runner->select(plan, 1 << 20, 2, 16);
    Contents contents(plan.arguments.size());
    for (std::size_t a = 0; a < plan.arguments.size(); ++a)
      if (plan.arguments[a].is_input()) contents[a].resize(plan.arguments[a].count * sizeof(float));
    for (std::size_t slot = 0; slot < runner->slots().count(); ++slot)
      runner->slots().fill(slot, contents, secret_seed());
  }

  Problem problem;
  HostOptions options;
  WorkerSettings settings;
  ShapePlan plan;
  std::optional<Runner> runner;
};

const char* const scale =
    "extern \"C\" void scale(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = 3 * x[i] "
    "+ 1; }";

}  // namespace

TEST_CASE("a worker that is timed stands still but while it is called, threads of its own too") {
  // A thread that never rests, started when it is loaded: the filter comes after.
  Timed timed(
      std::string("#include <thread>\nstatic std::thread burner([] { for (volatile int i = 0;; i = 1) {} "
                  "});\n") +
      scale);
  const double before = timed.runner->worker().cpu();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(timed.runner->worker().cpu() - before < 1e-3);
  // What the thread does while a call runs is charged to it.
  double seconds = 0;
  const PinnedThread here(timed.runner->core());
  REQUIRE(here.pinned());
  REQUIRE(!timed.runner->run(1, 0, 10, seconds));
  CHECK(seconds > 0);
  // Nor does it run when we leave the core, whichever of its threads the system would have chosen.
  double meanwhile = 0;
  for (int i = 0; i < 20; ++i) {
    REQUIRE(!timed.runner->run(1, 0, 10, seconds));
    const double stopped = timed.runner->worker().cpu();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    meanwhile += timed.runner->worker().cpu() - stopped;
  }
  CHECK(meanwhile < 1e-3);
}

TEST_CASE("what a worker does before and after its calls is charged like the calls") {
  // The time of a hundred thousand steps, spent in the message that says that it is done.
  const std::string burn = "for (volatile int i = 0; i < 300000; i = i + 1) {}";
  Timed honest(scale), late(std::string("#include <sys/types.h>\nextern \"C\" ssize_t send(int, const void*, "
                                        "size_t, int);\n") +
                            "extern \"C\" void scale(int n, const float* x, float* y) { " + burn +
                            " for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1; }");
  // The least of several: what others do on a busy machine makes single ones longer.
  double plain = std::numeric_limits<double>::infinity(), burnt = plain, seconds = 0;
  const PinnedThread here(honest.runner->core());
  for (int i = 0; i < 7; ++i) {
    REQUIRE(!honest.runner->run(1, 0, 10, seconds));
    plain = std::min(plain, seconds);
    REQUIRE(!late.runner->run(1, 0, 10, seconds));
    burnt = std::min(burnt, seconds);
  }
  CHECK(burnt > 3 * plain);
}

TEST_CASE("inputs cannot be written, and the argument is found by where it was tried") {
  Timed timed(
      "extern \"C\" void scale(int n, const float* x, float* y) { y[0] = 1; ((float*)x)[n - 1] = 1; }");
  double seconds = 0;
  const auto fault = timed.runner->run(1, 1, 10, seconds);
  REQUIRE(fault);
  CHECK(fault->verdict == Verdict::cheated);
  const detail::Fault explained = timed.runner->explained(*fault, timed.problem);
  CHECK(explained.reason == "it changed its input x");
  CHECK(!explained.overrun);
}

TEST_CASE("a write next to an input is told with the index, from the zones before and behind it") {
  const auto explained = [](const std::string& at) {
    Timed timed("extern \"C\" void scale(int n, const float* x, float* y) { y[0] = 1; ((float*)x)[" + at +
                "] = 1; }");
    double seconds = 0;
    const auto fault = timed.runner->run(1, 1, 10, seconds);
    REQUIRE(fault);
    return std::pair(timed.runner->explained(*fault, timed.problem), timed.plan.arguments[1].count);
  };
  const auto [behind, count] = explained("n + 2");
  CHECK(behind.verdict == Verdict::cheated);
  CHECK(behind.overrun == Overrun{"x", static_cast<std::int64_t>(count) + 2, count});
  CHECK(behind.reason == "it wrote outside of its arrays: x[" + std::to_string(count + 2) +
                             "], past the end of x (" + std::to_string(count) + " elements)");
  const auto [before, same] = explained("-3");
  CHECK(before.overrun == Overrun{"x", -3, same});
  CHECK(before.reason == "it wrote outside of its arrays: x[-3], before the beginning of x (" +
                             std::to_string(same) + " elements)");
}

TEST_CASE("a write next to an input between two of them is told with the nearer one") {
  const auto place = [](const std::string& written) {
    Problem problem = parse_problem(
        support::scale_problem("extern \"C\" void scale(int n, const float* x, const float* w, float* y) { "
                               "y[0] = 1; ((float*)" +
                               written + "] = 1; }"),
        support::sources);
    problem.arguments.insert(problem.arguments.begin() + 2, problem.arguments[1]);
    problem.arguments[2].name = "w";
    Timed timed(std::move(problem));
    double seconds = 0;
    const auto fault = timed.runner->run(1, 1, 10, seconds);
    REQUIRE(fault);
    return timed.runner->explained(*fault, timed.problem).overrun;
  };
  CHECK(place("w)[-3") == Overrun{"w", -3, 4096});
  CHECK(place("x)[n + 2") == Overrun{"x", 4098, 4096});
}

TEST_CASE("calls in lockstep are made one at a time, on the slots that are asked for") {
  Timed timed(scale);
  if (!timed.runner->has_lockstep()) {
    MESSAGE("skipped: this machine has one core");
    return;
  }
  const std::vector<std::uint32_t> called{3, 0};
  double seconds = 0;
  REQUIRE(!timed.runner->lockstep(called, 10, seconds));
  CHECK(seconds > 0);
  for (std::size_t slot = 0; slot < 4; ++slot)
    CHECK(timed.runner->slots().is_all_poison(slot, 2) == (slot == 1 || slot == 2));
}

TEST_CASE("a worker draws the slots of a batch itself, some of those that are filled, each once") {
  Timed timed(scale);
  const Slots& slots = timed.runner->slots();
  REQUIRE(slots.count() >= 12);
  std::vector<std::vector<std::uint32_t>> orders;
  for (int batch = 0; batch < 4; ++batch) {
    Contents contents(3);
    contents[1].resize(slots.bytes(1));
    for (std::size_t slot = 0; slot < 12; ++slot) timed.runner->slots().fill(slot, contents, secret_seed());
    double seconds = 0;
    std::vector<std::uint32_t> drawn;
    REQUIRE(!timed.runner->run_drawn(3, 12, 10, seconds, drawn));
    REQUIRE(drawn.size() == 12);
    for (std::size_t i = 0; i < 12; ++i) CHECK(slots.is_all_poison(drawn[i], 2) == (i >= 3));
    orders.push_back(drawn);
  }
  CHECK_FALSE((orders[0] == orders[1] && orders[1] == orders[2] && orders[2] == orders[3]));
}

TEST_CASE("a call has its arguments at the same place as every other, and no other's behind them") {
  Timed timed(
      "static void go(int n, const float* x, float* y, void* const* table) {\n"
      "  static void* const* const first = table;\n"
      "  const bool alone = table == first && table[3] == nullptr && table[4] == nullptr;\n"
      "  for (int i = 0; i < n; ++i) y[i] = alone ? 3 * x[i] + 1 : 0;\n}\n"
      "#define scale(n, x, y) go(n, x, y, arguments)\n");
  const auto all_alone = [&](std::span<const std::uint32_t> called) {
    return std::all_of(called.begin(), called.end(), [&](std::uint32_t slot) {
      float first = 0;
      std::memcpy(&first, timed.runner->slots().data(slot, 2), sizeof first);
      return first == 1;
    });
  };
  double seconds = 0;
  std::vector<std::uint32_t> drawn;
  REQUIRE(!timed.runner->run_drawn(6, 8, 10, seconds, drawn));
  CHECK(all_alone(std::span(drawn).first(6)));
  timed.runner->slots().order(drawn);
  REQUIRE(!timed.runner->run_ordered(8, 10, seconds));
  CHECK(all_alone(drawn));
}

TEST_CASE("an account of the calls that is no order of the slots is noticed") {
  const Problem problem = parse_problem(support::scale_problem(scale), support::sources);
  const ShapePlan plan = plan_shape(problem, problem.default_candidate(), 0);
  Slots slots(plan, Storage::native, 0, 4, 4);
  std::vector<std::byte> inputs(slots.arena_bytes().inputs), outputs(slots.arena_bytes().outputs);
  slots.attach({inputs.data(), outputs.data(), 0, 0}, 1);
  const auto write = [&](std::size_t place, std::uint32_t slot) {
    std::memcpy(&outputs[host_protocol::drawn_at + place * sizeof slot], &slot, sizeof slot);
  };
  slots.let_draw(4);
  CHECK(slots.drawn(4) == std::vector<std::uint32_t>{0, 1, 2, 3});
  write(0, 3);
  CHECK_FALSE(slots.drawn(4));  // one of them twice
  write(3, 0);
  CHECK(slots.drawn(4) == std::vector<std::uint32_t>{3, 1, 2, 0});
  write(3, 4);
  CHECK_FALSE(slots.drawn(4));  // one that was not filled
}

TEST_CASE("child_count: processes that threads of a process started, until they are waited for") {
  if (detail::child_count(getpid()) < 0) {
    MESSAGE("skipped: this kernel does not list children by process");
    return;
  }
  // In a process of its own, as others of this program may have started some.
  const pid_t parent = fork();
  if (parent == 0) {
    const pid_t first = fork();
    if (first == 0)
      for (;;) pause();
    pid_t second = 0;  // by another thread than the first
    std::thread([&second] {
      second = fork();
      if (second == 0)
        for (;;) pause();
    }).join();
    const bool two = detail::child_count(getpid()) == 2;
    (void)kill(first, SIGKILL);
    (void)waitpid(first, nullptr, 0);
    const bool one = detail::child_count(getpid()) == 1;
    (void)kill(second, SIGKILL);
    (void)waitpid(second, nullptr, 0);
    _exit(two && one && detail::child_count(getpid()) == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(parent, &status, 0) == parent);
  CHECK(status == 0);
  CHECK(detail::child_count(parent) < 0);
}

TEST_CASE("ClockOverhead: what the clock takes is short and known") {
  Timed timed(scale);
  ClockOverhead clock(timed.settings);
  const double overhead = clock.of_batch();
  CHECK(overhead > 0);
  CHECK(clock.uncertainty() >= 0);
  CHECK(clock.uncertainty() < overhead);
  const double of_call = clock.of_call(3);
  CHECK(of_call >= 0);
  CHECK(of_call < overhead);
  CHECK(clock.of_call(3) == of_call);  // known
}
