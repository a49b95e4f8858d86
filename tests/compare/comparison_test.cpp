// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/comparison.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "kernelsearch/compare/scores.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "support/approx.hpp"
#include "support/made_up_recording.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

std::vector<Recording> two_recordings() {
  std::vector<Recording> recordings;
  recordings.push_back(made_up_recording("left"));
  recordings.push_back(made_up_recording("right", 2.0));
  return recordings;
}

std::vector<Contestant> two_contestants() {
  return {registered_contestant("random"), registered_contestant("iterated_local_search")};
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The lines of a file, in its order, without the one member that differs from run to run.
std::vector<nlohmann::json> lines_of(const std::filesystem::path& file) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(text_of(file));
  for (std::string line; std::getline(in, line);) {
    lines.push_back(nlohmann::json::parse(line));
    CHECK(lines.back().erase("wall_s") == 1);
  }
  return lines;
}

std::vector<Trace> run(const std::vector<Recording>& recordings, const std::vector<Contestant>& contestants,
                       const ComparisonOptions& options) {
  return compare(recordings, landscapes_of(recordings), contestants, options);
}

/// A policy of functions.
struct Scripted {
  using Proposal = Config;
  std::function<std::vector<Config>(std::size_t)> on_ask;
  std::function<void(const Observation<Config>&)> on_tell = [](const auto&) {};
  std::vector<Config> ask(std::size_t n) { return on_ask(n); }
  void tell(std::span<const Observation<Config>> batch) {
    for (const auto& observation : batch) on_tell(observation);
  }
};

}  // namespace

TEST_CASE("compare: traces by recording, policy and repeat, each run within its budget and valid") {
  const auto recordings = two_recordings();
  const auto traces = run(recordings, two_contestants(), {.repeats = 3, .budget = 50, .threads = 1});
  REQUIRE(traces.size() == 12);
  CHECK(traces[0].space == "left");
  CHECK(traces[3].strategy == "iterated_local_search");
  CHECK(traces[4].repeat == 1);
  CHECK(traces[6].space == "right");
  for (const Trace& trace : traces) {
    CHECK(trace.evaluations.size() == 50);
    CHECK(std::set<std::uint32_t>(trace.evaluations.begin(), trace.evaluations.end()).size() == 50);
    CHECK(trace.cap == 50);
    CHECK(trace.dropped_repeats == 0);
    CHECK(trace.dropped_unknown == 0);
    REQUIRE(trace.policy_seconds);
    CHECK(*trace.policy_seconds > 0);
    REQUIRE(trace.seconds.size() == 50);
    const auto& trials = recordings[trace.space == "left" ? 0 : 1].trials;
    double seconds = 0;
    for (std::size_t i = 0; i < 50; ++i) {
      seconds += trials[trace.evaluations[i]].evaluation.phases.total();
      CHECK(trace.seconds[i] == approx(seconds).epsilon(1e-5));
    }
  }
  CHECK(traces[0].evaluations != traces[1].evaluations);
}

TEST_CASE("compare: the traces are the same for any number of threads") {
  const auto recordings = two_recordings();
  const TemporaryFolder one, two;
  for (const std::size_t in_flight : {1, 5}) {
    for (const auto* folder : {&one, &two})
      static_cast<void>(run(recordings, two_contestants(),
                            {.repeats = 4,
                             .seed = 9,
                             .budget = 40,
                             .in_flight = in_flight,
                             .threads = folder == &one ? 1u : 2u,
                             .folder = folder->path() / std::to_string(in_flight)}));
    const std::string file = std::to_string(in_flight) + "/traces.jsonl";
    const auto lines = lines_of(one.path() / file);
    CHECK(lines.size() == 16);
    CHECK(lines == lines_of(two.path() / file));
  }
  CHECK(lines_of(one.path() / "1/traces.jsonl") != lines_of(one.path() / "5/traces.jsonl"));
}

TEST_CASE("compare: policies share the seeds of a repeat, repeats and spaces do not") {
  const auto recordings = two_recordings();
  std::mutex mutex;
  std::map<std::string, std::vector<std::uint64_t>> seeds;
  std::vector<Contestant> contestants;
  for (const char* name : {"a", "b"})
    contestants.push_back({name, [&, name](const PolicySetup& setup) {
                             const std::lock_guard lock(mutex);
                             seeds[name].push_back(setup.seed);
                             return AnyPolicy<Config>(RandomSearch(setup.space, {.seed = setup.seed}));
                           }});
  static_cast<void>(run(recordings, contestants, {.repeats = 5, .budget = 2, .threads = 2}));
  for (auto& [name, all] : seeds) std::sort(all.begin(), all.end());
  CHECK(seeds["a"] == seeds["b"]);
  CHECK(std::set<std::uint64_t>(seeds["a"].begin(), seeds["a"].end()).size() == 10);
}

TEST_CASE("compare: each repeat has a default of its own that all policies share, or the declared one") {
  const auto recordings = two_recordings();
  for (const bool declared : {false, true}) {
    std::mutex mutex;
    std::map<std::string, std::vector<std::string>> defaults;
    std::vector<Contestant> contestants;
    for (const char* name : {"a", "b"})
      contestants.push_back({name, [&, name](const PolicySetup& setup) {
                               const std::lock_guard lock(mutex);
                               defaults[name].push_back(setup.space.key(setup.space.default_config()));
                               return AnyPolicy<Config>(RandomSearch(setup.space, {.seed = setup.seed}));
                             }});
    static_cast<void>(run(recordings, contestants,
                          {.repeats = 9, .budget = 2, .declared_default = declared, .threads = 2}));
    for (auto& [name, all] : defaults) std::sort(all.begin(), all.end());
    CHECK(defaults["a"] == defaults["b"]);
    const std::set<std::string> different(defaults["a"].begin(), defaults["a"].end());
    if (declared)
      CHECK(different ==
            std::set<std::string>{recordings[0].space.key(recordings[0].space.default_config())});
    else
      CHECK(different.size() > 9);
  }
}

TEST_CASE("compare: a comparison that was cut goes on where it stopped") {
  const auto recordings = two_recordings();
  const TemporaryFolder folder;
  const ComparisonOptions options{.repeats = 3, .budget = 30, .folder = folder.path()};
  const auto traces = run(recordings, two_contestants(), options);
  const std::filesystem::path file = folder.path() / "traces.jsonl";
  const auto whole = lines_of(file);
  const std::string text = text_of(file);
  for (const double part : {0.0, 0.3, 0.5, 0.999}) {
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        << text.substr(0, static_cast<std::size_t>(part * static_cast<double>(text.size())));
    std::atomic<int> made = 0;
    auto counted = two_contestants();
    for (Contestant& contestant : counted)
      contestant.make = [&made, make = contestant.make](const PolicySetup& setup) {
        ++made;
        return make(setup);
      };
    const auto again = run(recordings, counted, options);
    CHECK(lines_of(file) == whole);
    CHECK((made == 12) == (part == 0.0));
    CHECK((made == 1) == (part == 0.999));
    REQUIRE(again.size() == traces.size());
    for (std::size_t i = 0; i < traces.size(); ++i) {
      CHECK(again[i].evaluations == traces[i].evaluations);
      CHECK(again[i].seconds == traces[i].seconds);
      CHECK(again[i].cap == traces[i].cap);
    }
  }
}

TEST_CASE("compare: a folder takes more repeats, policies and spaces, but no other options") {
  const auto recordings = two_recordings();
  const TemporaryFolder folder;
  ComparisonOptions options{.repeats = 1, .seed = 4, .budget = 20, .folder = folder.path()};
  const std::vector<Recording> first(recordings.begin(), recordings.begin() + 1);
  CHECK(run(first, {registered_contestant("random")}, options).size() == 1);
  options.repeats = 2;
  CHECK(run(recordings, two_contestants(), options).size() == 8);
  // What is not asked for now stays in the file.
  CHECK(run(first, {registered_contestant("random")}, options).size() == 2);
  CHECK(lines_of(folder.path() / "traces.jsonl").size() == 8);

  const auto refused = [&](const std::vector<Recording>& given, const ComparisonOptions& other,
                           const char* words) {
    CHECK_THROWS_WITH_AS(run(given, two_contestants(), other), doctest::Contains(words), ConfigError);
  };
  ComparisonOptions other = options;
  other.seed = 5;
  refused(recordings, other, "seed is 4 there and 5 here");
  other = options;
  other.budget.reset();
  refused(recordings, other, "budget is 20 there");
  other = options;
  other.in_flight = 3;
  refused(recordings, other, "in_flight");
  other = options;
  other.earlier = {{{"elsewhere", {{recordings[0].trials[0].config, 1.0}}}}, {}};
  refused(recordings, other, "left: learned_from");
  auto changed = recordings;
  changed[1].trials[5].evaluation = Evaluation::succeeded(7.0);
  refused(changed, options, "right: fingerprint");
  CHECK(lines_of(folder.path() / "traces.jsonl").size() == 8);
}

TEST_CASE("compare: without a budget a run lasts as long as its space is scored, and policies are not told") {
  const auto recordings = two_recordings();
  const auto landscapes = landscapes_of(recordings);
  std::atomic<int> told = 0;
  Contestant contestant = registered_contestant("random");
  contestant.make = [&told, make = contestant.make](const PolicySetup& setup) {
    told += setup.budget ? 1 : 0;
    return make(setup);
  };
  const auto traces = compare(recordings, landscapes, std::vector{contestant}, {.repeats = 1});
  for (const Trace& trace : traces) CHECK(trace.evaluations.size() == 200);
  CHECK(told == 0);
  static_cast<void>(compare(recordings, landscapes, std::vector{contestant}, {.repeats = 1, .budget = 3}));
  CHECK(told == 2);
}

TEST_CASE("compare: recorded time ends runs, and evaluations in flight overlap") {
  const auto recordings = two_recordings();
  const auto alone = run(recordings, two_contestants(), {.repeats = 1, .recorded_seconds = 60.0});
  const auto crowd =
      run(recordings, two_contestants(), {.repeats = 1, .recorded_seconds = 60.0, .in_flight = 4});
  for (std::size_t i = 0; i < alone.size(); ++i) {
    CHECK_FALSE(alone[i].cap);
    CHECK(alone[i].seconds.back() <= 60.0);
    CHECK(alone[i].seconds.back() > 58.0);
    CHECK(std::is_sorted(crowd[i].seconds.begin(), crowd[i].seconds.end()));
    CHECK(crowd[i].evaluations.size() > 1.5 * static_cast<double>(alone[i].evaluations.size()));
  }
  // Two of the same build time b and measuring times m and n: built side by side, measured in turn.
  Recording small{"small", "", "", "", SpaceBuilder().add(Tunable::integer("x", 1, 3)).build(), {}};
  for (std::uint32_t i = 0; i < 3; ++i) {
    small.trials.push_back({Config{{i}}, Evaluation::succeeded(1.0 + i), {}});
    small.trials.back().evaluation.phases.build = i == 2 ? 0.25 : 2.0;
    small.trials.back().evaluation.phases.measure = 1.0 + i;
  }
  const std::vector<Recording> one{small};
  const std::vector<Contestant> in_order{registered_contestant("exhaustive")};
  CHECK(run(one, in_order, {.repeats = 1}).front().seconds == std::vector<double>{3.0, 7.0, 10.25});
  // In flight 0 and 1: 0 is measured until 3.0; then 2 is built until 3.25, while 1 is measured until 5.0.
  CHECK(run(one, in_order, {.repeats = 1, .in_flight = 2}).front().seconds ==
        std::vector<double>{3.0, 5.0, 8.0});
  // All three: 2 is built first and measured first.
  const Trace all = run(one, in_order, {.repeats = 1, .in_flight = 3}).front();
  CHECK(all.evaluations == std::vector<std::uint32_t>{2, 0, 1});
  CHECK(all.seconds == std::vector<double>{3.25, 4.25, 6.25});
}

TEST_CASE("compare: repeats and configurations that were never recorded cost nothing and end") {
  Recording recording = made_up_recording("holes");
  const Config missing = recording.trials.back().config;
  recording.trials.pop_back();
  const std::vector<Recording> one{recording};
  const Config first = recording.trials.front().config;
  std::vector<Verdict> heard;
  const Contestant stubborn{
      "stubborn", [&](const PolicySetup&) {
        return AnyPolicy<Config>(Scripted{
            [&, n = 0](std::size_t) mutable { return std::vector<Config>{n++ % 2 == 0 ? missing : first}; },
            [&](const auto& o) { heard.push_back(o.outcome.evaluation.verdict); }});
      }};
  const Trace trace = run(one, {stubborn}, {.repeats = 1, .budget = 5}).front();
  CHECK(trace.evaluations == std::vector<std::uint32_t>{0});
  CHECK(trace.dropped_repeats > 100);
  CHECK(trace.dropped_unknown > 100);
  CHECK(heard[0] == Verdict::rejected);
  CHECK(heard[1] == Verdict::ok);
}

TEST_CASE("compare: policies get the earlier runs of their space") {
  const auto recordings = two_recordings();
  std::mutex mutex;
  std::map<double, std::vector<std::string>> heard;  // by objective of the first trial, which tells the space
  const Contestant contestant{"listens", [&](const PolicySetup& setup) {
                                const std::lock_guard lock(mutex);
                                for (const EarlierRun& earlier : setup.earlier)
                                  heard[earlier.outcomes.front().objective].push_back(earlier.source);
                                return AnyPolicy<Config>(RandomSearch(setup.space, {.seed = setup.seed}));
                              }};
  const Config any = recordings[0].trials[0].config;
  static_cast<void>(
      run(recordings, {contestant},
          {.repeats = 2, .budget = 3, .earlier = {{{"l", {{any, 1.0}}}}, {{"r", {{any, 2.0}}}}}}));
  CHECK(heard[1.0] == std::vector<std::string>{"l", "l"});
  CHECK(heard[2.0] == std::vector<std::string>{"r", "r"});
}

TEST_CASE("compare: progress counts runs, a stop keeps what is finished, an exception comes out") {
  const auto recordings = two_recordings();
  const TemporaryFolder folder;
  std::vector<ComparisonProgress> seen;
  ComparisonOptions options{.repeats = 2, .budget = 10, .threads = 1, .folder = folder.path()};
  options.progress = [&](const ComparisonProgress& progress) { seen.push_back(progress); };
  std::stop_source source;
  options.stop = source.get_token();
  auto contestants = two_contestants();
  int made = 0;
  contestants[1].make = [&, make = contestants[1].make](const PolicySetup& setup) {
    if (++made == 2) source.request_stop();
    return make(setup);
  };
  CHECK(run(recordings, contestants, options).size() == 3);
  CHECK(seen.size() == 4);
  CHECK(seen.front().finished == 0);
  CHECK(std::isinf(seen.front().left_seconds));
  CHECK(seen.back().finished == 3);
  CHECK(seen.back().runs == 8);
  CHECK(std::isfinite(seen.back().left_seconds));
  CHECK(lines_of(folder.path() / "traces.jsonl").size() == 3);
  options.stop = {};
  seen.clear();
  CHECK(run(recordings, two_contestants(), options).size() == 8);
  CHECK(seen.front().finished == 3);
  CHECK(seen.back().left_seconds == 0.0);

  const Contestant broken{"broken",
                          [](const PolicySetup&) -> AnyPolicy<Config> { throw std::logic_error("a bug"); }};
  CHECK_THROWS_WITH_AS(run(recordings, {broken}, {.repeats = 3, .threads = 2}),
                       doctest::Contains(", repeat 0, evaluation 1: a bug"), ConfigError);
}

TEST_CASE("compare: what cannot be compared") {
  const auto recordings = two_recordings();
  const auto refused = [&](const std::vector<Recording>& given, const std::vector<Contestant>& contestants,
                           const ComparisonOptions& options, const char* words) {
    CHECK_THROWS_WITH_AS(run(given, contestants, options), doctest::Contains(words), ConfigError);
  };
  refused({}, two_contestants(), {}, "no recording");
  refused(recordings, {}, {}, "no policy");
  refused({recordings[0], recordings[0]}, two_contestants(), {}, "left");
  refused(recordings, {two_contestants()[0], two_contestants()[0]}, {}, "random");
  refused(recordings, two_contestants(), {.repeats = 0}, "count of 0");
  refused(recordings, two_contestants(), {.budget = 0}, "count of 0");
  refused(recordings, two_contestants(), {.earlier = {{}}}, "earlier");
  auto untimed = recordings;
  for (RecordedTrial& trial : untimed[1].trials) trial.evaluation.phases = {};
  refused(untimed, two_contestants(), {.recorded_seconds = 1.0}, "right");
  CHECK(run(untimed, two_contestants(), {.repeats = 1, .budget = 3}).back().seconds.empty());
  CHECK_THROWS_WITH_AS(static_cast<void>(registered_contestant("randm")),
                       doctest::Contains("did you mean random"), ConfigError);
}

namespace {

/// Proposes these in turn, one at a time, then nothing; throws instead of the last where it `throws`.
Contestant in_turn(const std::string& name, std::vector<Config> configs, bool throws = false) {
  return {name, [configs, throws](const PolicySetup&) {
            return AnyPolicy<Config>(Scripted{[configs, throws, n = std::size_t{0}](std::size_t) mutable {
              if (throws && n + 1 == configs.size()) throw std::runtime_error("lost my way");
              return n < configs.size() ? std::vector<Config>{configs[n++]} : std::vector<Config>{};
            }});
          }};
}

std::string failure_of(const Recording& recording, const Contestant& contestant, ComparisonOptions options) {
  try {
    static_cast<void>(run({recording}, {contestant}, options));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE(
    "compare: repeated proposals, those outside the space and an early end are counted, or strictly fatal") {
  Recording recording = made_up_recording("place");
  const Config first = recording.trials[0].config, second = recording.trials[1].config;
  const Config outside{{1, 0, 0}};  // (x + y) % 3 is 1
  const Config unrecorded = recording.trials.back().config;
  recording.trials.pop_back();
  const Contestant careless = in_turn("careless", {first, first, outside, unrecorded, second});
  const Trace trace = run({recording}, {careless}, {.repeats = 1, .budget = 50}).front();
  CHECK(trace.evaluations == std::vector<std::uint32_t>{0, 1});
  CHECK(trace.dropped_repeats == 1);
  CHECK(trace.dropped_unknown == 2);
  CHECK(trace.dropped_outside == 1);
  CHECK(trace.ended_early);
  const auto landscapes = landscapes_of(std::vector<Recording>{recording});
  const SpaceScores space = score(landscapes, std::vector<Trace>{trace, trace}).front().spaces.front();
  CHECK(space.dropped_repeats == 2);
  CHECK(space.dropped_outside == 2);
  CHECK(space.ended_early == 2);

  const ComparisonOptions strict{.repeats = 1, .budget = 50, .strict = true};
  const auto says = [&](const Contestant& contestant, const std::string& words) {
    const std::string text = failure_of(recording, contestant, strict);
    INFO(text);
    CHECK(text.find(words) != std::string::npos);
  };
  const auto values = [&recording](const Config& config) {
    return "x = " + to_string(recording.space.value(config, 0)) +
           ", y = " + to_string(recording.space.value(config, 1)) +
           ", z = " + to_string(recording.space.value(config, 2));
  };
  says(careless, "a policy proposed a configuration again: careless on place, repeat 0, evaluation 2: " +
                     values(first));
  says(in_turn("strays", {first, second, outside}),
       "a policy left the space: strays on place, repeat 0, evaluation 3: " + values(outside));
  says(in_turn("stops", {first, second}), "a policy ended early: stops on place, repeat 0, evaluation 3");
  // What the recording lacks is not the policy's doing, and who uses the budget up has not ended early.
  CHECK(failure_of(recording, in_turn("fine", {first, unrecorded, second}),
                   {.repeats = 1, .budget = 2, .strict = true}) == "");
  Recording small = recording;
  small.trials.resize(2);
  CHECK(failure_of(small, in_turn("whole", {first, second}), strict) == "");
}

TEST_CASE("compare: what was counted is kept in the folder, and a strict comparison looks there too") {
  const TemporaryFolder folder;
  const Recording recording = made_up_recording("place");
  const Config first = recording.trials[0].config;
  ComparisonOptions options{.repeats = 1, .budget = 50};
  options.folder = folder.path();
  const Contestant careless = in_turn("careless", {first, first, Config{{1, 0, 0}}});
  static_cast<void>(run({recording}, {careless}, options));
  const Trace again = run({recording}, {careless}, options).front();
  CHECK(again.dropped_repeats == 1);
  CHECK(again.dropped_outside == 1);
  CHECK(again.ended_early);
  options.strict = true;
  CHECK(failure_of(recording, careless, options)
            .find("careless on place, repeat 0: 1 proposed again, 1 outside the space, ended early") !=
        std::string::npos);
}

TEST_CASE("compare: what a policy throws names policy, space, repeat and evaluation") {
  const Recording recording = made_up_recording("place");
  const Config a = recording.trials[0].config, b = recording.trials[1].config;
  CHECK(failure_of(recording, in_turn("lost", {a, b, a}, true), {.repeats = 1, .budget = 50}) ==
        "kernelsearch: a policy failed: lost on place, repeat 0, evaluation 3: lost my way; fix the policy, "
        "or "
        "leave it out; with --out what is finished is kept");
  const Contestant unmade{"unmade", [](const PolicySetup&) -> AnyPolicy<Config> { throw 7; }};
  CHECK(failure_of(recording, unmade, {.repeats = 1, .budget = 50})
            .find("unmade on place, repeat 0, evaluation 1: an exception that is not a std::exception") !=
        std::string::npos);
  const Contestant greedy{
      "greedy", [a](const PolicySetup&) {
        return AnyPolicy<Config>(Scripted{[a](std::size_t n) { return std::vector<Config>(n + 1, a); }});
      }};
  CHECK(
      failure_of(recording, greedy, {.repeats = 1, .budget = 50})
          .find(
              "greedy on place, repeat 0, evaluation 1: it returned more proposals than it was asked for: 2 "
              "instead of 1") != std::string::npos);
}
