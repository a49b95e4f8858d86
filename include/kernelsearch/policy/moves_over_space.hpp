// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/policy/space_strategies.hpp"
#include "kernelsearch/space/encoding.hpp"

namespace kernelsearch {

/// Sets the features of the configuration as Encoding makes them, named `tunable:...`.
void add_tunable_features(const Encoding& encoding, const Config& config, Features& features);

struct MovesOverSpaceOptions {
  std::uint64_t seed = 0;  ///< of the restarts
  /// Tells the policy `add_tunable_features` of each configuration beside the features that were measured, so
  /// that it can tell configurations apart where nothing was profiled.
  bool tunables_as_features = true;
};

/// Makes a policy over moves a policy over a space: it keeps the configurations of the parents, carries the
/// moves out as SpaceStrategies says, and answers the policy itself where a move leads to nothing untried.
/// When the policy has no more to propose and configurations are left, one of them, drawn at random, is
/// proposed and told to the policy as a trial from outside, so that it goes on from there.
class MovesOverSpace {
 public:
  using Proposal = Config;

  MovesOverSpace(AnyPolicy<Move> policy, SpaceStrategies strategies, MovesOverSpaceOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

  [[nodiscard]] AnyPolicy<Move>& policy() noexcept { return policy_; }

 private:
  /// A proposal of ours: the policy's, or a restart.
  struct Proposed {
    Move move;
    std::optional<std::uint64_t> theirs;
    bool outstanding = true;
  };

  [[nodiscard]] std::optional<Config> carry_out(const Move& move) const;
  [[nodiscard]] std::optional<Config> restart();
  void nothing_came(const Move& move, std::uint64_t theirs);

  AnyPolicy<Move> policy_;
  SpaceStrategies strategies_;
  MovesOverSpaceOptions options_;
  Encoding encoding_;
  RandomSearch random_;
  std::unordered_set<Config> tried_;                   // proposed or told
  std::unordered_map<std::uint64_t, Config> configs_;  // by trial
  std::vector<Proposed> proposals_;                    // by number
  std::size_t outstanding_ = 0;
  std::uint64_t asked_policy_ = 0;  // proposals of the policy
  std::uint64_t refused_ = 0;       // of them, those of which nothing came here
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/moves_over_space_impl.hpp"
#endif
