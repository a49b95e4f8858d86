// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/run_recorder.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/store/load_record.hpp"
#include "support/scripted.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using namespace scripted;

namespace {

template <class Trials>
std::string transcript(const Trials& trials) {
  std::string text;
  for (const auto& trial : trials) {
    const Outcome& o = trial.outcome;
    text += std::to_string(number(o.id)) + ":" + (trial.candidate ? std::to_string(*trial.candidate) : "-") +
            ":" + std::string(to_string(o.evaluation.verdict)) + ":" + std::to_string(o.objective) + "\n";
  }
  return text;
}

/// What the policy of another process has heard, where that process' death cannot take it away.
struct Heard {
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> hold;  ///< the outcome after which it waits; 0: none
  std::uint64_t ids[4096];
};

/// Writes down what it hears at the moment it hears it.
struct Listening {
  using Proposal = int;
  Chaotic policy;
  Heard* heard = nullptr;
  std::vector<int> ask(std::size_t n) { return policy.ask(n); }
  void tell(std::span<const Observation<int>> batch) {
    for (const auto& o : batch)
      if (heard != nullptr) {
        const std::uint64_t at = heard->count.load();
        heard->ids[at] = number(o.outcome.id);
        heard->count.store(at + 1);
        while (heard->hold == at + 1) ::pause();  // until it is killed
      }
    policy.tell(batch);
  }
};

constexpr int candidates = 150;

auto search(std::size_t in_flight, Heard* heard = nullptr) {
  return Optimizer{Listening{Chaotic{5, candidates}, heard}, Copying{.barren = 11, .twins = 5}, Landscape{},
                   OptimizerOptions{.in_flight = in_flight, .build_threads = 2}};
}

void check_kills(std::size_t in_flight) {
  auto whole = search(in_flight);
  whole.run();
  const std::string expected = transcript(whole.trials());

  void* const memory =
      mmap(nullptr, sizeof(Heard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* const heard = new (memory) Heard{};
  const TemporaryFolder folder;
  const auto file = folder / "runs.db";
  RunId run{};
  {
    RunStore store(file);
    run = store.begin_run({.name = "killed"});
  }
  Rng rng(in_flight);
  std::uint64_t kills = 0;
  for (bool finished = false; !finished;) {
    heard->count = 0;
    heard->hold = kills == 0 ? 60 : 0;  // however late this process is, the first one does not get to its end
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int code = 0;
      try {
        RunStore store(file);
        auto part = search(in_flight);
        part.resume(load_record<int, int>(store, run));
        part.policy().heard = heard;
        RunRecorder<int, int> recorder(store, run);
        part.run(recorder);
      } catch (...) {
        code = 1;
      }
      _exit(code);
    }
    // Killed a moment after so many outcomes, wherever it is then.
    const std::uint64_t outcomes = rng.below(16);
    int status = 0;
    pid_t ended = 0;
    while (heard->count < outcomes && (ended = waitpid(child, &status, WNOHANG)) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    REQUIRE(ended >= 0);
    if (ended == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(rng.below(1000)));
      kill(child, SIGKILL);
      REQUIRE(waitpid(child, &status, 0) == child);
    }
    finished = WIFEXITED(status);
    if (finished) {
      CHECK(WEXITSTATUS(status) == 0);
    } else {
      ++kills;
    }
    RunStore store(file);
    for (std::uint64_t i = 0; i < heard->count; ++i)
      REQUIRE(store.trial(run, TrialId{heard->ids[i]}).has_value());
  }
  munmap(memory, sizeof(Heard));
  MESSAGE("killed " << kills << " times");
  CHECK(kills > 0);

  RunStore store(file);
  auto replayed = search(in_flight);
  replayed.resume(load_record<int, int>(store, run));
  CHECK(transcript(replayed.trials()) == expected);
  CHECK(store.run(run).finished.has_value());
  CHECK(store.run(run).trials == whole.trials().size());
}

}  // namespace

TEST_CASE(
    "RunRecorder: killed at any moment, what the policy heard is in the file, and the run goes on as if "
    "it had never stopped") {
  check_kills(1);
}

TEST_CASE("RunRecorder: the same with three in flight") {
  check_kills(3);
}

TEST_CASE("RunRecorder: a trial is in the file before the policy hears of it") {
  struct Asking {
    using Proposal = int;
    RunStore* store;
    RunId run;
    int next = 0;
    std::vector<int> ask(std::size_t) { return next < 5 ? std::vector<int>{next++} : std::vector<int>{}; }
    void tell(std::span<const Observation<int>> batch) {
      CHECK(store->trial(run, batch.front().outcome.id).has_value());
      CHECK(store->trials(run).size() == static_cast<std::size_t>(next));
    }
  };
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run({.name = "order"});
  Optimizer optimizer{Asking{&store, run}, Copying{}, Landscape{}};
  RunRecorder<int, int> recorder(store, run);
  const RunSummary summary = optimizer.run(recorder);
  const RunRow row = store.run(run);
  CHECK(row.reason == summary.reason);
  CHECK(row.trials == 5);
  CHECK(row.finished.has_value());
  CHECK(recorder.run() == run);
}

TEST_CASE("RunRecorder: inner trials and revisions are written, and a resumed run replays them") {
  struct Inner {
    Evaluation evaluate(int x, const EvaluationContext& context) {
      if (context.on_inner) context.on_inner({0, "k" + std::to_string(x), Evaluation::succeeded(x + 0.5)});
      return Evaluation::succeeded(landscape(x));
    }
  };
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run({.name = "revised"});
  RunRecorder<int, int> recorder(store, run);
  Optimizer first{Chaotic{9}, Copying{}, Inner{}};
  first.run(MaxTrials{10}, recorder);
  first.revise(TrialId{4}, Evaluation::failed(Verdict::cheated, "found late"), recorder);
  first.run(MaxTrials{20}, recorder);
  first.revise(TrialId{4}, Evaluation::succeeded(0.25), recorder);
  first.run(MaxTrials{30}, recorder);
  CHECK(store.inner_trials(run).size() == 30);
  CHECK(store.inner_trials(run, TrialId{7}).at(0).trial.key ==
        "k" + std::to_string(*first.trials()[7].candidate));
  CHECK(store.best_trial(run)->outcome.id == TrialId{4});

  Optimizer again{Chaotic{9}, Copying{}, Inner{}};
  again.resume(load_record<int, int>(store, run));
  CHECK(transcript(again.trials()) == transcript(first.trials()));
  first.run(MaxTrials{50});
  again.run(MaxTrials{50});
  CHECK(transcript(again.trials()) == transcript(first.trials()));
}

TEST_CASE("RunRecorder: foreign trials keep their point") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run({.name = "foreign"});
  RunRecorder<int, int> recorder(store, run);
  Optimizer first{Chaotic{9}, Copying{}, Landscape{}};
  first.submit(77, 78, Evaluation::succeeded(3.0), recorder);
  first.run(MaxTrials{5}, recorder);
  const StoredTrial stored = store.trials(run).front();
  CHECK(stored.point == "77");
  CHECK(stored.candidate->config == "78");
  CHECK_FALSE(stored.outcome.origin.has_value());
  Optimizer again{Chaotic{9}, Copying{}, Landscape{}};
  again.resume(load_record<int, int>(store, run));
  CHECK(transcript(again.trials()) == transcript(first.trials()));
}
