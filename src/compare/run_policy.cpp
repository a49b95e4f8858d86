// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_policy.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"

namespace kernelsearch::comparing {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Adds the processor time of `work` to `seconds`.
template <class Work>
auto timed(double& seconds, Work work) {
  struct Add {
    double& seconds;
    double start = thread_seconds();
    ~Add() { seconds += thread_seconds() - start; }
  } add{seconds};
  return work();
}

/// The policy with a clock on its every call.
class Timed {
 public:
  using Proposal = Config;

  Timed(AnyPolicy<Config> policy, double& seconds) : policy_(std::move(policy)), seconds_(&seconds) {}

  std::vector<Config> ask(std::size_t n) {
    return timed(*seconds_, [&] { return policy_.ask(n); });
  }
  void tell(std::span<const Observation<Config>> batch) {
    timed(*seconds_, [&] { policy_.tell(batch); });
  }
  bool await() { return policy_.await(); }

 private:
  AnyPolicy<Config> policy_;
  double* seconds_;
};

/// One run: the loop is the optimizer's, the evaluations come from the recording, time is recorded time.
class Run {
 public:
  Run(const RecordedHardware& hardware, AnyPolicy<Config> policy, const RunLimits& limits,
      const std::stop_token& stop, double& policy_seconds, Trace& trace)
      : hardware_(hardware),
        limits_(limits),
        trace_(trace),
        evaluated_(hardware.recording->trials.size()),
        search_(Timed(std::move(policy), policy_seconds), TemplateGenerator(hardware.kernel), External{},
                {.budget = std::make_shared<TrialBudget>(20 * limits.evaluations + 10'000), .stop = stop}) {}

  void operator()() {
    while (refill()) finish_next();
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

  /// What was evaluated before, or was never recorded, is answered at once and costs nothing.
  void admit(TrialId id, const Config& config) {
    const auto found = hardware_.position.find(config);
    if (found == hardware_.position.end()) {
      ++trace_.dropped_unknown;
      search_.tell(id, Evaluation::failed(Verdict::rejected, "the configuration was not recorded"));
      return;
    }
    const Evaluation& evaluation = hardware_.recording->trials[found->second].evaluation;
    if (evaluated_[found->second]) {
      ++trace_.dropped_repeats;
      search_.tell(id, evaluation);
      return;
    }
    evaluated_[found->second] = true;
    in_flight_.push_back({id, found->second, now_ + evaluation.phases.build});
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
  Optimizer<Timed, TemplateGenerator> search_;
  std::vector<InFlight> in_flight_;  ///< in the order of admission
  double now_ = 0.0;
};

}  // namespace

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
  double seconds = 0.0;
  AnyPolicy<Config> policy = timed(seconds, make);
  Run(hardware, std::move(policy), limits, stop, seconds, trace)();
  trace.policy_seconds = seconds;
  return !stop.stop_requested();
}

}  // namespace kernelsearch::comparing
