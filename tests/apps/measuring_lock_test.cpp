// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "apps/command.hpp"
#include "kernelsearch/judge/measuring_lock.hpp"

using namespace kernelsearch_test;
using kernelsearch::measured_core;
using kernelsearch::MeasuringTurn;

namespace {

/// The last core that may be used.
int last_core() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  int last = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &allowed)) last = core;
  return last;
}

/// A problem whose kernel, once it is loaded, has a shared lock on the file `mine` until its process ends,
/// and dies where anyone has one on the file `theirs`: where a kernel of the other problem is loaded too.
void write_problem(const std::filesystem::path& folder, const std::filesystem::path& mine,
                   const std::filesystem::path& theirs) {
  std::filesystem::create_directories(folder);
  // Kernels run as nobody where the tests run as root.
  std::filesystem::permissions(mine.parent_path(), static_cast<std::filesystem::perms>(0755));
  write_text(folder / "problem.json", R"json({
  "schema": 1, "name": "alone", "function": "twice",
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "only", "n": 4096}],
  "kernel": {"device": "kernel.cpp"},
  "tunables": {"UNROLL": [1, 2, 4, 8, 16, 32]},
  "reference": {"function": "twice_reference",
                "source": {"text": "void twice_reference(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"}}})json");
  write_text(folder / "kernel.cpp", R"(#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
__attribute__((constructor)) static void alone() {
  const int mine = open(")" + mine.string() +
                                        R"(", O_RDONLY), theirs = open(")" + theirs.string() +
                                        R"(", O_RDONLY);
  if (mine < 0 || theirs < 0) abort();
  if (flock(mine, LOCK_SH) != 0) abort();
  if (flock(theirs, LOCK_EX | LOCK_NB) != 0) abort();
  close(theirs);
}
extern "C" void twice(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
)");
  write_text(mine, "");
}

std::vector<std::string> tune(const std::string& problem) {
  // The check of finalists' bounds calls kernels and measures nothing, so it waits for no turn.
  return Desk::line({"tune", problem, "--samples", "10", "--no-bounds", "--budget", "all", "--policy",
                     "exhaustive", "--sandbox", "none", "--store", problem + ".db", "--out", problem + "_out",
                     "--core", std::to_string(last_core()), "--json"});
}

template <class Condition>
bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace

TEST_CASE("two runs of `tune` at once on one core: neither measures while the other does" *
          doctest::test_suite("thorough")) {
  const Desk a, b;
  const auto lock_a = a.path() / "a.file", lock_b = a.path() / "b.file";
  write_problem(a.path() / "alone", lock_a, lock_b);
  write_problem(b.path() / "alone", lock_b, lock_a);
  Started first(a.path(), tune("alone")), second(b.path(), tune("alone"));
  const Ran one = first.finish(), two = second.finish();
  for (const Ran* ran : {&one, &two}) {
    CHECK_MESSAGE(ran->code == 0, ran->err);
    const auto result = ran->json();
    REQUIRE(result.is_object());
    // A kernel that met the other run's would have died.
    CHECK(result["trials"] == 6);
    CHECK(result["verdicts"]["ok"] == 6);
  }
  // They were at work at the same time, or this has shown nothing.
  const std::string waits = "waits for core " + std::to_string(last_core());
  CHECK((one.err.find(waits) != std::string::npos || two.err.find(waits) != std::string::npos));
}

TEST_CASE("tune: says that it waits for a core, measures nothing meanwhile, and goes on afterwards") {
  const Desk desk;
  write_problem(desk.path() / "alone", desk.path() / "a.file", desk.path() / "b.file");
  write_text(desk.path() / "b.file", "");
  std::optional<MeasuringTurn> turn = MeasuringTurn::take({measured_core(last_core())});
  Started tuning(desk.path(), tune("alone"));
  const std::string waits =
      "waits for core " + std::to_string(last_core()) + ": another kernelsearch measures on it";
  CHECK(soon([&] { return read_text(desk.path() / ".err").find(waits) != std::string::npos; }));
  const auto runs = desk.kernelsearch({"runs", "--store", "alone.db", "--json"}).json();
  REQUIRE(runs.is_array());
  CHECK(runs[0]["trials"] == 0);
  turn.reset();
  const Ran ran = tuning.finish();
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["verdicts"]["ok"] == 6);
}
