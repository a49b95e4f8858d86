// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/comparison.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "run_policy.hpp"
#include "trace_folder.hpp"

namespace kernelsearch {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t scored_evaluations = 1100;  ///< ScoreOptions::cap
constexpr std::uint64_t least_evaluations = 200;    ///< the longest of `ratio_evaluations`

struct Run {
  std::size_t space, contestant;
  std::uint64_t repeat;
};

std::size_t threads_of_this_machine() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<std::size_t>(CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

/// For everything that runs depend on.
class Fingerprint {
 public:
  void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    add_byte(0);
  }
  void add(double value) {
    std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8) add_byte(bits & 0xff);
  }
  [[nodiscard]] std::string text() const {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[(hash_ >> shift) & 15];
    return text;
  }

 private:
  void add_byte(std::uint64_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;  // FNV-1a
};

Json options_as_json(std::span<const Landscape> landscapes, std::span<const Recording> recordings,
                     const ComparisonOptions& options) {
  Json json;
  Json& runs = json["runs"];
  runs["seed"] = options.seed;
  runs["budget"] = options.budget ? Json(*options.budget) : Json("as the space needs");
  runs["recorded_seconds"] = options.recorded_seconds ? Json(*options.recorded_seconds) : Json();
  runs["default"] = options.declared_default ? "as declared" : "random";
  runs["in_flight"] = options.in_flight;
  Json& spaces = json["spaces"] = Json::object();
  for (std::size_t i = 0; i < landscapes.size(); ++i) {
    Fingerprint print;
    for (std::size_t t = 0; t < recordings[i].trials.size(); ++t) {
      const auto number = static_cast<std::uint32_t>(t);
      print.add(landscapes[i].key(number));
      print.add(landscapes[i].objective(number));
      print.add(recordings[i].trials[t].evaluation.phases.total());
    }
    Json& space = spaces[landscapes[i].name()];
    space["configurations"] = landscapes[i].size();
    space["fingerprint"] = print.text();
    Json& sources = space["learned_from"] = Json::array();
    if (options.earlier.empty()) continue;
    for (const EarlierRun& run : options.earlier[i]) {
      Fingerprint prior;
      for (const EarlierOutcome& outcome : run.outcomes) {
        for (const std::uint32_t index : outcome.config.indices) prior.add(static_cast<double>(index));
        prior.add(outcome.objective);
      }
      sources.push_back(run.source + " " + prior.text());
    }
  }
  return json;
}

/// Estimates what is left from what runs of the same policy took, on the same space where there were any.
class Estimate {
 public:
  Estimate(std::size_t spaces, std::size_t contestants)
      : took_(spaces * contestants), contestants_(contestants) {}

  void add(const Run& run, double seconds) {
    Mean& mean = took_[run.space * contestants_ + run.contestant];
    mean.sum += seconds;
    ++mean.count;
  }

  [[nodiscard]] double seconds(const Run& run) const {
    const Mean& same = took_[run.space * contestants_ + run.contestant];
    if (same.count > 0) return same.mean();
    Mean policy, all;
    for (std::size_t i = 0; i < took_.size(); ++i) {
      all.add(took_[i]);
      if (i % contestants_ == run.contestant) policy.add(took_[i]);
    }
    if (policy.count > 0) return policy.mean();
    return all.count > 0 ? all.mean() : std::numeric_limits<double>::infinity();
  }

 private:
  struct Mean {
    double sum = 0.0;
    std::size_t count = 0;
    void add(const Mean& other) {
      sum += other.sum;
      count += other.count;
    }
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Mean> took_;
  std::size_t contestants_;
};

void check(std::span<const Recording> recordings, std::span<const Landscape> landscapes,
           std::span<const Contestant> contestants, const ComparisonOptions& options) {
  const auto wrong = [](std::string_view what, std::string_view given, std::string_view todo) {
    detail::raise<ConfigError>(what, given, todo);
  };
  if (recordings.empty()) wrong("nothing to compare on", "no recording", "give at least one");
  if (contestants.empty()) wrong("nothing to compare", "no policy", "give at least one");
  if (recordings.size() != landscapes.size())
    wrong("recordings and landscapes differ", std::to_string(recordings.size()),
          "make them by landscapes_of");
  if (options.repeats == 0 || options.in_flight == 0 || options.budget == std::uint64_t{0})
    wrong("ComparisonOptions has a count of 0", "repeats, in_flight or budget", "give at least 1 of each");
  if (!options.earlier.empty() && options.earlier.size() != recordings.size())
    wrong("the earlier runs are not for these recordings",
          std::to_string(options.earlier.size()) + " for " + std::to_string(recordings.size()),
          "give a list for each recording, or none");
  std::set<std::string_view> names;
  for (const Recording& recording : recordings)
    if (!names.insert(recording.name).second)
      wrong("two recordings have the same name", recording.name, "rename one of the files");
  names.clear();
  for (const Contestant& contestant : contestants)
    if (!names.insert(contestant.name).second)
      wrong("a policy is given twice", contestant.name, "name each once");
}

/// All runs of a comparison and who is at which.
class Comparison {
 public:
  Comparison(std::span<const Recording> recordings, std::span<const Landscape> landscapes,
             std::span<const Contestant> contestants, const ComparisonOptions& options)
      : landscapes_(landscapes),
        contestants_(contestants),
        options_(options),
        estimate_(recordings.size(), contestants.size()) {
    for (const Recording& recording : recordings) {
      hardware_.emplace_back(recording);
      if (options.recorded_seconds && !hardware_.back().timed)
        detail::raise<ConfigError>("the recording does not say what evaluations took", recording.name,
                                   "give the budget in evaluations");
    }
    if (!options.folder.empty())
      folder_.emplace(options.folder, options_as_json(landscapes, recordings, options), landscapes);
    // Repeats outermost, so that what is there after a kill can be compared.
    for (std::uint64_t repeat = 0; repeat < options.repeats; ++repeat)
      for (std::size_t space = 0; space < recordings.size(); ++space)
        for (std::size_t contestant = 0; contestant < contestants.size(); ++contestant)
          runs_.push_back({space, contestant, repeat});
    traces_.resize(runs_.size());
    if (folder_)
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        const auto found = folder_->finished().find(
            {landscapes[runs_[i].space].name(), contestants[runs_[i].contestant].name, runs_[i].repeat});
        if (found == folder_->finished().end()) continue;
        traces_[i] = found->second;
        if (options.strict) check_strictly(found->second);
        ++finished_;
      }
  }

  std::vector<Trace> operator()() {
    report();
    {
      const std::size_t count =
          std::min(options_.threads == 0 ? threads_of_this_machine() : options_.threads, runs_.size());
      std::vector<std::jthread> threads;
      for (std::size_t i = 1; i < count; ++i) threads.emplace_back([this] { work(); });
      work();
    }
    if (failure_) std::rethrow_exception(failure_);
    if (folder_) folder_->sort();
    std::vector<Trace> traces;
    for (std::size_t space = 0; space < landscapes_.size(); ++space)
      for (std::size_t contestant = 0; contestant < contestants_.size(); ++contestant)
        for (std::size_t i = 0; i < runs_.size(); ++i)
          if (runs_[i].space == space && runs_[i].contestant == contestant && traces_[i])
            traces.push_back(*std::move(traces_[i]));
    return traces;
  }

 private:
  /// What was run before without `strict`.
  void check_strictly(const Trace& trace) const {
    if (trace.dropped_repeats + trace.dropped_outside == 0 && !trace.ended_early) return;
    std::string text =
        trace.strategy + " on " + trace.space + ", repeat " + std::to_string(trace.repeat) + ": ";
    text += std::to_string(trace.dropped_repeats) + " proposed again, " +
            std::to_string(trace.dropped_outside) + " outside the space";
    if (trace.ended_early) text += ", ended early";
    detail::raise<ConfigError>("a run in the folder is not fit for --strict", text,
                               "leave out --strict to have it counted, or give another folder");
  }

  void work() {
    for (std::size_t i = next_++; i < runs_.size(); i = next_++) {
      if (traces_[i]) continue;
      if (options_.stop.stop_requested() || give_up_.stop_requested()) return;
      try {
        run(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        give_up_.request_stop();
      }
    }
  }

  void run(std::size_t i) {
    const Run& run = runs_[i];
    const Landscape& landscape = landscapes_[run.space];
    const Contestant& contestant = contestants_[run.contestant];
    Trace trace{landscape.name(), contestant.name, run.repeat};
    comparing::RunLimits limits{landscape.size(), options_.recorded_seconds, options_.in_flight,
                                options_.strict, contestant.own_process};
    if (options_.budget || !options_.recorded_seconds) {
      limits.evaluations = options_.budget.value_or(
          std::max(least_evaluations, std::min(landscape.budget(), scored_evaluations)));
      trace.cap = limits.evaluations;
    }
    const auto make = [&] {
      PolicySetup setup{space_of(run), seed_of(run), options_.budget, {}, options_.declared_default};
      if (!options_.earlier.empty()) setup.earlier = options_.earlier[run.space];
      return contestant.make(setup);
    };
    const auto start = Clock::now();
    if (!comparing::run_policy(hardware_[run.space], make, limits, options_.stop, trace)) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (folder_) folder_->append(trace, landscape);
    const std::lock_guard lock(mutex_);
    traces_[i] = std::move(trace);
    estimate_.add(run, seconds);
    ++finished_;
    report();
  }

  /// As policies see it.
  [[nodiscard]] Space space_of(const Run& run) const {
    const Space& space = hardware_[run.space].recording->space;
    if (options_.declared_default) return space;
    Rng rng = Rng::stream(seed_of(run), "default configuration");
    return space.with_default(space.sample(rng));
  }

  /// The same for all policies.
  [[nodiscard]] std::uint64_t seed_of(const Run& run) const {
    return Rng::stream(options_.seed, landscapes_[run.space].name() + "\n" + std::to_string(run.repeat))();
  }

  void report() const {
    if (!options_.progress) return;
    ComparisonProgress progress{runs_.size(), finished_, 0.0, 0.0};
    progress.elapsed_seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (!traces_[i]) progress.left_seconds += estimate_.seconds(runs_[i]);
    const std::size_t threads = options_.threads == 0 ? threads_of_this_machine() : options_.threads;
    progress.left_seconds /= static_cast<double>(threads);
    options_.progress(progress);
  }

  std::span<const Landscape> landscapes_;
  std::span<const Contestant> contestants_;
  const ComparisonOptions& options_;
  std::vector<comparing::RecordedHardware> hardware_;
  std::optional<comparing::TraceFolder> folder_;
  std::vector<Run> runs_;
  std::vector<std::optional<Trace>> traces_;  ///< of each run once it is finished
  std::size_t finished_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  Estimate estimate_;
  std::stop_source give_up_;
  std::exception_ptr failure_;
  Clock::time_point started_ = Clock::now();
};

}  // namespace

Contestant registered_contestant(const std::string& text) {
  return {text, [choice = choose_policy(text)](const PolicySetup& setup) { return choice.make(setup); }};
}

std::vector<Landscape> landscapes_of(std::span<const Recording> recordings) {
  std::vector<Landscape> landscapes;
  for (const Recording& recording : recordings) landscapes.emplace_back(recording);
  return landscapes;
}

std::vector<Trace> compare(std::span<const Recording> recordings, std::span<const Landscape> landscapes,
                           std::span<const Contestant> contestants, const ComparisonOptions& options) {
  check(recordings, landscapes, contestants, options);
  return Comparison(recordings, landscapes, contestants, options)();
}

}  // namespace kernelsearch
