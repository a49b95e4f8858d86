// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space_builder.hpp"

/// Runs policies over spaces on landscapes given as functions, one trial after the other.
namespace search_driver {

using namespace kernelsearch;

inline Observation<Config> observation(const Config& config, double objective, std::uint64_t id,
                                       std::optional<std::uint64_t> proposal) {
  Observation<Config> observed{config, {}};
  observed.outcome.id = TrialId{id};
  if (proposal) observed.outcome.origin = Origin{ProposalId{*proposal}, 0, 1};
  observed.outcome.objective = objective;
  observed.outcome.evaluation = std::isinf(objective) ? Evaluation::failed(Verdict::crashed, "as scripted")
                                                      : Evaluation::succeeded(objective);
  return observed;
}

template <class Policy>
void tell(Policy& policy, const Config& config, double objective, std::uint64_t id,
          std::optional<std::uint64_t> proposal) {
  const Observation<Config> observed = observation(config, objective, id, proposal);
  policy.tell(std::span<const Observation<Config>>(&observed, 1));
}

/// Up to `trials` trials, numbered from `first` on, with `objective(config)`.
template <class Policy, class Objective>
std::vector<Config> run(Policy& policy, std::size_t trials, Objective objective, std::uint64_t first = 0) {
  std::vector<Config> sequence;
  while (sequence.size() < trials) {
    const std::vector<Config> asked = policy.ask(1);
    if (asked.empty()) break;
    const std::uint64_t id = first + sequence.size();
    tell(policy, asked[0], objective(asked[0]), id, id);
    sequence.push_back(asked[0]);
  }
  return sequence;
}

/// Tunables in which the two differ.
inline std::size_t differing(const Config& a, const Config& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.indices.size(); ++i) count += a.indices[i] != b.indices[i] ? 1 : 0;
  return count;
}

/// `tunables` integers from 0 to `last`, unconstrained.
inline Space grid(int tunables, std::int64_t last) {
  SpaceBuilder builder;
  for (int i = 0; i < tunables; ++i) builder.add(Tunable::integer("t" + std::to_string(i), 0, last));
  return builder.build();
}

}  // namespace search_driver
