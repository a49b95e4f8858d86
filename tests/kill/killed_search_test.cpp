// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every policy and every system, killed (SIGKILL) at random points and resumed: the store opens, holds all
// that anybody heard of, and the run goes on with the proposals of one that was never killed. Runs, stores
// and resuming are the real ones; what judges kernels and what writes them are functions of the kernel and of
// the question.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/store/json.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "kill/points.hpp"
#include "support/scripted_model.hpp"
#include "support/scripted_success.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace kernelsearch;
using scripted::RuleChat;
using scripted::SkilledModel;

constexpr const char* killed_problem = R"json({
  "schema": 1, "name": "killed", "function": "f",
  "kernel": {"device": {"text": "extern \"C\" void f(int n, const float* x, float* y) {\n  base\n}\n"}},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "large", "n": 5000}],
  "tunables": {"TILE": [1, 2, 4, 8, 16, 32], "UNROLL": [1, 2, 3, 4, 6, 8], "WIDTH": [16, 32, 64, 128],
               "FAST": [false, true], "ORDER": ["ij", "ji", "tiled"]},
  "constraints": ["TILE * UNROLL <= 128"],
  "reference": {"function": "f_reference",
                "source": {"text": "void f_reference(int n, const real* x, real* y) { y[0] = x[0]; }"}}})json";

/// What a process did, where its death cannot take it away.
struct Witness {
  std::atomic<std::uint64_t> events;   ///< builds, runs, questions, trials started and told
  std::atomic<std::uint64_t> hold;     ///< the event at which it waits to be killed; 0: none
  std::atomic<std::uint64_t> told;     ///< trials that an observer heard of
  std::atomic<std::uint64_t> started;  ///< trials whose kernels were there to be built
  std::uint64_t ids[4096];             ///< of those told
  std::uint64_t begun[4096];           ///< of those started
  char error[4096];

  void event() {
    const std::uint64_t at = ++events;
    while (hold != 0 && at >= hold) ::pause();
  }
};

class SharedWitness {
 public:
  SharedWitness() {
    void* const memory =
        mmap(nullptr, sizeof(Witness), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    witness_ = new (memory) Witness{};
  }
  SharedWitness(const SharedWitness&) = delete;
  SharedWitness& operator=(const SharedWitness&) = delete;
  ~SharedWitness() { munmap(witness_, sizeof(Witness)); }
  Witness* operator->() const { return witness_; }
  Witness& operator*() const { return *witness_; }

 private:
  Witness* witness_;
};

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

/// A kernel's time as a function of its text and its configuration; some are wrong or do not build.
struct Judge {
  struct Artifact {
    Candidate candidate;
  };

  Problem about;
  Witness* witness = nullptr;

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext&) const {
    witness->event();
    if (luck(candidate, "build") < 0.05)
      return {Evaluation::failed(Verdict::build_failed, "kernel.cpp:1: error: broken"), std::nullopt};
    return {{}, Artifact{candidate}};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext&) const {
    witness->event();
    const Candidate& candidate = staged.artifact->candidate;
    const std::string& code = candidate.kernel->regions.device;
    if (code.find("bug") != std::string::npos || luck(candidate, "run") < 0.05)
      return Evaluation::failed(Verdict::wrong_result, "y[3] is 7 instead of 6", 0.5);
    return support::scripted_success(seconds_of(candidate), code);
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
  Speedup compare(const Candidate& candidate, const Candidate& champion, const PairOptions&) const {
    witness->event();
    const double ratio = seconds_of(champion) / seconds_of(candidate);
    return {ratio, {ratio * 0.99, ratio * 1.01}, 8};
  }
  [[nodiscard]] std::size_t lanes() const { return 1; }
  [[nodiscard]] const Problem& problem() const { return about; }
  [[nodiscard]] std::string device_id() const { return "a scripted device"; }
  [[nodiscard]] std::string toolchain_id() const { return "a scripted compiler 1.0"; }

 private:
  static double luck(const Candidate& candidate, const char* what) {
    return Rng::stream(
               7, what + candidate.kernel->regions.device + candidate.kernel->space.key(candidate.config))
        .uniform();
  }
  static double seconds_of(const Candidate& candidate) {
    const std::string& code = candidate.kernel->regions.device;
    double seconds = 1.0 + luck(candidate, "time");
    for (const char* word : {"tiling", "vectorize", "fusion", "prefetch"})
      if (code.find(word) != std::string::npos) seconds *= 0.7;
    const Space& space = candidate.kernel->space;
    for (std::size_t i = 0; i < space.size(); ++i)
      seconds *= 1.0 + 0.1 * static_cast<double>(candidate.config.indices[i]);
    return seconds * (1.0 + 0.01 * static_cast<double>(count_of(code, "guess")));
  }
};

/// Plays the roles of every system; a reply depends on the question alone.
ChatResult model_reply(const ChatRequest& request) {
  const std::string text = scripted::text_of(request);
  Rng rng = Rng::stream(1000 * request.repetition, text);
  const auto word = [&rng] {
    constexpr const char* words[] = {"tiling", "vectorize", "fusion", "prefetch", "bug"};
    return std::string("  ") + words[rng.below(5)] + "\n";
  };
  if (request.role == "config_search") {
    std::string configs;
    for (int i = 0; i < 6; ++i)
      configs += std::string(i == 0 ? "" : ",") + "{\"TILE\":" + std::to_string(1 << rng.below(6)) +
                 ",\"UNROLL\":" + std::to_string(1 + rng.below(4)) +
                 ",\"FAST\":" + (rng.chance(0.5) ? "true" : "false") + "}";
    return RuleChat::replied("{\"configs\":[" + configs + "]}");
  }
  if (request.role == "transformer")
    return RuleChat::replied("```cpp\nextern \"C\" void f(int n, const float* x, float* y) {\n  base\n" +
                             word() + word() + "}\n```\n");
  if (request.role == "writer" || request.role == "ablator") {
    std::string kernel = SkilledModel::block_after(text, "# Kernel to change");
    kernel.insert(kernel.rfind('}'), word() + "  guess" + std::to_string(request.repetition) + "\n");
    return RuleChat::replied("```cpp device\n" + kernel + "```\n");
  }
  return SkilledModel()(request);
}

/// Counts what happens in a run, and writes down which trials anybody has heard of.
struct Watcher {
  Witness* witness;
  void on_start(TrialId id, const Candidate&) {
    const std::uint64_t at = witness->started.load();
    if (at < std::size(witness->begun)) witness->begun[at] = number(id);
    witness->started.store(at + 1);
    witness->event();
  }
  void on_trial(const Trial<Candidate>& trial) {
    const std::uint64_t at = witness->told.load();
    if (at < std::size(witness->ids)) witness->ids[at] = number(trial.outcome.id);
    witness->told.store(at + 1);
    witness->event();
  }
  void on_revised(const Trial<Candidate>&) { witness->event(); }
};

struct Subject {
  std::string name;
  bool system = false;
  std::string budget = {};
  bool learns = false;  ///< from an earlier run, in the store that it is in itself
};

std::vector<Subject> all_subjects() {
  std::vector<Subject> subjects;
  for (const ConfigPolicyEntry& entry : config_policies())
    subjects.push_back({std::string(entry.name), false, "45"});
  for (const SystemEntry& entry : system_entries())
    subjects.push_back({std::string(entry.name), true, entry.name == "peak" ? "160" : "45"});
  subjects.push_back({"bayesian", false, "30", true});
  return subjects;
}

/// One part of a run, from its beginning or from what the store holds, to its end.
void play(const Subject& subject, const std::filesystem::path& folder, std::uint64_t seed, Witness& witness) {
  RunOptions options;
  (subject.system ? options.system : options.policy) = subject.name;
  options.budget = subject.budget;
  options.seed = seed;
  options.measurement.jobs = 2;  // so that several are in flight, on threads
  options.measurement.core = 0;
  options.proposals = 1 + seed % 2;  // of systems that write kernels; others do not look at it
  options.store = folder / "runs.db";
  if (subject.name == "peak") options.system_options = R"({"inner_trials": 8})";
  RunParts parts;
  parts.evaluator = Judge{read_problem(folder / "problem.json"), &witness};
  if (subject.system)
    parts.model = RuleChat([&witness](const ChatRequest& request) {
      witness.event();
      return model_reply(request);
    });
  if (subject.learns) options.learn_from = {options.store.string()};
  // As a user would: what did not begin is begun again.
  options.name = "killed";
  const bool begun = RunStore(options.store).find_run("killed").has_value();
  Run run = begun ? Run::resume("killed", options, std::move(parts))
                  : Run::start(folder / "problem.json", options, std::move(parts));
  Watcher watcher{&witness};
  run.to_end(watcher);
  (void)run.finish();
}

/// Starts a process that plays.
pid_t begin_part(const Subject& subject, const std::filesystem::path& folder, std::uint64_t seed,
                 Witness& witness) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child != 0) return child;
  int code = 0;
  try {
    play(subject, folder, seed, witness);
  } catch (const std::exception& error) {
    std::snprintf(witness.error, sizeof witness.error, "%s", error.what());
    code = 1;
  }
  _exit(code);
}

/// All of a run that may not depend on whether it was killed, a line for each trial.
std::vector<std::string> story_of(const RunStore& store, RunId run) {
  std::vector<std::string> story;
  store.each_trial(run, [&](const StoredTrial& trial) {
    const Outcome& outcome = trial.outcome;
    std::string line = std::to_string(number(outcome.id)) + " " + trial.point;
    if (outcome.origin)
      line += " of " + std::to_string(number(outcome.origin->proposal)) + "/" +
              std::to_string(outcome.origin->index) + "/" + std::to_string(outcome.origin->count);
    for (const TrialId parent : outcome.parents) line += " from " + std::to_string(number(parent));
    if (trial.candidate) line += " " + trial.candidate->kernel + " " + trial.candidate->key;
    line += " " + std::string(to_string(outcome.evaluation.verdict)) + " " +
            std::to_string(outcome.objective) + " " + outcome.evaluation.tuned_key;
    story.push_back(std::move(line));
  });
  return story;
}

struct CountedKills {
  std::uint64_t killed = 0;  ///< of these,
  std::uint64_t before = 0;  ///< before there was a run
  std::uint64_t trials = 0;  ///< of a whole run

  std::uint64_t lost = 0;  ///< trials that had been started and are not in the store, over all kills
  std::uint64_t most_lost = 0;
};

/// A folder with the problem, and a store with earlier runs where the subject learns from such.
struct Desk {
  TemporaryFolder folder;

  explicit Desk(const Subject& subject) {
    folder.write("problem.json", killed_problem);
    if (subject.learns) learn();
  }
  /// One more finished run in the store.
  void learn() const {
    const SharedWitness witness;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int code = 1;
      try {
        RunOptions options;
        options.policy = "random";
        options.budget = "15";
        options.seed = 5 + RunStore(folder / "runs.db").runs().size();
        options.name = "earlier";
        options.learn = false;
        options.store = folder / "runs.db";
        RunParts parts;
        parts.evaluator = Judge{read_problem(folder / "problem.json"), &*witness};
        Run run = Run::start(folder / "problem.json", options, std::move(parts));
        run.to_end();
        code = 0;
      } catch (...) {
      }
      _exit(code);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
  }
  [[nodiscard]] std::optional<RunId> run() const {
    if (!std::filesystem::exists(folder / "runs.db")) return std::nullopt;
    const auto row = RunStore(folder / "runs.db").find_run("killed");
    return row ? std::optional(row->id) : std::nullopt;
  }
};

/// The story of a run that nobody kills, and how many events it has.
std::vector<std::string> whole_story(const Subject& subject, std::uint64_t seed, std::uint64_t& events,
                                     std::optional<TrialId>& best) {
  const Desk desk(subject);
  const SharedWitness witness;
  const pid_t child = begin_part(subject, desk.folder.path(), seed, *witness);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE_MESSAGE(status == 0, witness->error);
  events = witness->events;
  const RunStore store(desk.folder / "runs.db");
  const RunId run = desk.run().value();
  if (const auto winner = store.best_trial(run)) best = winner->outcome.id;
  return story_of(store, run);
}

void kill_and_resume(const Subject& subject, std::uint64_t seed, std::uint64_t kills, CountedKills& count) {
  CAPTURE(subject.name);
  CAPTURE(seed);
  std::uint64_t events = 0;
  std::optional<TrialId> best;
  const std::vector<std::string> whole = whole_story(subject, seed, events, best);
  REQUIRE(whole.size() >= 5);
  count.trials = whole.size();

  const Desk desk(subject);
  const auto file = desk.folder / "runs.db";
  const SharedWitness witness;
  Rng rng = Rng::stream(seed, "kill " + subject.name);
  std::uint64_t at =
      0;  // how far the parts have come together, about: a resumed part does not repeat the rest
  for (std::uint64_t kill = 0; kill <= kills; ++kill) {
    const bool last = kill == kills;
    const std::uint64_t left = events > at ? events - at : 1;
    // One in five by the clock alone: while the run is made, taken up again or hardly under way.
    const bool early = rng.chance(0.2);
    const std::uint64_t point =
        early ? 0 : 1 + rng.below(std::max<std::uint64_t>(left / (kills - kill + 1), 1) * 2);
    witness->events = witness->told = witness->started = 0;
    // A little further it may go until the signal reaches it, not to its end.
    witness->hold = last ? 0 : 1 + point + rng.below(4);
    const std::uint64_t before = desk.run() ? story_of(RunStore(file), *desk.run()).size() : 0;
    const pid_t child = begin_part(subject, desk.folder.path(), seed, *witness);
    int status = 0;
    if (last) {
      REQUIRE(waitpid(child, &status, 0) == child);
      REQUIRE_MESSAGE(status == 0, witness->error);
      break;
    }
    pid_t ended = 0;
    while (witness->events < point && (ended = waitpid(child, &status, WNOHANG)) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (ended == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(rng.below(early ? 20'000 : 2000)));
      ::kill(child, SIGKILL);
      REQUIRE(waitpid(child, &status, 0) == child);
    }
    // It ended by itself where fewer events were left than planned.
    REQUIRE_MESSAGE((WIFSIGNALED(status) || status == 0), witness->error);
    if (!WIFSIGNALED(status)) continue;
    ++count.killed;
    at += witness->events;
    const std::optional<RunId> run = desk.run();
    if (!run) {
      ++count.before;
      continue;
    }
    // What others do meanwhile is not what this run began with.
    if (subject.learns) desk.learn();
    const RunStore store(file);
    // All that anybody heard of is there, and it is the beginning of the whole story. (What finalists brought
    // replaces what was told, so of a run that was nearly over only the number is compared.)
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(witness->told, std::size(witness->ids)); ++i)
      CHECK(store.trial(*run, TrialId{witness->ids[i]}).has_value());
    const std::vector<std::string> story = story_of(store, *run);
    REQUIRE(story.size() <= whole.size());
    CHECK(story.size() >= before + witness->told);
    if (story.size() < whole.size())
      for (std::size_t i = 0; i < story.size(); ++i) REQUIRE(story[i] == whole[i]);
    std::uint64_t lost = 0;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(witness->started, std::size(witness->begun)); ++i)
      lost += store.trial(*run, TrialId{witness->begun[i]}) ? 0 : 1;
    count.lost += lost;
    count.most_lost = std::max(count.most_lost, lost);
  }
  const RunStore store(file);
  const RunId run = desk.run().value();
  CHECK(story_of(store, run) == whole);
  CHECK(store.run(run).finished.has_value());
  const auto winner = store.best_trial(run);
  CHECK(winner.has_value() == best.has_value());
  if (winner && best) CHECK(winner->outcome.id == *best);
  CHECK(store.runs({.name = "killed"}).size() == 1);
}

/// What is in flight at most: compilers, and two for the one lane that measures.
constexpr std::uint64_t window = 2 + 2;

}  // namespace

TEST_CASE("killed at random points and resumed, every policy and system proposes what it would have") {
  using namespace kill_test;
  const std::vector<Subject> subjects = all_subjects();
  const std::uint64_t all = kills(3 * subjects.size());
  add_row("| search | trials | killed | before its first write | started and lost, all | at most at once |");
  add_row("|---|---|---|---|---|---|");
  std::uint64_t done = 0;
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    // In parts of up to five kills, each on a run with a seed of its own.
    const std::uint64_t share = all / subjects.size() + (s < all % subjects.size() ? 1 : 0);
    CountedKills count;
    for (std::uint64_t left = share, part = 0; left > 0; ++part) {
      const std::uint64_t now = std::min<std::uint64_t>(left, 5);
      kill_and_resume(subjects[s], seed() + part, now, count);
      left -= now;
    }
    CHECK(count.most_lost <= window);
    done += count.killed;
    add_row("| " + subjects[s].name +
            (subjects[s].system   ? " (system)"
             : subjects[s].learns ? " (learning)"
                                  : "") +
            " | " + std::to_string(count.trials) + " | " + std::to_string(count.killed) + " | " +
            std::to_string(count.before) + " | " + std::to_string(count.lost) + " | " +
            std::to_string(count.most_lost) + " |");
  }
  MESSAGE("killed " << done << " times");
  CHECK(done >= std::min<std::uint64_t>(all, subjects.size()));
}
