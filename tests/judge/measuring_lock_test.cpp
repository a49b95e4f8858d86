// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/judge/measuring_lock.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

const std::vector<MeasuredThing> one_core{measured_core(1)};

/// A process of its own that holds the lock until it is killed.
struct Holder {
  explicit Holder(const std::filesystem::path& folder) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    pid = fork();
    if (pid == 0) {
      const MeasuringTurn turn = MeasuringTurn::take(one_core, {}, nullptr, folder);
      (void)!write(ready[1], "x", 1);
      for (;;) pause();
    }
    char c = 0;
    REQUIRE(read(ready[0], &c, 1) == 1);
    close(ready[0]);
    close(ready[1]);
  }
  void kill_it() {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    pid = 0;
  }
  ~Holder() { kill_it(); }
  pid_t pid = 0;
};

}  // namespace

TEST_CASE("MeasuringTurn: one at a time over processes and threads, and nothing stays of a killed one") {
  const TemporaryFolder folder;
  const std::filesystem::path locks = folder / "locks";
  CHECK(lock_problem(locks).empty());
  {
    Holder other(locks);
    CHECK(!MeasuringTurn::try_take(one_core, locks));
    CHECK(MeasuringTurn::try_take({measured_core(2)}, locks).has_value());
    other.kill_it();
    CHECK(MeasuringTurn::try_take(one_core, locks).has_value());
  }
  auto held = MeasuringTurn::try_take(one_core, locks);
  REQUIRE(held);
  CHECK(!MeasuringTurn::try_take(one_core, locks));
  held.reset();
  CHECK(MeasuringTurn::try_take(one_core, locks).has_value());
}

TEST_CASE("MeasuringTurn: waiting is told, ends with the other's turn, and can be stopped") {
  const TemporaryFolder folder;
  auto held = MeasuringTurn::try_take(one_core, folder / "locks");
  REQUIRE(held);
  std::stop_source stop;
  std::vector<std::string> told;
  const auto tell = [&](std::string_view text) {
    told.emplace_back(text);
    if (!text.empty()) stop.request_stop();
  };
  CHECK(!MeasuringTurn::take(one_core, stop.get_token(), tell, folder / "locks"));
  CHECK(told == std::vector<std::string>{"waits for core 1: another kernelsearch measures on it", ""});
  // Who gave up stands in nobody's way.
  held.reset();
  CHECK(MeasuringTurn::try_take(one_core, folder / "locks").has_value());

  held = MeasuringTurn::try_take(one_core, folder / "locks");
  told.clear();
  const MeasuringTurn next = MeasuringTurn::take(
      one_core, {},
      [&](std::string_view text) {
        told.emplace_back(text);
        held.reset();
      },
      folder / "locks");
  CHECK(static_cast<bool>(next));
  CHECK(told.size() == 2);
}

TEST_CASE("MeasuringTurn: who keeps a lock is named, and stalls nobody for ever") {
  const TemporaryFolder folder;
  const std::filesystem::path locks = folder / "locks";
  // Any user may open and lock the file of a core, and never let go: before, `tune` waited without end.
  Holder other(locks);
  std::vector<std::string> told;
  std::string error;
  try {
    (void)MeasuringTurn::take(
        one_core, {}, [&](std::string_view text) { told.emplace_back(text); }, locks, 0.05);
  } catch (const DeviceError& refused) {
    error = refused.what();
  }
  CAPTURE(error);
  CHECK(error.find("core 1 locked") != std::string::npos);
  CHECK(error.find("process " + std::to_string(other.pid)) != std::string::npos);
  CHECK(error.find(" of user ") != std::string::npos);
  CHECK(error.find("KERNELSEARCH_LOCKS") != std::string::npos);
  REQUIRE(told.size() == 2);
  CHECK(told.back().empty());
  // Who gave up stands in nobody's way.
  other.kill_it();
  CHECK(MeasuringTurn::try_take(one_core, locks).has_value());
}

TEST_CASE("MeasuringTurn: two that want it all the time take turns") {
  const TemporaryFolder folder;
  std::atomic<int> inside{0};
  std::atomic<bool> both{false};
  std::vector<int> order;
  const auto work = [&](int who) {
    for (int i = 0; i < 20; ++i) {
      const MeasuringTurn turn = MeasuringTurn::take(one_core, {}, nullptr, folder / "locks");
      if (++inside > 1) both = true;
      order.push_back(who);  // guarded by the turn itself
      // Long enough that the other one waits by the time it ends.
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
      --inside;
    }
  };
  { std::jthread a(work, 1), b(work, 2); }
  CHECK(!both);
  REQUIRE(order.size() == 40);
  int repeats = 0;
  for (std::size_t i = 1; i < order.size(); ++i) repeats += order[i] == order[i - 1] ? 1 : 0;
  CHECK(repeats < 20);  // 38 where whoever releases it takes it again
}

TEST_CASE("MeasuringTurn: several things are asked for in one order, so that nobody waits for ever") {
  const TemporaryFolder folder;
  const std::vector<MeasuredThing> ab{measured_core(1), measured_gpu("0000:3B:00.0")};
  const std::vector<MeasuredThing> ba{ab[1], ab[0]};
  int turns = 0;
  const auto work = [&](const std::vector<MeasuredThing>& things) {
    for (int i = 0; i < 50; ++i) {
      const MeasuringTurn turn = MeasuringTurn::take(things, {}, nullptr, folder / "locks");
      ++turns;
    }
  };
  { std::jthread a(work, ab), b(work, ba); }
  CHECK(turns == 100);
}

TEST_CASE("lock files: one for each core and device, for all users of the machine") {
  const TemporaryFolder folder;
  CHECK(measured_gpu("0000:3B:00.0").lock == measured_gpu("0000:3b:00.0").lock);
  CHECK(measured_gpu("0000:3B:00.0").lock == "gpu-0000-3b-00.0");
  CHECK(measured_core(12).words == "core 12");
  const mode_t before = umask(077);
  { const auto turn = MeasuringTurn::try_take(one_core, folder / "locks"); }
  umask(before);
  struct stat state {};
  REQUIRE(stat((folder / "locks").c_str(), &state) == 0);
  CHECK((state.st_mode & 07777) == 01777);
  REQUIRE(stat((folder / "locks" / "core-1.lock").c_str(), &state) == 0);
  CHECK((state.st_mode & 0444) == 0444);

  // Where there can be none, nobody waits and it is said why.
  const std::filesystem::path nowhere = folder / "locks" / "core-1.lock" / "below";
  CHECK(lock_problem(nowhere).find("Not a directory") != std::string::npos);
  CHECK(static_cast<bool>(MeasuringTurn::take(one_core, {}, nullptr, nowhere)));
}

TEST_CASE("free_core: the last that no other run measures on, with cores enough") {
  const TemporaryFolder folder;
  const std::filesystem::path locks = folder / "locks";
  CHECK(free_core({2, 3, 5, 7}, locks) == 7);
  const auto first = reserve_core(7, locks);
  REQUIRE(first);
  CHECK(!reserve_core(7, locks));
  CHECK(free_core({2, 3, 5, 7}, locks) == 5);
  CHECK(free_core({3, 5, 7}, locks) == 7);
  std::vector<std::optional<MeasuringTurn>> all;
  for (const int core : {2, 3, 5}) all.push_back(reserve_core(core, locks));
  CHECK(free_core({2, 3, 5, 7}, locks) == 7);  // all are taken: in turns on the last
}

TEST_CASE("held_things: what is measured on, by whom, and nothing of what strangers put beside it") {
  const TemporaryFolder folder;
  const std::filesystem::path locks = folder.path();
  CHECK(held_things(locks / "none").empty());
  for (const char* name : {"core-x.lock", "gpu-.lock", "core-3.run.lock", "something.lock"})
    std::ofstream(locks / name) << "";
  REQUIRE(::mkfifo((locks / "core-7.lock").c_str(), 0600) == 0);  // nobody has its other end
  CHECK(held_things(locks).empty());
  auto turn = MeasuringTurn::try_take({measured_core(5), measured_gpu("0000:41:00.0")}, locks);
  REQUIRE(turn);
  const std::vector<HeldThing> held = held_things(locks);
  REQUIRE(held.size() == 2);
  CHECK(held[0].words == "core 5");
  CHECK(held[0].process == ::getpid());
  CHECK(held[0].holder.starts_with("process " + std::to_string(::getpid()) + " ("));
  CHECK(held[1].words == "GPU 0000-41-00.0");
  turn.reset();
  CHECK(held_things(locks).empty());
}
