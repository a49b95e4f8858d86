// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kernelsearch/core/impl/steady_seconds.hpp"
#include "kernelsearch/run/run_observer.hpp"
#include "kernelsearch/store/run_span.hpp"
#include "time_account.hpp"

namespace kernelsearch::detail {

/// Tells people something; called from any thread.
using MessageTeller = std::function<void(const std::string&)>;

/// Where messages and what the run is doing go: to the watcher of the call that is under way. They come from
/// any thread.
class MessageSink {
 public:
  void tell(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (observer_ != nullptr) observer_->on_message(text);
  }

  /// What this thread waits for; empty: nothing any more.
  void waits(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (text.empty())
      waiting_.erase(std::this_thread::get_id());
    else
      waiting_[std::this_thread::get_id()] = text;
    activity_.waiting = waiting_.empty() ? std::string() : waiting_.begin()->second;
    show();
  }

  /// What the run does at the moment.
  [[nodiscard]] RunActivity activity() const {
    const std::lock_guard lock(mutex_);
    return activity_;
  }
  /// The call was paused for that long until now.
  void paused(double seconds) {
    const std::lock_guard lock(mutex_);
    if (activity_.paused == seconds) return;
    activity_.paused = seconds;
    show();
  }

  /// The run is comparing its finalists, or no longer.
  void finalists(bool on) {
    const double now = steady_seconds();
    const std::lock_guard lock(mutex_);
    account_.finalists(on);
    if (on)
      finalists_since_ = now;
    else if (finalists_since_)
      spans_.push_back({"finalists", {}, {}, *std::exchange(finalists_since_, std::nullopt), now});
  }
  /// A candidate was judged.
  void judged(const PhaseSeconds& phases) {
    const std::lock_guard lock(mutex_);
    account_.judged(phases);
  }
  /// Something was done, by the steady clock; what took less than 0.1 ms is not worth a bar.
  void did(RunSpan span) {
    constexpr double worth_a_bar = 1e-4;
    if (span.ended - span.began < worth_a_bar) return;
    const std::lock_guard lock(mutex_);
    spans_.push_back(std::move(span));
  }
  /// What was done since this was asked last.
  [[nodiscard]] std::vector<RunSpan> done() {
    const std::lock_guard lock(mutex_);
    return std::exchange(spans_, {});
  }
  /// A call begins to drive the run.
  void open() {
    const std::lock_guard lock(mutex_);
    account_.open();
  }
  /// It ends; returns where the time went since the last one did.
  RunTimes close() {
    const std::lock_guard lock(mutex_);
    account_.close();
    return account_.taken();
  }

  /// Who watched before.
  RunObserver* watch(RunObserver* observer) {
    const std::lock_guard lock(mutex_);
    return std::exchange(observer_, observer);
  }

  /// One more of what `RunActivity` counts, for as long as it lives.
  class Doing {
   public:
    Doing(MessageSink& sink, std::size_t RunActivity::*what) : sink_(sink), what_(what) { add(1); }
    ~Doing() { add(static_cast<std::size_t>(-1)); }
    Doing(const Doing&) = delete;
    Doing& operator=(const Doing&) = delete;

   private:
    void add(std::size_t count) {
      const std::lock_guard lock(sink_.mutex_);
      sink_.activity_.*what_ += count;
      sink_.account_.does(sink_.activity_);
      sink_.show();
    }
    MessageSink& sink_;
    std::size_t RunActivity::*what_;
  };

 private:
  void show() {
    if (observer_ != nullptr) observer_->on_activity(activity_);
  }

  mutable std::mutex mutex_;
  RunObserver* observer_ = nullptr;
  RunActivity activity_;
  TimeAccount account_;
  std::map<std::thread::id, std::string> waiting_;
  std::vector<RunSpan> spans_;
  std::optional<double> finalists_since_;
};

/// Sends messages to this observer for as long as it lives.
class Listening {
 public:
  Listening(MessageSink& sink, RunObserver* observer) : sink_(sink), before_(sink.watch(observer)) {}
  ~Listening() { sink_.watch(before_); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  MessageSink& sink_;
  RunObserver* before_;
};

}  // namespace kernelsearch::detail
