// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <variant>

#include "kernelsearch/core/bounded_queue.hpp"
#include "kernelsearch/optimizer/impl/loop.hpp"

namespace kernelsearch::detail {

/// One run with several proposals in flight. Generation, building and measuring have threads of their own,
/// joined by bounded queues; the calling thread alone touches policy, log and observers, and decides the
/// order in which outcomes are told.
template <class Candidate, class Proposal>
class Pipeline {
  using LoopType = Loop<Candidate, Proposal>;
  using Parts = typename LoopType::Parts;
  using Watching = typename LoopType::Watching;
  using Ticket = typename LoopType::Ticket;

 public:
  Pipeline(LoopType& loop, Parts& parts, const AnyRule& rule, Watching& observers)
      : loop_(loop),
        parts_(parts),
        rule_(rule),
        observers_(observers),
        lanes_(parts.lanes()),
        // Room for every job of the proposals in flight would let artifacts pile up; this keeps lanes fed.
        to_generate_(loop.options_.in_flight),
        to_measure_(lanes_ + loop.options_.build_threads) {}
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() {
    stop_.request_stop();
    close();
  }

  void run() {
    const std::stop_callback forward(loop_.options_.stop, [this] {
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
  struct Built {
    Work work;
    std::unique_ptr<BuiltArtifact> artifact;
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
    for (std::size_t i = 0; i < loop_.options_.generate_threads; ++i)
      threads_.emplace_back([this] { generate_loop(); });
    if (parts_.staged)
      for (std::size_t i = 0; i < loop_.options_.build_threads; ++i)
        threads_.emplace_back([this] { build_loop(); });
    for (std::size_t i = 0; i < lanes_; ++i) threads_.emplace_back([this] { measure_loop(); });
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
      if (!stop_.stop_requested()) guarded([&] { done.generation = loop_.generate(parts_, *ticket); });
      post(Event{std::move(done)});
    }
  }

  void build_loop() {
    while (std::optional<Work> work = to_build_.pop()) {
      if (stop_.stop_requested()) {
        post(Event{Evaluated{work->proposal, work->id, std::nullopt}});
        continue;
      }
      Built built{std::move(*work), nullptr};
      const auto proposal = built.work.proposal;
      const auto id = built.work.id;
      Evaluation ended;
      const bool fine =
          guarded([&] { built.artifact = parts_.build(built.work.candidate, built.work.context, ended); });
      if (!fine)
        post(Event{Evaluated{proposal, id, std::nullopt}});
      else if (!built.artifact)
        post(Event{Evaluated{proposal, id, kept(std::move(ended))}});
      else
        to_measure_.push(std::move(built));
    }
  }

  void measure_loop() {
    if (parts_.staged) {
      while (std::optional<Built> built = to_measure_.pop())
        judge(built->work, [&] { return parts_.run(*built->artifact, built->work.context); });
    } else {
      while (std::optional<Work> work = to_build_.pop())
        judge(*work, [&] { return parts_.evaluate(work->candidate, work->context); });
    }
  }

  template <class Run>
  void judge(const Work& work, Run run) {
    std::optional<Evaluation> evaluation;
    if (!stop_.stop_requested()) guarded([&] { evaluation = kept(run()); });
    post(Event{Evaluated{work.proposal, work.id, std::move(evaluation)}});
  }

  /// What was cut short by a stop is not a verdict on the candidate.
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
      observers_.inner(inner->parent, inner->trial);
  }

  /// Admits and tells what can be: strictly in the order of proposals, or as things come.
  void advance() {
    const bool ordered = loop_.options_.order == TellOrder::proposal;
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
    slot.ids = loop_.admit(parts_, slot.ticket, std::move(*slot.generation), observers_);
    for (const TrialId id : slot.ids) {
      const auto& pending = loop_.pending_.at(number(id));
      if (!pending.candidate) {
        slot.results[number(id)] = Evaluation{};  // tell() makes it not_generated
        continue;
      }
      Work work{proposal, id, *pending.candidate,
                loop_.context_for(id, *pending.proposal, slot.ticket.incumbent)};
      work.context.stop = stop_.get_token();
      work.context.on_inner = [this, id](const InnerTrial& inner) { post(Event{Inner{id, inner}}); };
      to_build_.push(std::move(work));
    }
  }

  void tell_ready(Slot& slot) {
    for (const TrialId id : slot.ids) {
      const auto found = slot.results.find(number(id));
      if (found == slot.results.end() || !loop_.pending_.contains(number(id))) continue;
      if (!found->second) {
        loop_.pending_.erase(number(id));
        continue;
      }
      loop_.tell(parts_, id, std::move(*found->second), observers_);
      if (!ended_ && rule_.reached(loop_.progress())) {
        ended_ = true;
        loop_.reason_ = rule_.describe();
      }
    }
  }

  /// Asks until enough is in flight or the policy has nothing now.
  void refill() {
    while (!ended_ && !stop_.stop_requested() && loop_.may_ask() &&
           slots_.size() < loop_.options_.in_flight) {
      const std::size_t wanted = loop_.options_.in_flight - slots_.size();
      auto tickets = loop_.propose(parts_, wanted, observers_);
      if (tickets.empty()) {
        if (!slots_.empty()) return;
        if (parts_.await()) continue;
        loop_.done_ = true;
        loop_.reason_ = "the policy has nothing more to propose";
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
      loop_.done_ = !failure_flag();
      loop_.reason_ = failure_flag() && !loop_.options_.stop.stop_requested() ? "a part of the run failed"
                                                                              : loop_.why_no_more();
    }
  }

  [[nodiscard]] bool failure_flag() {
    const std::lock_guard lock(mutex_);
    return static_cast<bool>(failure_.error);
  }

  LoopType& loop_;
  Parts& parts_;
  const AnyRule& rule_;
  Watching& observers_;
  std::size_t lanes_;
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
