// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/progress_printer.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <thread>
#include <vector>

#include "kernelsearch/optimizer/optimizer.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;

namespace {

Trial<int> trial(std::uint64_t id, Evaluation evaluation) {
  Trial<int> t{1, {}};
  t.outcome.id = TrialId{id};
  t.outcome.evaluation = std::move(evaluation);
  if (t.outcome.ok()) t.outcome.objective = t.outcome.evaluation.measurement.seconds;
  return t;
}

Evaluation fast() {
  Evaluation e = Evaluation::succeeded(1.5e-3);
  e.measurement.speedup = Speedup{4.2, {4.1, 4.3}, 20};
  return e;
}

struct Fixture {
  double time = 100.0;
  std::ostringstream out;
  ProgressOptions options(bool terminal) {
    ProgressOptions o;
    o.terminal = terminal;
    o.clock = [this] { return time; };
    return o;
  }
  std::string taken() {
    std::string text = out.str();
    out.str("");
    return text;
  }
};

}  // namespace

TEST_CASE("ProgressPrinter: the status says all there is to say") {
  Fixture f;
  auto options = f.options(true);
  options.trials = 10;
  options.devices = 2;
  ProgressPrinter printer(f.out, options);
  CHECK(printer.status() ==
        "[....................] 0/10 trials, 0.0 s, no right candidate yet, 0/2 devices busy");
  printer.on_start(TrialId{0}, 1);
  printer.on_start(TrialId{1}, 1);
  printer.on_start(TrialId{2}, 1);
  f.time += 20;
  const auto good = trial(0, fast());
  printer.on_trial(good, 1);
  printer.on_best(good);
  printer.on_trial(trial(1, Evaluation::failed(Verdict::build_failed, "x")), 1);
  CHECK(printer.status() ==
        "[####................] 2/10 trials, 20 s, 1 min 20 s left, best 1.500 ms, 4.20x (4.10 to 4.30), "
        "1/2 devices busy, 1 ok, 1 build_failed");
  printer.on_revised(trial(0, Evaluation::failed(Verdict::cheated, "late")));
  CHECK(
      printer.status() ==
      "[####................] 2/10 trials, 20 s, 1 min 20 s left, no right candidate yet, 1/2 devices busy, "
      "1 build_failed, 1 cheated");
}

TEST_CASE("ProgressPrinter: the nearer end counts, and a resumed run goes on from where it was") {
  Fixture f;
  auto options = f.options(true);
  options.trials = 100;
  options.seconds = 60;
  options.trials_before = 50;
  options.seconds_before = 30;
  ProgressPrinter printer(f.out, options);
  f.time += 15;
  printer.on_trial(trial(50, fast()), 1);
  CHECK(printer.status().starts_with("[###############.....] 51/100 trials, 45 s, 15 s left"));
}

TEST_CASE("ProgressPrinter: a terminal's line is redrawn in place, not too often, and cut to its width") {
  Fixture f;
  auto options = f.options(true);
  options.columns = 20;
  ProgressPrinter printer(f.out, options);
  printer.tick();
  CHECK(f.taken() == "\r0 trials, 0.0 s, no\x1b[K");
  printer.tick();
  printer.on_trial(trial(0, fast()), 1);
  CHECK(f.taken().empty());
  f.time += 0.11;
  printer.tick();
  CHECK(f.taken().starts_with("\r1 trials, 0.1 s"));
  printer.on_end("done");
  const std::string end = f.taken();
  CHECK(end.starts_with("\r1 trials"));
  CHECK(end.ends_with("\x1b[K\nended: done\n"));
}

TEST_CASE("ProgressPrinter: without a terminal plain lines, for gains and now and then") {
  Fixture f;
  ProgressPrinter printer(f.out, f.options(false));
  const auto good = trial(3, fast());
  printer.on_trial(good, 1);
  printer.on_best(good);
  CHECK(f.taken() == "trial 3: 1.500 ms, 4.20x (4.10 to 4.30)\n");
  printer.tick();
  CHECK(f.taken().empty());
  f.time += 10;
  printer.tick();
  CHECK(f.taken() == "1 trials, 10 s, best 1.500 ms, 4.20x (4.10 to 4.30), 0/1 device busy, 1 ok\n");
  printer.on_end("done");
  const std::string end = f.taken();
  CHECK(end.ends_with("ended: done\n"));
  CHECK(end.find('\x1b') == std::string::npos);
  CHECK(end.find('\r') == std::string::npos);
}

TEST_CASE("ProgressPrinter: it watches a run, ticked from another thread") {
  std::ostringstream out;
  ProgressOptions options;
  options.terminal = true;
  options.redraw_seconds = 0.0;
  {
    ProgressPrinter printer(out, options);
    std::atomic<bool> stop{false};
    std::thread ticker([&] {
      while (!stop) printer.tick();
    });
    Optimizer search{
        scripted::Counting{.last = 200}, scripted::Copying{}, scripted::Landscape{}, {.in_flight = 4}};
    search.run(printer);
    stop = true;
    ticker.join();
    CHECK(printer.status().find("200 trials") != std::string::npos);
    CHECK(printer.status().find("0/1 device busy, 171 ok, 29 build_failed") != std::string::npos);
  }
  CHECK(out.str().find("ended: the policy has nothing more to propose\n") != std::string::npos);
}

TEST_CASE("ProgressPrinter: the first failure of each kind has a line with its trial, ten kinds at most") {
  Fixture f;
  ProgressPrinter printer(f.out, f.options(false));
  printer.on_trial(trial(3, Evaluation::failed(Verdict::build_failed, "a.cpp:1: error: no x")), 1);
  CHECK(f.taken() == "trial 3 failed: build_failed: a.cpp:1: error: no x\n");
  printer.on_trial(trial(4, Evaluation::failed(Verdict::build_failed, "a.cpp:2: error: no x")), 1);
  CHECK(f.taken().empty());
  printer.on_trial(trial(5, Evaluation::failed(Verdict::crashed, "")), 1);
  CHECK(f.taken() == "trial 5 failed: crashed\n");
  for (std::uint64_t i = 0; i < 20; ++i)
    printer.on_trial(
        trial(6 + i, Evaluation::failed(Verdict::crashed, std::string(1, static_cast<char>('a' + i)))), 1);
  const std::string rest = f.taken();
  CHECK(std::count(rest.begin(), rest.end(), '\n') == 8);
}

TEST_CASE("ProgressPrinter: on a terminal a failure stands above the status, which is drawn again") {
  Fixture f;
  auto options = f.options(true);
  options.columns = 30;
  ProgressPrinter printer(f.out, options);
  printer.tick();
  (void)f.taken();
  printer.on_trial(trial(3, Evaluation::failed(Verdict::crashed, "signal 11 while it was checked")), 1);
  const std::string shown = f.taken();
  CHECK(shown.starts_with("\rtrial 3 failed: crashed: sign\x1b[K\n\r1 trials"));
}

TEST_CASE("ProgressPrinter: says what the run is doing, and a new reason to wait on a line of its own") {
  Fixture f;
  {
    ProgressPrinter printer(f.out, f.options(false));
    printer.activity("compiling 2, measuring", "");
    CHECK(printer.status().find(", compiling 2, measuring") != std::string::npos);
    CHECK(f.out.str().empty());
    const std::string waiting = "waits for core 1: another kernelsearch measures on it";
    printer.activity(waiting, waiting);
    printer.activity("compiling", "");
    printer.activity(waiting, waiting);  // the same once more is no news
    CHECK(f.out.str() == waiting + "\n");
    CHECK(printer.status().find(waiting) != std::string::npos);
    printer.activity("", "");
    CHECK(printer.status().find("waits") == std::string::npos);
  }
}

TEST_CASE("ProgressPrinter: while a model is waited for no device is busy") {
  Fixture f;
  ProgressPrinter printer(f.out, f.options(false));
  printer.on_start(TrialId{0}, 1);
  CHECK(printer.status().find("1/1 device busy") != std::string::npos);
  printer.activity("waiting for a model", "", 0);
  CHECK(printer.status().find("0/1 device busy, waiting for a model") != std::string::npos);
  printer.activity("waiting for a model, measuring", "", 1);
  CHECK(printer.status().find("1/1 device busy") != std::string::npos);
}

TEST_CASE(
    "ProgressPrinter: every failure of a kernel that a model wrote has a line; what does not apply is no "
    "trial") {
  Fixture f;
  auto options = f.options(false);
  options.trials = 20;
  options.each_failure = true;
  ProgressPrinter printer(f.out, options);
  std::string wanted;
  for (std::uint64_t i = 0; i < 12; ++i) {
    printer.on_trial(trial(i, Evaluation::failed(Verdict::build_failed, "error: the same")), 1);
    wanted += "trial " + std::to_string(i) + " failed: build_failed: error: the same\n";
  }
  Trial<int> declined = trial(12, Evaluation::failed(Verdict::not_applicable, "tiling: there is no loop"));
  declined.candidate.reset();
  printer.on_trial(declined, 1);
  CHECK(f.taken() == wanted + "does not apply: tiling: there is no loop\n");
  CHECK(printer.status().find("12/20 trials") != std::string::npos);
  CHECK(printer.status().find("12 build_failed, 1 not_applicable") != std::string::npos);
}
