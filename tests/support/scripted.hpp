// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/policy/search_policy.hpp"

/// Parts whose behaviour is written down beforehand, so that tests of the loop know what must happen.
namespace scripted {

using namespace kernelsearch;

/// Proposes 0, 1, 2, ... up to `last`, at most `window` outstanding; remembers all it was told.
struct Counting {
  using Proposal = int;
  int last = 10;
  std::size_t window = 1000;
  int next = 0;
  std::size_t outstanding = 0;
  std::vector<Observation<int>> told{};

  std::vector<int> ask(std::size_t n) {
    std::vector<int> proposals;
    while (proposals.size() < n && next < last && outstanding < window) {
      proposals.push_back(next++);
      ++outstanding;
    }
    return proposals;
  }
  void tell(std::span<const Observation<int>> batch) {
    for (const auto& observation : batch) {
      told.push_back(observation);
      if (observation.outcome.origin && observation.outcome.origin->index == 0) --outstanding;
    }
  }
};

/// A policy that depends on everything it hears and when: a hash of it decides what comes next.
class Chaotic {
 public:
  using Proposal = int;
  explicit Chaotic(std::uint64_t seed, int count = 60) : rng_(Rng::stream(seed, "chaotic")), left_(count) {}

  std::vector<int> ask(std::size_t n) {
    std::vector<int> proposals;
    for (; proposals.size() < n && left_ > 0; --left_)
      proposals.push_back(static_cast<int>((rng_.below(1000) + mixed_) % 1000));
    return proposals;
  }
  void tell(std::span<const Observation<int>> batch) {
    for (const auto& o : batch)
      mixed_ = mixed_ * 31 + number(o.outcome.id) + static_cast<std::uint64_t>(o.proposal) +
               (o.outcome.ok() ? static_cast<std::uint64_t>(o.outcome.objective * 1000) : 7);
  }

 private:
  Rng rng_;
  int left_;
  std::uint64_t mixed_ = 0;
};

/// Makes the proposal itself the candidate; multiples of `barren` yield none, of `twins` two candidates.
struct Copying {
  using Candidate = int;
  int barren = 0;
  int twins = 0;
  std::chrono::microseconds delay{0};
  Generation<int> generate(int proposal, const History<int>&) const {
    if (delay.count() > 0) std::this_thread::sleep_for(delay * (proposal % 5));
    if (barren != 0 && proposal % barren == 0) return Generation<int>::none("barren");
    if (twins != 0 && proposal % twins == 0) return {{proposal, proposal + 10000}, {}};
    return Generation<int>::one(proposal);
  }
};

inline double landscape(int x) {
  return 1.0 + std::abs(x % 1000 - 321) / 100.0;
}

/// A known landscape with a known failure for multiples of 7, whose phases take as long as they are told to.
struct Landscape {
  struct Artifact {
    int x;
  };
  std::chrono::microseconds build_delay{0}, run_delay{0};
  std::size_t lane_count = 1;

  Evaluation evaluate(int x, const EvaluationContext& context) {
    return evaluate_in_stages(*this, x, context);
  }
  Staged<Artifact> build(int x, const EvaluationContext&) const {
    std::this_thread::sleep_for(build_delay * (x % 3));
    if (x % 7 == 0) return {Evaluation::failed(Verdict::build_failed, "a multiple of 7"), std::nullopt};
    return {{}, Artifact{x}};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext&) const {
    std::this_thread::sleep_for(run_delay * (staged.artifact->x % 4));
    return Evaluation::succeeded(landscape(staged.artifact->x));
  }
  [[nodiscard]] std::size_t lanes() const { return lane_count; }
};

}  // namespace scripted
