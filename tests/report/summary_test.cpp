// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/summary.hpp"

#include <doctest/doctest.h>

#include "support/stored_run.hpp"

using namespace kernelsearch;

TEST_CASE("run_totals: verdicts, phases and inner trials are counted") {
  StoredRun stored;
  stored.store.add_inner(stored.run, TrialId{1}, {});
  const RunTotals totals = run_totals(stored.store, stored.run);
  CHECK(totals.verdicts[static_cast<int>(Verdict::ok)] == 2);
  CHECK(totals.verdicts[static_cast<int>(Verdict::wrong_result)] == 1);
  CHECK(totals.phases.build == 1.0);
  CHECK(totals.phases.check == 0.5);
  CHECK(totals.inner_trials == 1);
  CHECK(format_verdicts(totals.verdicts) == "2 ok, 1 build_failed, 1 wrong_result");
  CHECK(format_verdicts({}) == "none");
}

TEST_CASE("run_summary: best, speedup with interval, settings, verdicts, time, reason") {
  StoredRun stored;
  stored.store.end_run(stored.run, "4 trials", 4.0);
  stored.store.add_times(stored.run, {.starting = 1.0, .building = 2.5, .measuring = 1.0, .other = 0.01});
  CHECK(run_summary(stored.store, stored.run) ==
        "run 1     first (axpy 2), ended: 4 trials\n"
        "best      1.000 ms (990.0 us to 1.010 ms), trial 1\n"
        "speedup   4.00x (3.90 to 4.10) over the reference, 30 interleaved pairs\n"
        "settings  FAST=true ORDER=[0, 1] TILE=8\n"
        "shape  median    interval              samples  speedup               ended\n"
        "small  2.000 us  1.800 us to 2.200 us        2  5.00x (4.00 to 6.00)  converged\n"
        "large  2.000 ms  1.800 ms to 2.200 ms        2  5.00x (4.00 to 6.00)  converged\n"
        "trials    4 in 4.0 s: 2 ok, 1 build_failed, 1 wrong_result\n"
        "failed    1 build_failed, trial 2: no\n"
        "          1 wrong_result, trial 3: no\n"
        "time      4.5 s: waiting for builds 55 %, starting 22 %, measuring 22 %\n"
        "policy    random, seed 42\n"
        "device    some cpu\nx\n"
        "toolchain g++ 12.2\n"
        "sandbox   bubblewrap 0.8.0\n");
}

TEST_CASE("run_summary: a run that found nothing and did not end") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run({.name = "r", .policy = "p"});
  const std::string text = run_summary(store, run);
  CHECK(text.find("not ended") != std::string::npos);
  CHECK(text.find("best      none") != std::string::npos);
  CHECK(text.find("trials    0 in 0.0 s: none") != std::string::npos);
  const RunId odd = store.begin_run({.name = "odd", .environment = R"({"sandbox":1})"});
  CHECK(run_summary(store, odd).find("sandbox") == std::string::npos);
}

TEST_CASE("run_summary: the three commonest reasons of failure, and where the others are") {
  StoredRun stored;
  stored.add(4, 0, Evaluation::failed(Verdict::wrong_result, "y[3] is 7 instead of 6"));
  stored.add(5, 0, Evaluation::failed(Verdict::wrong_result, "y[5] is 8 instead of 6"));
  stored.add(6, 0, Evaluation::failed(Verdict::crashed, "signal 11"));
  const std::string text = run_summary(stored.store, stored.run);
  CHECK(text.find("failed    2 wrong_result, trial 4: y[3] is 7 instead of 6\n"
                  "          1 build_failed, trial 2: no\n"
                  "          1 wrong_result, trial 3: no\n"
                  "          and 1 other reasons: `kernelsearch show 1 --failed`\n") != std::string::npos);
}
