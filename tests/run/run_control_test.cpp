// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_control.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "kernelsearch/run/run.hpp"
#include "kernelsearch/run/run_lock.hpp"
#include "run/countdown.hpp"
#include "run/pause_gate.hpp"
#include "run/support.hpp"

using namespace run_test;

TEST_CASE("RunControl: what is said is read while a process works on the run, and goes with it") {
  const TemporaryFolder folder;
  const auto store = folder / "runs.db";
  const RunControl control(store, RunId{2});
  CHECK_FALSE(control.pause());  // nobody works on it
  CHECK_FALSE(control.now().has_value());
  {
    const RunLock lock(store, RunId{2});
    CHECK(RunLock::holders(store) == std::vector<std::pair<RunId, pid_t>>{{RunId{2}, getpid()}});
    CHECK_FALSE(control.now().has_value());  // it has not spoken
    RunNow now;
    now.doing = "measuring";
    now.standing = {7, 12.5, 0.25, std::nullopt};
    control.say(now);
    const auto read = control.now();
    REQUIRE(read.has_value());
    CHECK(read->doing == "measuring");
    CHECK_FALSE(read->paused);
    CHECK(read->standing.trials == 7);
    CHECK(read->standing.seconds == 12.5);
    CHECK(read->standing.filled == 0.25);
    CHECK_FALSE(read->standing.left.has_value());
    struct ::stat file {};
    REQUIRE(::stat((folder / "runs.db.working" / "2.now").c_str(), &file) == 0);
    CHECK((file.st_mode & 0777) == 0600);
    CHECK(control.pause());
    CHECK(control.paused());
    CHECK(control.pause());  // once more changes nothing
    CHECK(control.go_on());
    CHECK_FALSE(control.go_on());
    CHECK(control.pause());
    std::ofstream(folder / "runs.db.working" / "2.now", std::ios::trunc) << "[1";
    CHECK_FALSE(control.now().has_value());
  }
  CHECK(RunLock::holders(store).empty());
  CHECK_FALSE(control.paused());
  std::ofstream(folder / "runs.db.working" / "2.pause") << "";  // as one that was killed left it
  const RunLock lock(store, RunId{2});
  CHECK_FALSE(control.paused());
}

TEST_CASE("PauseGate: who comes while it is closed waits, and the time is counted") {
  detail::PauseGate gate;
  std::vector<std::string> told;
  gate.pass({}, [&told](std::string_view text) { told.emplace_back(text); });
  CHECK(told.empty());
  CHECK(gate.seconds() == 0.0);
  gate.set(true);
  std::atomic<bool> passed{false};
  std::jthread waiting([&](const std::stop_token&) {
    gate.pass({}, [&told](std::string_view text) { told.emplace_back(text); });
    passed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(passed);
  CHECK(gate.seconds() >= 0.02);
  gate.set(false);
  waiting.join();
  CHECK(passed);
  CHECK(told == std::vector<std::string>{"paused until it is told to go on", ""});
  const double paused = gate.seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(gate.seconds() == paused);
  gate.set(true);
  std::stop_source stop;
  stop.request_stop();
  gate.pass(stop.get_token(), nullptr);  // a run that is to stop waits for nobody
}

namespace {

/// Pauses the run after three trials, and lets it go on a second later.
struct Pauser {
  RunControl control;
  std::atomic<std::uint64_t> told{0}, at_end_of_pause{0};
  std::atomic<bool> waits{false};
  std::jthread other{};

  void on_trial(const Trial<Candidate>&) {
    if (++told != 3) return;
    CHECK(control.pause());
    // Until it is seen: words are judged faster than anybody looks.
    CHECK(soon([this] { return control.now() && control.now()->paused; }));
    other = std::jthread([this](const std::stop_token&) {
      CHECK(soon([this] { return waits.load(); }));
      std::this_thread::sleep_for(std::chrono::seconds(1));
      at_end_of_pause = told.load();
      CHECK(control.go_on());
    });
  }
  void on_activity(const RunActivity& activity) {
    if (activity.waiting.starts_with("paused")) waits = true;
  }
};

}  // namespace

TEST_CASE("Run: paused it takes no new trial until it goes on, and a pause is not in its time") {
  const Place place;
  RunOptions options;
  options.policy = "random";
  options.budget = "12";
  options.measurement.jobs = 1;
  RunParts parts;
  parts.store = place.store.get();
  parts.evaluator = Words{small_problem(), place.gate};
  Run run = Run::start(small_problem(), options, std::move(parts));
  Pauser pauser{RunControl(place.store->file(), run.id())};
  const auto begun = std::chrono::steady_clock::now();
  run.to_end(pauser);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
  pauser.other.join();
  const RunRow row = place.store->run(run.id());
  CHECK(pauser.at_end_of_pause >= 3);
  CHECK(pauser.at_end_of_pause <= 6);  // three were under way
  CHECK(row.trials > pauser.at_end_of_pause);
  CHECK(row.seconds <= wall.count() - 1.0);
  for (const StoredTrial& trial : place.store->trials(run.id())) CHECK(trial.elapsed <= row.seconds);
}

TEST_CASE("Countdown: a pause moves its end") {
  const auto gate = std::make_shared<detail::PauseGate>();
  gate->set(true);
  std::stop_source stop;
  const detail::Countdown countdown(stop, detail::Countdown::Clock::now() + std::chrono::milliseconds(20),
                                    gate);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK_FALSE(countdown.over());
  gate->set(false);
  CHECK(soon([&] { return stop.stop_requested(); }));
  CHECK(countdown.over());
}
