// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/pairing_evaluator.hpp"

namespace kernelsearch {

/// Several equal devices, one evaluator each: any may build, a free one measures. Of one type only, because
/// times from different kinds of device cannot be compared in one search.
template <class E>
class Pool {
 public:
  explicit Pool(std::vector<E> members) : state_(std::make_unique<State>()) {
    if (members.empty())
      detail::raise<ConfigError>("a Pool needs at least one evaluator", "none", "give one for each device");
    for (E& member : members) state_->members.push_back(std::make_unique<E>(std::move(member)));
    for (auto& member : state_->members) state_->free.push_back(member.get());
  }

  template <class Candidate>
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    const Lease lease(*state_);
    return lease.member->evaluate(candidate, context);
  }

  using Artifact = ArtifactOf<E>;

  template <class Candidate>
  requires StagedEvaluator<E, Candidate> Staged<Artifact> build(const Candidate& candidate,
                                                                const EvaluationContext& context) {
    return state_->members.front()->build(candidate, context);  // building needs no device
  }

  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) requires requires {
    typename E::Artifact;
  }
  {
    const Lease lease(*state_);
    return lease.member->run(std::move(staged), context);
  }

  template <class Candidate>
  requires PairingEvaluator<E, Candidate>
  [[nodiscard]] auto compare(const Candidate& candidate, const Candidate& champion,
                             const PairOptions& pairs) {
    const Lease lease(*state_);
    return lease.member->compare(candidate, champion, pairs);
  }

  /// One for each member.
  [[nodiscard]] std::size_t lanes() const { return state_->members.size(); }

 private:
  struct State {
    std::vector<std::unique_ptr<E>> members;
    std::vector<E*> free;
    std::mutex mutex;
    std::condition_variable returned;
  };
  /// Holds a member that nobody else measures on.
  struct Lease {
    explicit Lease(State& s) : state(s) {
      std::unique_lock lock(state.mutex);
      state.returned.wait(lock, [this] { return !state.free.empty(); });
      member = state.free.back();
      state.free.pop_back();
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      const std::lock_guard lock(state.mutex);
      state.free.push_back(member);
      state.returned.notify_one();
    }
    State& state;
    E* member = nullptr;
  };

  std::unique_ptr<State> state_;
};

}  // namespace kernelsearch
