// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch {

/// Any policy with this `Proposal`, chosen at run time. It awaits if the policy it holds does.
template <class P>
class AnyPolicy {
 public:
  using Proposal = P;

  // Itself is excluded first: whether AnyPolicy is a SearchPolicy asks whether it can be moved, which asks
  // whether AnyPolicy is a SearchPolicy.
  template <class Policy>
  requires(!std::same_as<Policy, AnyPolicy>) &&
      SearchPolicy<Policy>&& std::same_as<typename Policy::Proposal, Proposal> AnyPolicy(
          Policy policy)  // NOLINT(google-explicit-constructor): as std::function, made of what it wraps
      : model_(std::make_unique<Model<Policy>>(std::move(policy))) {}

  std::vector<Proposal> ask(std::size_t n) { return model_->ask(n); }
  void tell(std::span<const Observation<Proposal>> batch) { model_->tell(batch); }
  bool await() { return model_->await(); }

  /// What the policy learned from earlier runs; empty where it learns from none.
  [[nodiscard]] std::vector<LearnedFrom> learned() const { return model_->learned(); }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual std::vector<Proposal> ask(std::size_t n) = 0;
    virtual void tell(std::span<const Observation<Proposal>> batch) = 0;
    virtual bool await() = 0;
    [[nodiscard]] virtual std::vector<LearnedFrom> learned() const = 0;
  };
  template <class Policy>
  struct Model final : Interface {
    explicit Model(Policy p) : policy(std::move(p)) {}
    std::vector<Proposal> ask(std::size_t n) override { return policy.ask(n); }
    void tell(std::span<const Observation<Proposal>> batch) override { policy.tell(batch); }
    bool await() override {
      if constexpr (AwaitingPolicy<Policy>)
        return policy.await();
      else
        return false;
    }
    [[nodiscard]] std::vector<LearnedFrom> learned() const override {
      if constexpr (requires { policy.learned(); })
        return policy.learned();
      else
        return {};
    }
    Policy policy;
  };

  std::unique_ptr<Interface> model_;
};

}  // namespace kernelsearch
