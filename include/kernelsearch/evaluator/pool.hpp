// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/evaluator_decorator.hpp"

namespace kernelsearch {

namespace detail {
/// Equal evaluators, each used by one thread at a time.
template <class E>
class PoolMembers {
 public:
  explicit PoolMembers(std::vector<E> members) : state_(std::make_unique<State>()) {
    if (members.empty())
      raise<ConfigError>("a Pool needs at least one evaluator", "none", "give one for each device");
    for (E& member : members) state_->members.push_back(std::make_unique<E>(std::move(member)));
    for (auto& member : state_->members) state_->free.push_back(member.get());
  }

  [[nodiscard]] E& any() noexcept { return *state_->members.front(); }
  [[nodiscard]] const E& any() const noexcept { return *state_->members.front(); }
  /// Calls `function` with a member that nobody else measures on.
  template <class Function>
  decltype(auto) measuring(Function&& function) {
    const Lease lease(*state_);
    return std::forward<Function>(function)(*lease.member);
  }
  /// Calls `function` with each member, once nobody else measures on it.
  template <class Function>
  void each_measuring(Function&& function) {
    for (const auto& member : state_->members) {
      const Lease lease(*state_, member.get());
      function(*member);
    }
  }
  [[nodiscard]] const std::vector<std::unique_ptr<E>>& all() const noexcept { return state_->members; }

 private:
  struct State {
    std::vector<std::unique_ptr<E>> members;
    std::vector<E*> free;
    std::mutex mutex;
    std::condition_variable returned;
  };
  /// Holds a member, whichever is free or the one that is asked for.
  struct Lease {
    explicit Lease(State& s, E* wanted = nullptr) : state(s) {
      std::unique_lock lock(state.mutex);
      auto at = state.free.end();
      state.returned.wait(lock, [&] {
        at = wanted == nullptr && !state.free.empty()
                 ? state.free.end() - 1
                 : std::find(state.free.begin(), state.free.end(), wanted);
        return at != state.free.end();
      });
      member = *at;
      state.free.erase(at);
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      const std::lock_guard lock(state.mutex);
      state.free.push_back(member);
      state.returned.notify_all();  // some may wait for this one, some for any
    }
    State& state;
    E* member = nullptr;
  };

  std::unique_ptr<State> state_;
};
}  // namespace detail

/// Several equal devices, one evaluator each: any may build, a free one measures. For one type only, because
/// times from different kinds of device cannot be compared in one search. Its problem, device and toolchain
/// are the first member's.
template <class E>
class Pool : public EvaluatorDecorator<E, detail::PoolMembers<E>> {
 public:
  explicit Pool(std::vector<E> members)
      : EvaluatorDecorator<E, detail::PoolMembers<E>>(detail::PoolMembers<E>(std::move(members))) {}

  /// One for each member.
  [[nodiscard]] std::size_t lanes() const { return this->holder_.all().size(); }

  /// For all members together.
  [[nodiscard]] double busy_seconds() const requires requires(const E& e) { e.busy_seconds(); }
  {
    double seconds = 0;
    for (const auto& member : this->holder_.all()) seconds += member->busy_seconds();
    return seconds;
  }
  [[nodiscard]] double virtual_seconds() const requires requires(const E& e) { e.virtual_seconds(); }
  {
    double seconds = 0;
    for (const auto& member : this->holder_.all()) seconds += member->virtual_seconds();
    return seconds;
  }
  /// Renews every member, each when nobody measures on it.
  void renew() requires requires(E& e) { e.renew(); }
  {
    this->holder_.each_measuring([](E& e) { e.renew(); });
  }

  E& inner() = delete;  ///< somebody may measure on any of them
};

}  // namespace kernelsearch
