// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kernelsearch/remote/remote_evaluator.hpp"
#include "remote/lane.hpp"
#include "remote/lane_content.hpp"

namespace kernelsearch::remote {

/// The lanes of a RemoteEvaluator: workers that come and go (lane_keeper.cpp), who gets which
/// (lane_choice.cpp), what is asked of one (lane_requests.cpp), and which are like the first
/// (lane_calibration.cpp).
struct RemoteLanes {
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
    bool builds = false;  ///< one of the several builds that a worker does at the same time
  };

  /// Starts all and waits for the first that measures.
  RemoteLanes(Problem given, RemoteOptions chosen);
  RemoteLanes(const RemoteLanes&) = delete;
  RemoteLanes& operator=(const RemoteLanes&) = delete;
  ~RemoteLanes() { end_all(); }

  void end_all();
  void say(const std::string& text) const {
    if (options.say) options.say(text);
  }
  [[nodiscard]] std::string name_of(const Slot& slot) const;

  // --- workers that come and go: lane_keeper.cpp ----------------------------------------------------------

  /// Starts the worker of a slot, again where it is lost, until it is set aside or all is over.
  void keep(Slot& slot, const std::stop_token& stop);
  /// Why a worker does not fit; empty: it does, and may be used.
  [[nodiscard]] std::string welcome(Slot& slot, const LaneFacts& facts);
  /// Notes the end of a worker; whether another one is to be started.
  [[nodiscard]] bool lost(Slot& slot, const LaneEnd& end);
  /// For good, by what it did.
  void set_aside(Slot& slot, std::uint64_t worker, const std::string& reason,
                 LaneEnd::Kind kind = LaneEnd::Kind::refused);

  // --- who gets which: lane_choice.cpp --------------------------------------------------------------------

  /// Where something is measured: wherever a worker is free, where finalists are measured, or there if it is
  /// free and elsewhere if not.
  enum class Place { any, home, home_first };

  /// Whether a worker that measures is there, or may come. With the mutex.
  [[nodiscard]] bool any_hope() const;
  [[nodiscard]] std::string reasons_of_all() const;
  [[noreturn]] void raise_none_left() const;
  /// Holds a worker that nobody else measures on; of `any` the one that built it where that is free.
  /// DeviceError where none is left; null where stopped.
  [[nodiscard]] Use take(std::uint64_t builder, Place place, const std::stop_token& stop);
  /// A place to build on: on the worker with the most room, and rather on one that only builds than on one
  /// that measures. Errors as of take().
  [[nodiscard]] Use take_builder(const std::stop_token& stop);
  [[nodiscard]] static bool usable(const Slot& slot);
  [[nodiscard]] std::optional<std::size_t> ready_slot() const;
  /// Gives a worker back after an answer, or without one.
  void give_back(const Use& use, bool answered);
  /// Does that at its end, whichever way that is reached.
  struct Lease {
    RemoteLanes& lanes;
    const Use& use;
    bool answered;
    ~Lease() { lanes.give_back(use, answered); }
  };

  // --- what is asked of one: lane_requests.cpp ------------------------------------------------------------

  /// Whether the worker still answers, `settle_seconds` after what it has said.
  [[nodiscard]] bool outlives(const Use& use, const std::stop_token& stop);
  /// Asks a worker, once more with `make(true)` where it lacks what it was taken to have. Nothing where it is
  /// lost.
  [[nodiscard]] std::optional<LaneAnswer> ask(const Use& use, const std::function<nlohmann::json(bool)>& make,
                                              const std::string* code, bool has_code,
                                              const std::stop_token& stop);
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
  [[nodiscard]] std::optional<Evaluation> judge_on(const Use& use, const Candidate& candidate,
                                                   const EvaluationContext& context);
  /// Renews a worker that was not since `renew` was called last; false where it is lost.
  [[nodiscard]] bool renewed(const Use& use, const std::stop_token& stop);

  // --- which are like the first: lane_calibration.cpp -----------------------------------------------------

  /// Whether the worker judges the default configuration as the first one did: only then its times and
  /// verdicts can stand next to the others'. Otherwise it is set aside, or lost.
  [[nodiscard]] bool same_as_first(const Use& use, const std::stop_token& stop);
  /// Notes what a measurement took; a worker that takes several times as long as the others is set aside.
  void took(const Use& use, double seconds, bool may_be_device);
  /// Whether one more failure calls for a look at the device: the first after a success, and ever rarer ones.
  [[nodiscard]] bool is_suspicious(const Slot& slot);

  Problem problem;
  RemoteOptions options;
  ProblemContent content;
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

}  // namespace kernelsearch::remote
