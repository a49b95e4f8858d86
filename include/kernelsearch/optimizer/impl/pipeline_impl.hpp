// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <variant>

#include "kernelsearch/core/bounded_queue.hpp"
#include "kernelsearch/optimizer/impl/notify_impl.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"

namespace kernelsearch::detail {

/// One run with several proposals in flight. Generation, building and measuring have threads of their own,
/// joined by bounded queues; the calling thread alone touches policy, log and observers, and decides the
/// order in which outcomes are told.
template <class Optimizer, class Rule, class... Observers>
class Pipeline {
  using Candidate = typename Optimizer::Candidate;
  using Eval = std::remove_cvref_t<decltype(std::declval<Optimizer&>().evaluator())>;
  using Ticket = typename Optimizer::Ticket;
  static constexpr bool staged = StagedEvaluator<Eval, Candidate>;

 public:
  Pipeline(Optimizer& optimizer, const Rule& rule, Observers&... observers)
      : optimizer_(optimizer),
        rule_(rule),
        observers_(observers...),
        // Room for every job of the proposals in flight would let artifacts pile up; this keeps lanes fed.
        to_generate_(optimizer.options_.in_flight),
        to_measure_(lanes() + optimizer.options_.build_threads) {}
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() {
    stop_.request_stop();
    close();
  }

  void run() {
    const std::stop_callback forward(optimizer_.options_.stop, [this] {
      stop_.request_stop();
      post(Event{});  // wakes the loop
    });
    start_threads();
    refill();
    while (!slots_.empty()) {
      handle(next_event());
      advance();
    }
    close();
    if (failure_.error) failure_.rethrow();
  }

 private:
  /// Everything the loop knows of one outstanding proposal.
  struct Slot {
    Ticket ticket;
    std::optional<Generation<Candidate>> generation;
    bool admitted = false;
    std::vector<TrialId> ids;
    std::map<std::uint64_t, std::optional<Evaluation>> results;  ///< by trial; empty: abandoned
  };
  struct Generated {
    std::uint64_t proposal;
    Generation<Candidate> generation;
  };
  struct Evaluated {
    std::uint64_t proposal;
    TrialId id;
    std::optional<Evaluation> evaluation;  ///< empty when it was given up
  };
  struct Inner {
    TrialId parent;
    InnerTrial trial;
  };
  struct Event {
    std::variant<std::monostate, Generated, Evaluated, Inner> what;
  };
  struct Work {
    std::uint64_t proposal = 0;
    TrialId id{};
    Candidate candidate;
    EvaluationContext context;
  };
  struct NoArtifact {};
  template <bool Staged, class E>
  struct StagedOf {
    using type = NoArtifact;
  };
  template <class E>
  struct StagedOf<true, E> {
    using type = kernelsearch::Staged<typename E::Artifact>;
  };
  struct Built {
    Work work;
    typename StagedOf<staged, Eval>::type staged_artifact;
  };
  struct Failure {
#if KERNELSEARCH_EXCEPTIONS
    std::exception_ptr error;
    void rethrow() const {
      std::rethrow_exception(error);
    }
#else
    bool error = false;
    void rethrow() const {}
#endif
  };

  [[nodiscard]] std::size_t lanes() {
    if constexpr (requires { optimizer_.evaluator_.lanes(); })
      return std::max<std::size_t>(1, static_cast<std::size_t>(optimizer_.evaluator_.lanes()));
    else
      return 1;
  }

  // --- threads -------------------------------------------------------------------------------------------

  /// Runs `action`; an exception stops the run and is thrown again by the loop once everything has come home.
  template <class Action>
  bool guarded(Action action) {
#if KERNELSEARCH_EXCEPTIONS
    try {
      action();
      return true;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_.error) failure_.error = std::current_exception();
      stop_.request_stop();
      return false;
    }
#else
    action();
    return true;
#endif
  }

  void start_threads() {
    for (std::size_t i = 0; i < optimizer_.options_.generate_threads; ++i)
      threads_.emplace_back([this] { generate_loop(); });
    if constexpr (staged)
      for (std::size_t i = 0; i < optimizer_.options_.build_threads; ++i)
        threads_.emplace_back([this] { build_loop(); });
    for (std::size_t i = 0; i < lanes(); ++i) threads_.emplace_back([this] { measure_loop(); });
  }

  void close() {
    to_generate_.close();
    to_build_.close();
    to_measure_.close();
    threads_.clear();  // joins
  }

  void generate_loop() {
    while (std::optional<Ticket> ticket = to_generate_.pop()) {
      Generated done{number(ticket->id), Generation<Candidate>::none("given up: the run was stopped")};
      if (!stop_.stop_requested()) guarded([&] { done.generation = optimizer_.generate(*ticket); });
      post(Event{std::move(done)});
    }
  }

  void build_loop() {
    if constexpr (staged) {
      while (std::optional<Work> work = to_build_.pop()) {
        if (stop_.stop_requested()) {
          post(Event{Evaluated{work->proposal, work->id, std::nullopt}});
          continue;
        }
        Built built{std::move(*work), {}};
        const auto proposal = built.work.proposal;
        const auto id = built.work.id;
        const bool fine = guarded([&] {
          built.staged_artifact = optimizer_.evaluator_.build(built.work.candidate, built.work.context);
        });
        if (!fine)
          post(Event{Evaluated{proposal, id, std::nullopt}});
        else if (!built.staged_artifact.artifact)
          post(Event{Evaluated{proposal, id, kept(std::move(built.staged_artifact.evaluation))}});
        else
          to_measure_.push(std::move(built));
      }
    }
  }

  void measure_loop() {
    if constexpr (staged) {
      while (std::optional<Built> built = to_measure_.pop())
        judge(built->work, [&] {
          return optimizer_.evaluator_.run(std::move(built->staged_artifact), built->work.context);
        });
    } else {
      while (std::optional<Work> work = to_build_.pop())
        judge(*work, [&] { return optimizer_.evaluate(work->candidate, work->context); });
    }
  }

  template <class Run>
  void judge(const Work& work, Run run) {
    std::optional<Evaluation> evaluation;
    if (!stop_.stop_requested()) guarded([&] { evaluation = kept(run()); });
    post(Event{Evaluated{work.proposal, work.id, std::move(evaluation)}});
  }

  /// What was cut short by a stop is no verdict on the candidate.
  [[nodiscard]] std::optional<Evaluation> kept(Evaluation evaluation) {
    if (stop_.stop_requested() && evaluation.verdict != Verdict::ok) return std::nullopt;
    return evaluation;
  }

  // --- the loop ------------------------------------------------------------------------------------------

  void post(Event event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    arrived_.notify_one();
  }

  [[nodiscard]] Event next_event() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !events_.empty(); });
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  void handle(Event event) {
    if (auto* generated = std::get_if<Generated>(&event.what))
      slots_.at(generated->proposal).generation = std::move(generated->generation);
    else if (auto* evaluated = std::get_if<Evaluated>(&event.what))
      slots_.at(evaluated->proposal).results[number(evaluated->id)] = std::move(evaluated->evaluation);
    else if (auto* inner = std::get_if<Inner>(&event.what))
      each([&](auto& observer) { notify_inner(observer, inner->parent, inner->trial); });
  }

  /// Admits and tells what can be: strictly in the order of proposals, or as things come.
  void advance() {
    const bool ordered = optimizer_.options_.order == TellOrder::proposal;
    for (auto& [proposal, slot] : slots_) {
      if (slot.admitted) continue;
      if (slot.generation)
        admit(proposal, slot);
      else if (ordered)
        break;  // later proposals must not take the numbers and the budget of earlier ones
    }
    for (auto at = slots_.begin(); at != slots_.end();) {
      Slot& slot = at->second;
      if (!ordered) tell_ready(slot);
      if (!slot.admitted || slot.results.size() < slot.ids.size()) {
        if (ordered) break;
        ++at;
        continue;
      }
      tell_ready(slot);
      at = slots_.erase(at);
      if (ordered) {
        refill();
        at = slots_.begin();
      }
    }
    if (!ordered) refill();
  }

  void admit(std::uint64_t proposal, Slot& slot) {
    slot.admitted = true;
    if (stop_.stop_requested()) return;  // what was not begun stays outstanding for a resumed run
    slot.ids = with_observers([&](auto&... observers) {
      return optimizer_.admit(slot.ticket, std::move(*slot.generation), observers...);
    });
    for (const TrialId id : slot.ids) {
      const auto& pending = optimizer_.pending_.at(number(id));
      if (!pending.candidate) {
        slot.results[number(id)] = Evaluation{};  // complete() makes it not_generated
        continue;
      }
      Work work{proposal, id, *pending.candidate,
                optimizer_.context_for(id, *pending.proposal, slot.ticket.incumbent)};
      work.context.stop = stop_.get_token();
      work.context.on_inner = [this, id](const InnerTrial& inner) { post(Event{Inner{id, inner}}); };
      to_build_.push(std::move(work));
    }
  }

  void tell_ready(Slot& slot) {
    for (const TrialId id : slot.ids) {
      const auto found = slot.results.find(number(id));
      if (found == slot.results.end() || !optimizer_.pending_.contains(number(id))) continue;
      if (!found->second) {
        optimizer_.pending_.erase(number(id));
        continue;
      }
      with_observers([&](auto&... observers) {
        optimizer_.complete(id, std::move(*found->second), observers...);
        return 0;
      });
      if (!ended_ && rule_.reached(optimizer_.progress())) {
        ended_ = true;
        optimizer_.reason_ = rule_.describe();
      }
    }
  }

  /// Asks until enough is in flight or the policy has nothing now.
  void refill() {
    while (!ended_ && !stop_.stop_requested() && optimizer_.may_ask() &&
           slots_.size() < optimizer_.options_.in_flight) {
      const std::size_t wanted = optimizer_.options_.in_flight - slots_.size();
      auto tickets =
          with_observers([&](auto&... observers) { return optimizer_.propose(wanted, observers...); });
      if (tickets.empty()) {
        if (!slots_.empty()) return;
        if constexpr (AwaitingPolicy<std::remove_cvref_t<decltype(optimizer_.policy())>>)
          if (optimizer_.policy_.await()) continue;
        optimizer_.done_ = true;
        optimizer_.reason_ = "the policy has nothing more to propose";
        return;
      }
      const bool all = tickets.size() == wanted;
      for (Ticket& ticket : tickets) {
        const std::uint64_t id = number(ticket.id);
        slots_[id].ticket = ticket;
        to_generate_.push(std::move(ticket));
      }
      if (!all) return;
    }
    if (slots_.empty() && !ended_) {
      ended_ = true;
      optimizer_.done_ = !failure_flag();
      optimizer_.reason_ = optimizer_.options_.stop.stop_requested() ? "stopped from outside"
                           : failure_flag()                          ? "a part of the run failed"
                                                                     : "the trial budget is spent";
    }
  }

  [[nodiscard]] bool failure_flag() {
    const std::lock_guard lock(mutex_);
    return static_cast<bool>(failure_.error);
  }

  template <class F>
  auto with_observers(F f) {
    return std::apply([&](Observers&... observers) { return f(observers...); }, observers_);
  }
  template <class F>
  void each(F f) {
    std::apply([&](Observers&... observers) { (f(observers), ...); }, observers_);
  }

  Optimizer& optimizer_;
  const Rule& rule_;
  std::tuple<Observers&...> observers_;
  std::stop_source stop_;
  std::map<std::uint64_t, Slot> slots_;  ///< by proposal, so in the order of proposals
  bool ended_ = false;
  BoundedQueue<Ticket> to_generate_;
  // Unbounded on purpose: the loop must never block on it, and proposals in flight bound what it holds.
  BoundedQueue<Work> to_build_{static_cast<std::size_t>(-1)};
  BoundedQueue<Built> to_measure_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Event> events_;
  Failure failure_;
  std::vector<std::jthread> threads_;
};

}  // namespace kernelsearch::detail
