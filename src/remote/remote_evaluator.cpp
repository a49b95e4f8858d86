// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/remote/remote_evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/store/json.hpp"
#include "remote/lane.hpp"

namespace kernelsearch {
namespace {

using nlohmann::json;
using remote::KernelTexts;
using remote::Lane;
using remote::LaneAnswer;
using remote::LaneEnd;
using remote::LaneFacts;

/// What stands before a lane's name in messages.
std::string named(std::size_t index, const std::string& name) {
  return "lane " + std::to_string(index) + " (" + name + ")";
}

/// Failures that a broken device may cause; what a compiler or a predicate refuses it cannot.
bool may_be_the_device(Verdict verdict) {
  return verdict == Verdict::wrong_result || verdict == Verdict::crashed || verdict == Verdict::timed_out;
}

/// Whether somebody who kills processes may have caused it, compilers or candidates: what a compiler refuses
/// it calls an error, and what a candidate does itself has the name of its signal. Too many are no harm.
bool looks_killed(const Evaluation& evaluation) {
  const auto says = [&](const char* word) { return evaluation.reason.find(word) != std::string::npos; };
  if (evaluation.verdict == Verdict::build_failed)
    return !says("error") || says("ignal") || says("Killed") || says("Terminated");
  if (evaluation.verdict == Verdict::crashed)
    return !says("SIGSEGV") && !says("SIGBUS") && !says("SIGILL") && !says("SIGFPE") && !says("SIGABRT");
  return evaluation.verdict == Verdict::launch_failed;
}

bool is_power_of_two(std::size_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

std::string milliseconds_text(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g ms", 1e3 * seconds);
  return text;
}

}  // namespace

struct RemoteEvaluator::Impl {
  enum class State { starting, ready, waiting, aside };

  struct Slot {
    std::size_t index = 0;
    State state = State::starting;
    std::shared_ptr<Lane> lane;
    std::uint64_t worker = 0;  ///< a number of its own for each that was started
    LaneFacts facts;
    std::string reason;  ///< of its last loss, or why it is set aside
    bool builds_only = false, measuring = false, calibrated = false, worked = false;
    std::size_t building = 0, measured = 0, built = 0, lost = 0;
    std::uint64_t renewed = 0;   ///< the value of `renewals` that its worker has heard of
    unsigned vain = 0;           ///< workers lost in a row before they did anything
    std::size_t failures = 0;    ///< in a row that a broken device may cause
    std::deque<double> seconds;  ///< that the newest measurements took
    std::jthread keeper;
  };

  /// A slot whose worker is used for something.
  struct Use {
    Slot* slot = nullptr;
    std::shared_ptr<Lane> lane;
    std::uint64_t worker = 0;
    bool calibrated = false;
  };

  Impl(Problem given, RemoteOptions chosen)
      : problem(std::move(given)),
        options(std::move(chosen)),
        content(remote::problem_content(problem)),
        texts(problem),
        wanted_device(options.device_id),
        wanted_toolchain(options.toolchain_id) {
    if (options.lanes.empty())
      detail::raise<ConfigError>("no lanes were given", "none", "say how a worker is started");
    for (std::size_t i = 0; i < options.lanes.size(); ++i) {
      slots.push_back(std::make_unique<Slot>());
      slots.back()->index = i;
      slots.back()->builds_only = options.lanes[i].builds_only;
      measurers += options.lanes[i].builds_only ? 0 : 1;
    }
    if (measurers == 0)
      detail::raise<ConfigError>("all lanes only build", std::to_string(slots.size()),
                                 "say how a worker is started that measures");
    for (auto& slot : slots)
      slot->keeper =
          std::jthread([this, one = slot.get()](const std::stop_token& stop) { keep(*one, stop); });
    std::unique_lock lock(mutex);
    changed.wait(lock, options.stop, [this] { return first.has_value() || !any_hope(); });
    if (first) return;
    const std::string reasons = options.stop.stop_requested() ? "it was stopped before" : reasons_of_all();
    lock.unlock();
    end_all();  // no destructor does it for what was never made
    detail::raise<DeviceError>("no worker is ready that could measure", reasons,
                               "see docs/scale.md, mend one, and start again");
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { end_all(); }

  void end_all() {
    for (auto& slot : slots) slot->keeper.request_stop();
    changed.notify_all();
    for (auto& slot : slots) slot->keeper = std::jthread();
  }

  void say(const std::string& text) const {
    if (options.say) options.say(text);
  }
  [[nodiscard]] std::string name_of(const Slot& slot) const {
    return named(slot.index, options.lanes[slot.index].name);
  }

  // --- workers that come and go ---------------------------------------------------------------------------

  /// Starts the worker of a slot, again where it is lost, until it is set aside or all is over.
  void keep(Slot& slot, const std::stop_token& stop) {
    std::string target;
    if (slot.builds_only) {  // for which device is only known when one is there
      std::unique_lock lock(mutex);
      if (!changed.wait(lock, stop, [this] { return first.has_value(); })) return;
      target = wanted_device;
    }
    while (!stop.stop_requested()) {
      LaneEnd end;
      std::shared_ptr<Lane> lane;
      try {
        lane = std::make_shared<Lane>(options, slot.index, target);
      } catch (const std::exception& error) {
        end = {LaneEnd::Kind::gone, error.what()};
      }
      if (lane) {
        {
          const std::lock_guard lock(mutex);
          slot.lane = lane;
          slot.state = State::starting;
          slot.worker = ++workers;
          slot.worked = false;
        }
        end = lane->pump(content, stop, [&](const LaneFacts& facts) { return welcome(slot, facts); });
      }
      if (stop.stop_requested()) return;
      if (!lost(slot, end)) return;
      const double pause = std::min(30.0, options.backoff_seconds * std::pow(2.0, slot.vain));
      std::unique_lock lock(mutex);
      changed.wait_for(lock, stop, std::chrono::duration<double>(pause), [] { return false; });
    }
  }

  /// Why a worker does not fit; empty: it does, and may be used.
  std::string welcome(Slot& slot, const LaneFacts& facts) {
    std::string message;
    {
      const std::lock_guard lock(mutex);
      slot.facts = facts;
      const auto differs = [](const char* what, const std::string& found, const std::string& wanted) {
        return std::string("it has another ") + what + ": found `" + found + "`, wanted `" + wanted + "`";
      };
      // Of one that only builds it is what it builds for: the device that measures, or its own.
      if (wanted_device.empty()) wanted_device = facts.device_id;
      if (facts.device_id != wanted_device) return differs("device", facts.device_id, wanted_device);
      if (!wanted_toolchain.empty() && facts.toolchain_id != wanted_toolchain)
        return differs("toolchain", facts.toolchain_id, wanted_toolchain);
      if (!options.sandbox.empty() && facts.sandbox != options.sandbox)
        return differs("sandbox", facts.sandbox, options.sandbox);
      if (wanted_toolchain.empty()) wanted_toolchain = facts.toolchain_id;
      slot.state = State::ready;
      slot.calibrated = measurers < 2;
      slot.renewed = renewals;  // it has done nothing yet
      slot.failures = 0;
      if (!first && !slot.builds_only) first = facts;
      message = name_of(slot) + " is ready on " + facts.host + ", worker " + std::to_string(slot.worker);
    }
    changed.notify_all();
    say(message);
    return "";
  }

  /// Notes the end of a worker; whether another one is to be started.
  bool lost(Slot& slot, const LaneEnd& end) {
    std::string message;
    bool again = true;
    {
      const std::lock_guard lock(mutex);
      slot.lane = nullptr;
      slot.measuring = false;
      slot.building = 0;
      if (slot.state == State::aside) return false;  // whoever set it aside has said why
      slot.reason = clean_text(end.reason);
      slot.vain = slot.worked || end.kind == LaneEnd::Kind::left ? 0 : slot.vain + 1;
      const bool hopeless = end.kind == LaneEnd::Kind::refused || end.kind == LaneEnd::Kind::garbage;
      again = !hopeless && slot.vain < options.vain_starts;
      slot.state = again ? State::waiting : State::aside;
      if (slot.worker != 0) ++slot.lost;
      message = name_of(slot) + (again ? " is lost: " : " is set aside: ") + slot.reason;
      if (!again && !hopeless)
        message += "; " + std::to_string(slot.vain) + " in a row were lost before they did anything";
    }
    changed.notify_all();
    say(message);
    return again;
  }

  /// For good, by what it did.
  void set_aside(Slot& slot, std::uint64_t worker, const std::string& reason,
                 LaneEnd::Kind kind = LaneEnd::Kind::refused) {
    std::shared_ptr<Lane> lane;
    {
      const std::lock_guard lock(mutex);
      if (slot.worker != worker || slot.state == State::aside) return;
      slot.state = State::aside;
      slot.reason = reason;
      lane = slot.lane;
    }
    say(name_of(slot) + " is set aside: " + reason);
    if (lane) lane->give_up({kind, reason});
    changed.notify_all();
  }

  // --- using them -----------------------------------------------------------------------------------------

  /// Whether a worker that measures is there, or may come. With the mutex.
  [[nodiscard]] bool any_hope() const {
    return std::any_of(slots.begin(), slots.end(),
                       [](const auto& slot) { return !slot->builds_only && slot->state != State::aside; });
  }
  [[nodiscard]] std::string reasons_of_all() const {
    std::string reasons;
    for (const auto& slot : slots) reasons += "\n  " + name_of(*slot) + ": " + slot->reason;
    return reasons;
  }
  [[noreturn]] void raise_none_left() const {
    detail::raise<DeviceError>("no lane is left that could measure", reasons_of_all(),
                               "see docs/scale.md, mend one, and go on with the run");
  }

  /// Where something is measured: wherever a worker is free, where finalists are measured, or there if it is
  /// free and elsewhere if not.
  enum class Place { any, home, home_first };

  /// Holds a worker that nobody else measures on; of `any` the one that built it where that is free.
  /// DeviceError where none is left; null where stopped.
  Use take(std::uint64_t builder, Place place, const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (true) {
      if (stop.stop_requested()) return {};
      if (!any_hope()) raise_none_left();
      Slot* chosen = nullptr;
      if (place == Place::home && home) {
        if (slots[*home]->state == State::aside || slots[*home]->state == State::waiting) home = ready_slot();
        if (home && usable(*slots[*home])) chosen = slots[*home].get();
      } else {
        for (const auto& slot : slots) {
          if (!usable(*slot)) continue;
          if (place == Place::home_first && home == slot->index) {
            chosen = slot.get();
            break;
          }
          if (slot->worker == builder) chosen = slot.get();
          // Of the others the one that has done least, so that none is left out.
          if (chosen == nullptr || (chosen->worker != builder && slot->measured < chosen->measured))
            chosen = slot.get();
        }
      }
      if (chosen != nullptr) {
        chosen->measuring = true;
        return {chosen, chosen->lane, chosen->worker, chosen->calibrated};
      }
      // In slices where none may come any more without a notice.
      changed.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    }
  }
  [[nodiscard]] static bool usable(const Slot& slot) {
    return !slot.builds_only && slot.state == State::ready && !slot.measuring && slot.lane != nullptr;
  }
  [[nodiscard]] std::optional<std::size_t> ready_slot() const {
    for (const auto& slot : slots)
      if (!slot->builds_only && slot->state == State::ready) return slot->index;
    return home;
  }

  /// Gives a worker back after an answer, or without one.
  void give_back(const Use& use, bool answered) {
    {
      const std::lock_guard lock(mutex);
      if (use.slot->worker == use.worker) {
        use.slot->measuring = false;
        if (answered) use.slot->worked = true, use.slot->vain = 0;
      }
    }
    changed.notify_all();
  }

  /// Whether an answer may be due to somebody who kills processes, of whom the worker is one. One that cannot
  /// be read is for others to see.
  [[nodiscard]] static bool is_doubtful(const LaneAnswer& answer) {
    if (answer.message.value("type", "") == "error") return true;
    try {
      const auto evaluation = answer.message.find("evaluation");
      return evaluation != answer.message.end() && evaluation->value("verdict", "ok") != "ok" &&
             looks_killed(evaluation->get<Evaluation>());
    } catch (const std::exception&) {
      return false;
    }
  }

  /// Whether the worker still answers, `settle_seconds` after what it has said.
  [[nodiscard]] bool outlives(const Use& use, const std::stop_token& stop) {
    {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, stop, std::chrono::duration<double>(options.settle_seconds),
                       [&] { return use.slot->lane != use.lane; });
      if (use.slot->lane != use.lane) return false;
    }
    return use.lane->ask(json{{"type", "ping"}}, {}, stop).has_value();
  }

  /// Asks a worker, once more where it lacks what it was taken to have. Nothing where it is lost.
  template <class Make>
  std::optional<LaneAnswer> ask(const Use& use, Make make, const std::string* code, bool has_code,
                                const std::stop_token& stop) {
    std::optional<LaneAnswer> answer;
    bool all = false;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const bool with_code = code != nullptr && (all || !has_code);
      answer = use.lane->ask(make(all), with_code ? std::string_view(*code) : std::string_view(), stop);
      if (!answer || answer->message.at("type") != "missing") break;
      all = true;
    }
    if (answer && is_doubtful(*answer) && !outlives(use, stop)) answer.reset();
    if (!answer) {
      // It is used no more, although its keeper may not know yet.
      const std::lock_guard lock(mutex);
      if (use.slot->worker == use.worker && use.slot->state == State::ready) use.slot->state = State::waiting;
      return std::nullopt;
    }
    const std::string type = answer->message.value("type", "");
    if (type == "error") {
      const std::string what = answer->message.value("what", "");
      if (answer->message.value("kind", "") == "config") throw ConfigError(what);
      set_aside(*use.slot, use.worker, "its device is gone: " + what);
      return std::nullopt;
    }
    if (type != "result") {
      set_aside(*use.slot, use.worker, "it answered with what is no result: " + type, LaneEnd::Kind::garbage);
      return std::nullopt;
    }
    return answer;
  }

  /// A part of an answer; where that is not what it should be the worker is set aside.
  template <class T>
  std::optional<T> part(const Use& use, const LaneAnswer& answer, const char* name) {
    try {
      return answer.message.at(name).template get<T>();
    } catch (const std::exception& error) {
      set_aside(*use.slot, use.worker, std::string("it sent a result that cannot be read: ") + error.what(),
                LaneEnd::Kind::garbage);
      return std::nullopt;
    }
  }

  std::optional<Evaluation> judge_on(const Use& use, const Candidate& candidate,
                                     const EvaluationContext& context) {
    const auto answer = ask(
        use,
        [&](bool all) {
          return json{{"type", "evaluate"},
                      {"candidate", use.lane->candidate(candidate, texts, all)},
                      {"context", remote::context_json(context)}};
        },
        nullptr, true, context.stop);
    if (!answer) return std::nullopt;
    return part<Evaluation>(use, *answer, "evaluation");
  }

  /// Renews a worker that was not since `renew` was called last; false where it is lost.
  bool renewed(const Use& use, const std::stop_token& stop) {
    {
      const std::lock_guard lock(mutex);
      if (use.slot->renewed == renewals) return true;
    }
    const auto answer = ask(
        use,
        [](bool) {
          return json{{"type", "renew"}};
        },
        nullptr, true, stop);
    const std::lock_guard lock(mutex);
    if (answer && use.slot->worker == use.worker) use.slot->renewed = renewals;
    return answer.has_value();
  }

  /// Whether the worker judges the default configuration as the first one did: only then its times and
  /// verdicts can stand beside the others'. Otherwise it is set aside, or lost.
  bool same_as_first(const Use& use, const std::stop_token& stop) {
    EvaluationContext context;
    context.stop = stop;
    const Candidate standard = problem.default_candidate();
    double best = std::numeric_limits<double>::infinity();
    for (unsigned i = 0; i < std::max(1U, options.calibrations); ++i) {
      const auto evaluation = judge_on(use, standard, context);
      if (!evaluation || stop.stop_requested()) return false;
      const bool ok = evaluation->verdict == Verdict::ok;
      if (ok) best = std::min(best, evaluation->measurement.seconds);
      std::unique_lock lock(mutex);
      if (calibration && ok && !calibration->ok) {
        // What is right somewhere is right: the first lane was the one that is broken.
        Slot& wrong = *slots[calibration->lane];
        const std::uint64_t its_worker = wrong.worker;
        calibration.reset();
        lock.unlock();
        set_aside(wrong, its_worker,
                  "it fails on the default configuration, which is right on " + name_of(*use.slot));
        lock.lock();
      }
      if (!calibration) calibration = Calibration{ok, best, use.slot->index};
      const Calibration known = *calibration;
      if (ok && known.ok && known.lane == use.slot->index)
        calibration->seconds = std::min(known.seconds, best);
      const bool close = options.tolerance <= 0 || !ok || known.lane == use.slot->index ||
                         std::abs(best - known.seconds) <= options.tolerance * known.seconds;
      if (ok == known.ok && close) {
        use.slot->calibrated = true;
        return true;
      }
      if (i + 1 < options.calibrations && ok == known.ok) continue;  // a noisy moment
      lock.unlock();
      set_aside(*use.slot, use.worker,
                ok != known.ok ? "it judges the default configuration as " +
                                     std::string(to_string(evaluation->verdict)) + " (" +
                                     clean_text(evaluation->reason) + "), the first lane does not"
                               : "its time of the default configuration is " + milliseconds_text(best) +
                                     ", the first lane's " + milliseconds_text(known.seconds));
      return false;
    }
    return false;
  }

  /// Notes what a measurement took; a worker that takes several times as long as the others is set aside.
  void took(const Use& use, double seconds, bool may_be_device) {
    std::string reason;
    {
      const std::lock_guard lock(mutex);
      Slot& slot = *use.slot;
      if (slot.worker != use.worker) return;
      ++slot.measured;
      slot.failures = may_be_device ? slot.failures + 1 : 0;
      constexpr std::size_t window = 8;
      slot.seconds.push_back(seconds);
      if (slot.seconds.size() > window) slot.seconds.pop_front();
      if (options.falls_behind <= 0 || slot.seconds.size() < window) return;
      const auto median = [](std::deque<double> values) {
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                         values.end());
        return values[values.size() / 2];
      };
      std::deque<double> others;
      for (const auto& other : slots)
        if (other.get() != &slot && other->seconds.size() >= window) others.push_back(median(other->seconds));
      if (others.empty()) return;
      const double mine = median(slot.seconds), theirs = median(others);
      if (mine <= options.falls_behind * theirs || mine < 0.05) return;
      reason = "it falls behind: " + milliseconds_text(mine) + " a measurement, the others " +
               milliseconds_text(theirs);
    }
    set_aside(*use.slot, use.worker, reason);
  }

  /// Whether one more failure calls for a look at the device: the first after a success, and ever rarer ones.
  bool is_suspicious(const Slot& slot) {
    const std::lock_guard lock(mutex);
    return is_power_of_two(slot.failures + 1);
  }

  Problem problem;
  RemoteOptions options;
  remote::ProblemContent content;
  KernelTexts texts;
  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::vector<std::unique_ptr<Slot>> slots;
  std::size_t measurers = 0;
  std::uint64_t workers = 0, renewals = 0;
  std::optional<LaneFacts> first;  ///< of the first worker that was ready to measure
  std::string wanted_device, wanted_toolchain;
  struct Calibration {
    bool ok = false;
    double seconds = 0;
    std::size_t lane = 0;
  };
  std::optional<Calibration> calibration;
  std::optional<std::size_t> home;  ///< the slot that finalists are measured on
};

RemoteEvaluator::RemoteEvaluator(Problem problem, RemoteOptions options)
    : impl_(std::make_shared<Impl>(std::move(problem), std::move(options))) {}

Staged<RemoteArtifact> RemoteEvaluator::build(const Candidate& candidate, const EvaluationContext& context) {
  Impl& lanes = *impl_;
  std::size_t losses = 0;
  while (true) {
    if (context.stop.stop_requested())
      return {Evaluation::failed(Verdict::rejected, "stopped before it was built"), std::nullopt};
    Impl::Use use;
    {
      std::unique_lock lock(lanes.mutex);
      if (!lanes.any_hope()) lanes.raise_none_left();
      // The one with most room, and those that only build before those that measure.
      double least = std::numeric_limits<double>::infinity();
      for (const auto& slot : lanes.slots) {
        if (slot->state != Impl::State::ready || slot->lane == nullptr) continue;
        const double load = static_cast<double>(slot->building) / static_cast<double>(slot->facts.jobs) +
                            (slot->builds_only ? 0 : 0.5);
        if (load >= least) continue;
        least = load;
        use = {slot.get(), slot->lane, slot->worker, true};
      }
      if (use.slot == nullptr) {
        lanes.changed.wait_for(lock, context.stop, std::chrono::seconds(1), [] { return false; });
        continue;
      }
      ++use.slot->building;
    }
    const auto done = [&](bool answered) {
      const std::lock_guard lock(lanes.mutex);
      if (use.slot->worker != use.worker) return;
      use.slot->building -= use.slot->building > 0 ? 1 : 0;
      if (answered) ++use.slot->built, use.slot->worked = true, use.slot->vain = 0;
    };
    std::optional<LaneAnswer> answer;
    try {
      answer = lanes.ask(
          use,
          [&](bool all) {
            return json{{"type", "build"},
                        {"candidate", use.lane->candidate(candidate, lanes.texts, all)},
                        {"context", remote::context_json(context)}};
          },
          nullptr, true, context.stop);
    } catch (...) {
      done(false);
      throw;
    }
    done(answer.has_value());
    if (answer) {
      auto evaluation = lanes.part<Evaluation>(use, *answer, "evaluation");
      if (!evaluation) continue;
      Staged<RemoteArtifact> staged{*std::move(evaluation), std::nullopt};
      if (!answer->message.value("built", false)) return staged;
      RemoteArtifact artifact{candidate, "", nullptr, use.worker};
      if (answer->message.contains("artifact")) {
        const auto digest = lanes.part<std::string>(use, *answer, "artifact");
        auto functions = lanes.part<std::vector<std::string>>(use, *answer, "functions");
        const auto library = lanes.part<bool>(use, *answer, "library");
        if (!digest || !functions || !library) continue;
        if (sha256(answer->payload) != *digest) {
          lanes.set_aside(*use.slot, use.worker,
                          "built code was damaged on its way: it is not what its digest says",
                          LaneEnd::Kind::garbage);
          continue;
        }
        artifact.digest = *digest;
        artifact.portable = std::make_shared<const PortableArtifact>(
            PortableArtifact{std::move(answer->payload), *std::move(functions), *library});
      }
      staged.artifact = std::move(artifact);
      return staged;
    }
    if (++losses >= lanes.options.most_losses)
      return {Evaluation::failed(Verdict::build_failed,
                                 std::to_string(losses) + " workers were lost while they built it"),
              std::nullopt};
  }
}

Evaluation RemoteEvaluator::run(Staged<RemoteArtifact>&& staged, const EvaluationContext& context) {
  Impl& lanes = *impl_;
  const RemoteArtifact& artifact = *staged.artifact;
  std::size_t losses = 0;
  while (true) {
    const auto place = context.trial == TrialId{} ? Impl::Place::home : Impl::Place::any;
    const Impl::Use use = lanes.take(artifact.worker, place, context.stop);
    if (use.slot == nullptr) return Evaluation::failed(Verdict::rejected, "stopped before it was measured");
    std::optional<Evaluation> evaluation;
    double seconds = 0;
    try {
      if (use.calibrated || lanes.same_as_first(use, context.stop)) {
        const double begun = detail::monotonic_seconds();
        if (!artifact.portable) {
          evaluation = lanes.judge_on(use, artifact.candidate, context);
        } else {
          const auto answer = lanes.ask(
              use,
              [&](bool all) {
                return json{{"type", "run"},
                            {"candidate", use.lane->candidate(artifact.candidate, lanes.texts, all)},
                            {"context", remote::context_json(context)},
                            {"evaluation", staged.evaluation},
                            {"artifact", artifact.digest},
                            {"functions", artifact.portable->functions},
                            {"library", artifact.portable->library}};
              },
              &artifact.portable->code, use.worker == artifact.worker, context.stop);
          if (answer) evaluation = lanes.part<Evaluation>(use, *answer, "evaluation");
        }
        seconds = detail::monotonic_seconds() - begun;
        if (evaluation && may_be_the_device(evaluation->verdict) && !context.stop.stop_requested() &&
            lanes.measurers > 1 && lanes.is_suspicious(*use.slot) && !lanes.same_as_first(use, context.stop))
          evaluation.reset();  // by a device that fails on what is right elsewhere
      }
    } catch (...) {
      lanes.give_back(use, true);
      throw;
    }
    if (evaluation) {
      lanes.took(use, seconds, may_be_the_device(evaluation->verdict));
      {
        const std::lock_guard lock(lanes.mutex);
        evaluation->provenance += "; " + lanes.name_of(*use.slot) + " on " + use.slot->facts.host;
      }
      lanes.give_back(use, true);
      return *std::move(evaluation);
    }
    lanes.give_back(use, false);
    if (context.stop.stop_requested())
      return Evaluation::failed(Verdict::rejected, "stopped while it was measured");
    if (++losses >= lanes.options.most_losses)
      return Evaluation::failed(Verdict::crashed,
                                std::to_string(losses) + " workers were lost while they measured it");
  }
}

Evaluation RemoteEvaluator::evaluate(const Candidate& candidate, const EvaluationContext& context) {
  return evaluate_in_stages(*this, candidate, context);
}

std::optional<Speedup> RemoteEvaluator::compare(const Candidate& candidate, const Candidate& champion,
                                                const PairOptions& pairs) {
  Impl& lanes = *impl_;
  for (std::size_t losses = 0; losses < lanes.options.most_losses;) {
    const Impl::Use use = lanes.take(0, Impl::Place::home_first, pairs.stop);
    if (use.slot == nullptr) return Speedup{};
    std::optional<std::optional<Speedup>> speedup;
    try {
      std::optional<LaneAnswer> answer;
      if ((use.calibrated || lanes.same_as_first(use, pairs.stop)) && lanes.renewed(use, pairs.stop))
        answer = lanes.ask(
            use,
            [&](bool all) {
              return json{{"type", "compare"},
                          {"candidate", use.lane->candidate(candidate, lanes.texts, all)},
                          {"champion", use.lane->candidate(champion, lanes.texts, all)},
                          {"pairs", remote::pairs_json(pairs)}};
            },
            nullptr, true, pairs.stop);
      if (answer) {
        speedup.emplace();
        if (answer->message.contains("speedup")) {
          *speedup = lanes.part<Speedup>(use, *answer, "speedup");
          if (!*speedup) speedup.reset();
        }
      }
    } catch (...) {
      lanes.give_back(use, true);
      throw;
    }
    lanes.give_back(use, speedup.has_value());
    if (speedup) return *speedup;
    ++losses;
  }
  detail::raise<ConfigError>("workers were lost while they compared candidates",
                             std::to_string(lanes.options.most_losses), "compare candidates that are ok");
}

void RemoteEvaluator::renew() {
  Impl& lanes = *impl_;
  {
    const std::lock_guard lock(lanes.mutex);
    ++lanes.renewals;
    if (!lanes.home || lanes.slots[*lanes.home]->state != Impl::State::ready) lanes.home = lanes.ready_slot();
  }
  for (std::size_t losses = 0; losses < lanes.options.most_losses; ++losses) {
    const Impl::Use use = lanes.take(0, Impl::Place::home, lanes.options.stop);
    if (use.slot == nullptr) return;
    bool done = false;
    try {
      done = lanes.renewed(use, lanes.options.stop);
    } catch (...) {
      lanes.give_back(use, true);
      throw;
    }
    lanes.give_back(use, done);
    if (done) return;
  }
}

std::size_t RemoteEvaluator::lanes() const noexcept {
  return impl_->measurers;
}
std::size_t RemoteEvaluator::build_places() const {
  const std::lock_guard lock(impl_->mutex);
  std::size_t places = 0;
  for (const auto& slot : impl_->slots)
    places += slot->state == Impl::State::ready ? slot->facts.jobs : impl_->first ? impl_->first->jobs : 1;
  return places;
}
const Problem& RemoteEvaluator::problem() const noexcept {
  return impl_->problem;
}
std::string RemoteEvaluator::device_id() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->first->device_id;
}
std::string RemoteEvaluator::device_name() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->first->device_name;
}
std::string RemoteEvaluator::toolchain_id() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->first->toolchain_id;
}
std::string RemoteEvaluator::sandbox() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->first->sandbox;
}

std::vector<LaneReport> RemoteEvaluator::reports() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<LaneReport> reports;
  for (const auto& slot : impl_->slots)
    reports.push_back({named(slot->index, impl_->options.lanes[slot->index].name), slot->facts.host,
                       slot->state == Impl::State::ready   ? "ready"
                       : slot->state == Impl::State::aside ? "set aside"
                                                           : "starting",
                       slot->reason, slot->measured, slot->built, slot->lost});
  return reports;
}

std::string lane_remarks(const std::vector<LaneReport>& reports) {
  std::string text;
  for (const LaneReport& one : reports) {
    if (one.state != "set aside" && one.lost == 0) continue;
    text += (text.empty() ? "" : "; ") + one.name;
    if (one.state == "set aside")
      text += " was set aside: " + one.reason;
    else
      text +=
          " lost " + std::to_string(one.lost) + (one.lost == 1 ? " worker" : " workers") + ": " + one.reason;
  }
  return text;
}

}  // namespace kernelsearch
