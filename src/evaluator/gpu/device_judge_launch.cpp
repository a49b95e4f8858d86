// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The clock outside of launch functions. Their host code shares a process with the events and with what is
// replied, so that neither can be believed: the controller takes the time from its command until the device
// is idle and the outputs that are to be verified are in its hands, less what the same takes with calls that
// launch nothing.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <string>

#include "evaluator/gpu/device_judge.hpp"
#include "evaluator/gpu/launch_judgement.hpp"
#include "judge/pairs.hpp"
#include "judge/sampler.hpp"

namespace kernelsearch::detail::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t retakes = 8;
// Share of the device's time that other processes may have before what they do to a launch function is not
// told from what it does itself.
constexpr double device_loaded = 0.05;

/// For how long threads ran and waited for a core, in seconds.
struct ThreadTimes {
  double ran = 0, waited = 0;
};
using AllTimes = std::map<std::string, ThreadTimes>;

void add_times(const fs::path& task, AllTimes& all) {
  std::ifstream file(task / "schedstat");
  if (double ran = 0, waited = 0; file >> ran >> waited) all[task.string()] = {1e-9 * ran, 1e-9 * waited};
}

AllTimes threads_of(pid_t root) {
  AllTimes all;
  for (const pid_t process : process_tree(root)) {  // a sandbox has several
    std::error_code error;
    const fs::path tasks = "/proc/" + std::to_string(process) + "/task";
    for (fs::directory_iterator at(tasks, error), end; !error && at != end; at.increment(error))
      add_times(at->path(), all);
  }
  return all;
}

/// Seconds that a process waited for a core: its busiest thread. None where others of its threads were busy
/// as well: it may then have waited for itself. Negative where the system does not say.
double waited_between(const AllTimes& before, const AllTimes& after, double seconds) {
  constexpr double busy = 0.05;
  if (after.empty()) return -1;
  double all = 0, ran = -1, waited = 0;
  for (const auto& [task, now] : after) {
    const auto known = before.find(task);
    const ThreadTimes then = known == before.end() ? ThreadTimes{} : known->second;
    all += now.ran - then.ran;
    if (now.ran - then.ran <= ran) continue;
    ran = now.ran - then.ran;
    waited = now.waited - then.waited;
  }
  return all - ran > busy * seconds ? 0.0 : waited;
}

/// For how long those who take part in a batch wait for a core from when this is made.
class WaitMeter {
 public:
  WaitMeter(pid_t worker, pid_t referee)
      : worker_(worker), referee_(referee), before_{own(), threads_of(worker), threads_of(referee)} {}

  /// Negative where the system does not say. `seconds`: since this was made.
  [[nodiscard]] double waited(double seconds) const {
    const double worker = waited_between(before_.worker, threads_of(worker_), seconds);
    if (worker < 0) return worker;
    return worker + std::max(0.0, waited_between(before_.own, own(), seconds)) +
           std::max(0.0, waited_between(before_.referee, threads_of(referee_), seconds));
  }

 private:
  static AllTimes own() {
    AllTimes all;
    add_times("/proc/thread-self", all);
    return all;
  }

  pid_t worker_, referee_;
  struct {
    AllTimes own, worker, referee;
  } before_;
};

}  // namespace

std::optional<Fault> DeviceJudge::calibrate() {
  constexpr std::size_t few = 2, many = 12;
  empty_.assign(plans_.size(), {});
  Subject nothing;
  nothing.module = candidate_module;
  nothing.shapes.resize(plans_.size());
  for (std::size_t shape = 0; shape < plans_.size(); ++shape) {
    if (!timed(shape)) continue;
    ShapeState& state = nothing.shapes[shape];
    state.workspaces.assign(problem_.arguments.size(), std::nullopt);
    std::vector<std::int32_t> blocks;
    if (const auto error = now_.worker->define(program_of(candidate_module, shape), {}, blocks))
      return fault_of(*error);
    const std::size_t most = std::min(many, slots(shape));
    const std::size_t verified = std::clamp<std::size_t>(
        static_cast<std::size_t>(shared_.size() / std::max<std::uint64_t>(1, output_bytes(plans_[shape]))), 1,
        most);
    bool disturbed = false;
    double seconds[4] = {};  // few calls, many, many of which one is handed over, or some
    const std::size_t kinds = verified > 1 ? 4 : 3;  // some are no more than one
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      UndisturbedTime taken;
      const auto once = [&](double& took) -> std::optional<Fault> {
        Batch batch;
        if (auto fault = draw(shape, kind == 0 ? std::min(few, most) : most, false, batch)) return fault;
        std::vector<double> ignored;
        std::vector<std::uint64_t> results;
        const double begin = monotonic_seconds();
        // That nothing was written is not a fault here; that the process ended is.
        (void)run_batch(nothing, batch, ignored, results);
        if (!now_.worker->alive()) return Fault{Verdict::crashed, "its process ended"};
        if (kind >= 2) {
          std::vector<Called> calls;
          for (std::size_t i = 0; i < (kind == 2 ? 1 : verified); ++i)
            calls.push_back({batch.sets[i], batch.first + i, results[i], true});
          std::vector<Referee::OutputSample> samples;
          if (auto fault = collect(calls, 0, samples)) return fault;
        }
        took = monotonic_seconds() - begin;
        return std::nullopt;
      };
      if (auto fault = take_undisturbed(taken, once)) return fault;
      seconds[kind] = taken.seconds();
      disturbed = disturbed || taken.is_disturbed();
    }
    EmptyBatch& empty = empty_[shape];
    empty.disturbed = disturbed;
    if (most > few) empty.call = std::max(0.0, (seconds[1] - seconds[0]) / static_cast<double>(most - few));
    empty.fixed = std::max(0.0, seconds[1] - empty.call * static_cast<double>(most));
    const double one = std::max(0.0, seconds[2] - seconds[1]);
    empty.collected =
        verified == 1 ? one
                      : std::clamp((seconds[3] - seconds[2]) / static_cast<double>(verified - 1), 0.0, one);
    empty.collecting = one - empty.collected;  // handing over takes its time however few there are
  }
  return std::nullopt;
}

std::optional<Fault> DeviceJudge::launched_batch(Subject& subject, std::size_t shape, std::size_t count,
                                                 Depth depth, std::vector<double>& samples) {
  ShapeState& state = subject.shapes[shape];
  const std::size_t whole = std::min(count, slots(shape));
  // What waits from before would be looked at within the time that is taken.
  if (auto fault = verify_pending()) return fault;
  struct Taken {
    std::vector<double> seconds;
    LaunchTimes times;
  };
  std::optional<Taken> best;
  for (std::size_t turn = 0; turn <= retakes && (!best || beyond_margin(best->times) > 0); ++turn) {
    // Who computes for long has to share its core next to other work; short batches get through between.
    count = turn == 0 ? whole : std::max<std::size_t>(std::min<std::size_t>(whole, 2), whole / 4);
    Batch batch;
    if (auto fault = draw(shape, count, false, batch)) return fault;
    std::vector<std::size_t> chosen(count);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    if (auto fault = choose_verified(state, depth, std::move(chosen), batch)) return fault;
    Taken taken;
    std::vector<std::uint64_t> results;
    const WaitMeter meter(now_.worker->pid(), referee_.pid());
    const double begin = monotonic_seconds();
    if (auto fault = run_batch(subject, batch, taken.seconds, results)) return fault;
    remember(batch, results, state);
    const std::vector<Called> calls = std::exchange(pending_, {});
    held_.assign(plans_.size(), 0);
    std::vector<Referee::OutputSample> verified;
    if (!calls.empty())
      if (auto fault = collect(calls, 0, verified)) return fault;
    const double all = monotonic_seconds() - begin;
    taken.times.calls = count;
    taken.times.waited = meter.waited(all);
    if (!calls.empty())
      if (auto fault = settle(calls, 0, verified)) return fault;
    state.results.insert(results.begin(), results.end());
    taken.times.inside = std::accumulate(taken.seconds.begin(), taken.seconds.end(), 0.0);
    taken.times.empty = empty_[shape].seconds(count, calls.size());
    taken.times.outside = all - taken.times.empty;
    taken.times.disturbed = empty_[shape].disturbed;
    const auto each = [](const LaunchTimes& times) {
      return beyond_margin(times) / static_cast<double>(times.calls);
    };
    if (!best || each(taken.times) < each(best->times)) best = std::move(taken);
  }
  LaunchTimes& times = best->times;
  subject.inside += times.inside;
  subject.outside += times.outside;
  if (nvml_ && beyond_margin(times) > 0)
    if (const auto others = nvml_->others(process_tree(getpid()), 1.0))
      times.shared = others->processes > 0 && others->share.value_or(1.0) > device_loaded;
  const double calls = static_cast<double>(times.calls);
  switch (judge_launches(times)) {
    case LaunchJudgement::agrees:
      break;
    case LaunchJudgement::charged:
      ++subject.charged;
      for (double& seconds : best->seconds) seconds += (unexplained_seconds(times) - times.inside) / calls;
      break;
    case LaunchJudgement::cheated: {
      char text[200];
      std::snprintf(text, sizeof text,
                    "its launch function takes %.4g us a call by the clock outside and %.4g us by its events "
                    "(shape %s)",
                    1e6 * times.outside / calls, 1e6 * times.inside / calls,
                    problem_.shapes[shape].name.c_str());
      return Fault{Verdict::cheated, text};
    }
  }
  samples.insert(samples.end(), best->seconds.begin(), best->seconds.end());
  state.estimate = median(std::move(best->seconds));
  return std::nullopt;
}

std::optional<Fault> DeviceJudge::alone(const GpuArtifact& artifact, std::size_t count, bool checked,
                                        std::vector<std::vector<double>>& samples) {
  if (now_.worker) now_.worker->stop();
  start();
  Subject subject;
  subject.finalist = true;
  Features ignored;
  auto fault = admit(artifact, candidate_module, subject, ignored);
  if (!fault && !checked) fault = check(subject, ignored, std::nullopt);
  if (!fault && !checked) fault = verify_pending();
  for (std::size_t shape = 0; shape < plans_.size() && !fault; ++shape) {
    if (!timed(shape) || !subject.shapes[shape].valid) continue;
    std::vector<double> first;  // which loads the kernels
    fault = batch(subject, shape, 2, Depth::glance, first);
    if (!fault) fault = batch(subject, shape, count, Depth::finalist, samples[shape]);
  }
  dismiss(subject, artifact);
  return fault;
}

std::optional<Fault> DeviceJudge::pairs_apart(const GpuArtifact& candidate, const GpuArtifact& champion,
                                              const PairOptions& limits, bool both, Speedup& speedup,
                                              Measurement* measurement) {
  // A process that still lived could keep the device busy while the other side is timed, so there is only one
  // at a time; several rounds, since where things lie and how warm the device is differ between them.
  PairOptions all = limits;
  all.rounds = std::max<std::size_t>(4, limits.rounds);
  const std::size_t count = std::max<std::size_t>(
      {2, (limits.min_pairs + all.rounds - 1) / all.rounds, limits.max_pairs / all.rounds});
  Pairs taken(problem_, all);
  for (std::size_t round = 0; round < all.rounds && !limits.stop.stop_requested(); ++round) {
    std::vector<std::vector<double>> ours(plans_.size()), theirs(plans_.size());
    for (const bool first : {true, false}) {
      const bool is_ours = first == (round % 2 == 0);
      if (auto fault = alone(is_ours ? candidate : champion, count, round > 0 || (is_ours && !both),
                             is_ours ? ours : theirs)) {
        if (is_ours || both) return fault;
        return std::nullopt;  // a baseline that is not ok leaves the candidate without a speedup
      }
    }
    for (std::size_t shape = 0, timed = 0; shape < plans_.size(); ++shape)
      if (!ours[shape].empty() && !theirs[shape].empty())
        taken.add(timed++, problem_.shapes[shape].weight, theirs[shape], ours[shape]);
  }
  speedup = taken.speedup(measurement);
  return std::nullopt;
}

}  // namespace kernelsearch::detail::gpu
