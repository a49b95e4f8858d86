// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_policy.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"

namespace kernelsearch::comparing {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wall_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Every call of a policy goes through here: its time is taken, and what it throws is put in its place.
class Calls {
 public:
  Calls(const Trace& trace, bool own_process) : trace_(trace), own_process_(own_process) {}

  template <class Call>
  auto operator()(Call call) {
    struct Add {
      Calls& calls;
      double start = calls.now();
      ~Add() { calls.seconds_ += calls.now() - start; }
    } add{*this};
    try {
      return call();
    } catch (const std::exception& error) {
      fail(error.what());
    } catch (...) {
      fail("an exception that is not a std::exception");
    }
  }

  [[nodiscard]] double seconds() const noexcept { return seconds_; }

 private:
  [[nodiscard]] double now() const { return own_process_ ? wall_seconds() : thread_seconds(); }

  [[noreturn]] void fail(std::string why) const {
    constexpr std::string_view prefix = "kernelsearch: ";
    if (why.starts_with(prefix)) why.erase(0, prefix.size());
    detail::raise<ConfigError>("a policy failed", place_of(trace_) + ": " + why,
                               "fix the policy, or leave it out; with --out what is finished is kept");
  }

  const Trace& trace_;
  bool own_process_;
  double seconds_ = 0.0;
};

/// The policy with its every call watched.
class Watched {
 public:
  using Proposal = Config;

  /// `look_at` sees every proposal: the generator makes nothing of those outside the space.
  Watched(AnyPolicy<Config> policy, Calls& calls, std::function<void(const Config&)> look_at)
      : policy_(std::move(policy)), calls_(&calls), look_at_(std::move(look_at)) {}

  std::vector<Config> ask(std::size_t n) {
    std::vector<Config> asked = (*calls_)([&] {
      std::vector<Config> proposals = policy_.ask(n);
      if (proposals.size() > n)
        detail::raise<ConfigError>("it returned more proposals than it was asked for",
                                   std::to_string(proposals.size()) + " instead of " + std::to_string(n),
                                   "return at most n from ask(n)");
      return proposals;
    });
    for (const Config& config : asked) look_at_(config);
    return asked;
  }
  void tell(std::span<const Observation<Config>> batch) {
    (*calls_)([&] { policy_.tell(batch); });
  }
  bool await() {
    return (*calls_)([&] { return policy_.await(); });
  }

 private:
  AnyPolicy<Config> policy_;
  Calls* calls_;
  std::function<void(const Config&)> look_at_;
};

/// One run: the loop is the optimizer's, the evaluations come from the recording, time is recorded time.
class Run {
 public:
  Run(const RecordedHardware& hardware, AnyPolicy<Config> policy, const RunLimits& limits,
      const std::stop_token& stop, Calls& calls, Trace& trace)
      : hardware_(hardware),
        limits_(limits),
        trace_(trace),
        evaluated_(hardware.recording->trials.size()),
        search_(Watched(std::move(policy), calls, [this](const Config& config) { look_at(config); }),
                TemplateGenerator(hardware.kernel), External{},
                {.budget = std::make_shared<TrialBudget>(20 * limits.evaluations + 10'000), .stop = stop}) {}

  void operator()(const std::stop_token& stop) {
    while (refill()) finish_next();
    if (stop.stop_requested() || out_of_time_) return;
    const std::size_t most = std::min<std::uint64_t>(limits_.evaluations, evaluated_.size());
    trace_.ended_early = trace_.evaluations.size() < most;
    if (trace_.ended_early && limits_.strict)
      misuse("a policy ended early", std::to_string(most) + " evaluations were there to be made",
             "propose until the space is exhausted");
  }

 private:
  struct InFlight {
    TrialId id;
    std::uint32_t trial;
    double built;  ///< recorded time at which it can be measured
  };

  /// Asks until enough is in flight; false where nothing is.
  bool refill() {
    while (in_flight_.size() < limits_.in_flight) {
      const std::uint64_t left = limits_.evaluations - trace_.evaluations.size() - in_flight_.size();
      if (left == 0) break;
      const auto wanted = std::min<std::uint64_t>(limits_.in_flight - in_flight_.size(), left);
      const auto jobs = search_.ask(wanted);
      if (jobs.empty()) break;
      for (const auto& job : jobs) admit(job.id, job.candidate.config);
    }
    return !in_flight_.empty();
  }

  void look_at(const Config& config) {
    if (hardware_.recording->space.contains(config)) return;
    ++trace_.dropped_unknown;
    ++trace_.dropped_outside;
    if (limits_.strict)
      misuse("a policy left the space", text_of(config), "propose what meets the constraints");
  }

  /// What was evaluated before, or was never recorded, is answered at once and costs nothing.
  void admit(TrialId id, const Config& config) {
    const auto found = hardware_.position.find(config);
    if (found == hardware_.position.end()) {
      // That it is missing is the recording's doing: strict or not, the policy is not to blame.
      ++trace_.dropped_unknown;
      search_.tell(id, Evaluation::failed(Verdict::rejected, "the configuration was not recorded"));
      return;
    }
    const Evaluation& evaluation = hardware_.recording->trials[found->second].evaluation;
    if (evaluated_[found->second]) {
      ++trace_.dropped_repeats;
      if (limits_.strict)
        misuse("a policy proposed a configuration again", text_of(config),
               "remember what was proposed and told");
      search_.tell(id, evaluation);
      return;
    }
    evaluated_[found->second] = true;
    in_flight_.push_back({id, found->second, now_ + evaluation.phases.build});
  }

  [[nodiscard]] std::string text_of(const Config& config) const {
    const Space& space = hardware_.recording->space;
    if (config.indices.size() != space.size()) return std::to_string(config.indices.size()) + " tunables";
    std::string text;
    for (std::size_t i = 0; i < space.size(); ++i) {
      const Tunable& tunable = space.tunable(i);
      const std::uint32_t at = config.indices[i];
      text += (text.empty() ? "" : ", ") + tunable.name + " = " +
              (at < tunable.values.size() ? to_string(tunable.values[at]) : "position " + std::to_string(at));
    }
    return text;
  }

  [[noreturn]] void misuse(std::string_view what, const std::string& given, std::string_view todo) const {
    detail::raise<ConfigError>(what, place_of(trace_) + ": " + given,
                               std::string(todo) + ", or leave out --strict to have it counted");
  }

  /// The device takes what was built first.
  void finish_next() {
    const auto next =
        std::min_element(in_flight_.begin(), in_flight_.end(),
                         [](const InFlight& a, const InFlight& b) { return a.built < b.built; });
    const InFlight done = *next;
    in_flight_.erase(next);
    const Evaluation& evaluation = hardware_.recording->trials[done.trial].evaluation;
    now_ = std::max(now_, done.built) + evaluation.phases.check + evaluation.phases.measure;
    if (limits_.seconds && now_ > *limits_.seconds) {
      in_flight_.clear();
      limits_.evaluations = trace_.evaluations.size();
      out_of_time_ = true;
      search_.abandon_outstanding();
      return;
    }
    trace_.evaluations.push_back(done.trial);
    if (hardware_.timed) trace_.seconds.push_back(std::nearbyint(now_ * 1e6) / 1e6);
    search_.tell(done.id, evaluation);
  }

  const RecordedHardware& hardware_;
  RunLimits limits_;
  Trace& trace_;
  std::vector<bool> evaluated_;  ///< or in flight
  Optimizer<Watched, TemplateGenerator> search_;
  std::vector<InFlight> in_flight_;  ///< in the order of admission
  double now_ = 0.0;
  bool out_of_time_ = false;  ///< the recorded time is used up
};

}  // namespace

std::string place_of(const Trace& trace) {
  return trace.strategy + " on " + trace.space + ", repeat " + std::to_string(trace.repeat) +
         ", evaluation " + std::to_string(trace.evaluations.size() + 1);
}

RecordedHardware::RecordedHardware(const Recording& of)
    : recording(&of), kernel(std::make_shared<const Kernel>(Kernel{{}, of.space})) {
  position.reserve(of.trials.size());
  for (std::size_t i = 0; i < of.trials.size(); ++i) {
    position.emplace(of.trials[i].config, static_cast<std::uint32_t>(i));
    timed = timed || of.trials[i].evaluation.phases.total() > 0;
  }
}

bool run_policy(const RecordedHardware& hardware, const std::function<AnyPolicy<Config>()>& make,
                const RunLimits& limits, const std::stop_token& stop, Trace& trace) {
  Calls calls(trace, limits.own_process);
  AnyPolicy<Config> policy = calls(make);
  Run(hardware, std::move(policy), limits, stop, calls, trace)(stop);
  trace.policy_seconds = calls.seconds();
  return !stop.stop_requested();
}

}  // namespace kernelsearch::comparing
