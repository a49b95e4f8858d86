// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/progress_printer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <thread>
#include <vector>

#include "kernelsearch/optimizer/optimizer.hpp"
#include "support/approx.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

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
  options.pace.trials = 10;
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

TEST_CASE("ProgressPrinter: a resumed run has the best of its earlier parts") {
  Fixture f;
  auto options = f.options(true);
  options.best_before = 0.002;
  ProgressPrinter printer(f.out, options);
  CHECK(printer.status().find(", best 2.000 ms so far, ") != std::string::npos);
  CHECK(printer.status().find("no right candidate") == std::string::npos);
  const auto good = trial(0, fast());
  printer.on_trial(good, 1);
  printer.on_best(good);
  CHECK(printer.status().find(", best 1.500 ms, 4.20x") != std::string::npos);
}

TEST_CASE("ProgressPrinter: the nearer end counts, and a resumed run goes on from where it was") {
  Fixture f;
  auto options = f.options(true);
  options.pace.trials = 100;
  options.pace.seconds = 60;
  options.pace.trials_before = 50;
  options.pace.seconds_before = 30;
  ProgressPrinter printer(f.out, options);
  f.time += 15;
  printer.on_trial(trial(50, fast()), 1);
  CHECK(printer.status().starts_with("[###############.....] 51/100 trials, 45 s, 15 s left"));
}

TEST_CASE("standing_of: the time left is that of the pace of this part, and at most the budget's") {
  const RunStanding none = standing_of({}, 3, 5.0);
  CHECK(none.trials == 3);
  CHECK(none.seconds == 5.0);
  CHECK_FALSE(none.filled.has_value());
  CHECK_FALSE(none.left.has_value());
  RunPace pace;
  pace.trials = 100;
  CHECK_FALSE(standing_of(pace, 0, 5.0).left.has_value());  // no pace yet
  pace.trials_before = 50;
  pace.seconds_before = 1000.0;
  CHECK(*standing_of(pace, 10, 20.0).left == approx(80.0));
  CHECK(*standing_of(pace, 10, 20.0).filled == approx(0.6));
  CHECK(*standing_of(pace, 70, 20.0).left == 0.0);
  pace.seconds = 1050.0;
  CHECK(*standing_of(pace, 10, 20.0).left == approx(30.0));
  CHECK(*standing_of(pace, 10, 60.0).left == 0.0);
}

TEST_CASE("ProgressPrinter: a pause is no time of the run") {
  Fixture f;
  auto options = f.options(true);
  options.pace.trials = 10;
  ProgressPrinter printer(f.out, options);
  f.time += 20;
  printer.on_trial(trial(0, fast()), 1);
  f.time += 1000;
  printer.activity("paused until it is told to go on", "paused until it is told to go on", 0, 1000.0);
  CHECK(printer.status().find("1/10 trials, 20 s, 3 min 00 s left") != std::string::npos);
  CHECK(printer.status().find("paused until it is told to go on") != std::string::npos);
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
  options.pace.trials = 20;
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

TEST_CASE("ProgressPrinter: a message never runs into the status, which is drawn again below it") {
  Fixture f;
  ProgressPrinter printer(f.out, f.options(true));
  printer.on_start(TrialId{0}, 1);
  CHECK(f.taken().rfind("\r0 trials", 0) == 0);
  const std::string longer(300, 'x');
  printer.message(longer);
  const std::string told = f.taken();
  CHECK(told.rfind("\r\x1b[K" + longer + "\n\r0 trials", 0) == 0);
  CHECK(told.find('\n') == told.rfind('\n'));
  Fixture plain;
  ProgressPrinter lines(plain.out, plain.options(false));
  lines.message("waits");
  CHECK(plain.taken() == "waits\n");
  lines.message("a name\x1b[2J");
  CHECK(plain.taken().find('\x1b') == std::string::npos);
}

TEST_CASE("ProgressPrinter: several threads that tell and say leave whole lines") {
  Fixture f;
  auto options = f.options(true);
  options.redraw_seconds = 0;
  ProgressPrinter printer(f.out, options);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&printer, t] {
        for (int i = 0; i < 50; ++i) {
          printer.message("message of " + std::to_string(t));
          printer.tick();
        }
      });
  }
  std::istringstream lines(f.taken());
  std::size_t messages = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("message of ");
    if (at == std::string::npos) continue;
    ++messages;
    CHECK(line.size() == at + 12);
    CHECK((at == 0 || line.substr(0, at).ends_with("\x1b[K")));
  }
  CHECK(messages == 200);
}

TEST_CASE("ProgressPrinter: a sparkline of the best so far where the terminal can show it") {
  Fixture f;
  auto options = f.options(true);
  options.unicode = true;
  ProgressPrinter printer(f.out, options);
  printer.on_trial(trial(0, Evaluation::failed(Verdict::crashed, "x")), 0);
  const auto tell = [&](std::uint64_t id, double seconds) {
    printer.on_trial(trial(id, Evaluation::succeeded(seconds)), 0);
    printer.on_best(trial(id, Evaluation::succeeded(seconds)));
  };
  tell(1, 8e-3);
  CHECK(printer.status().find("best 8.000 ms, ") != std::string::npos);  // nothing fell yet
  tell(2, 4e-3);
  tell(3, 1e-3);
  CHECK(printer.status().find("best 1.000 ms \u2588\u2586\u2581, ") != std::string::npos);
  options.unicode = false;
  ProgressPrinter ascii(f.out, options);
  ascii.on_trial(trial(1, Evaluation::succeeded(2.0)), 0);
  ascii.on_trial(trial(2, Evaluation::succeeded(1.0)), 0);
  const std::string status = ascii.status();
  CHECK(
      std::all_of(status.begin(), status.end(), [](char c) { return static_cast<unsigned char>(c) < 128; }));
}

TEST_CASE("ProgressPrinter: colours only where they are wanted, and never of a kernel's making") {
  Fixture f;
  auto options = f.options(true);
  options.colour = true;
  options.columns = 60;
  ProgressPrinter printer(f.out, options);
  printer.on_best(trial(1, fast()));
  f.taken();
  f.time += 1;
  printer.tick();
  CHECK(f.taken().find("\x1b[1;32mbest 1.500 ms, 4.20x (4.10 to 4.30)\x1b[0m") != std::string::npos);
  printer.on_trial(trial(2, Evaluation::failed(Verdict::crashed, "signal \x1b[2J 11")), 0);
  const std::string failed = f.taken();
  CHECK(failed.find("\x1b[33mtrial 2 failed: crashed: signal ") != std::string::npos);
  CHECK(failed.find("\x1b[2J") == std::string::npos);
  printer.activity("waits for core 3", "waits for core 3");
  f.time += 1;
  printer.resize(200);
  printer.tick();
  CHECK(f.taken().find("\x1b[33mwaits for core 3\x1b[0m") != std::string::npos);
  options.colour = false;
  ProgressPrinter plain(f.out, options);
  plain.on_best(trial(1, fast()));
  f.time += 1;
  plain.tick();
  CHECK(f.taken().find("\x1b[1") == std::string::npos);
}
