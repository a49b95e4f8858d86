// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/move_ledger.hpp"
#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch {

/// What a node of the tree is worth.
enum class UctBackup : std::uint8_t {
  mean,  ///< the mean of its subtree, as in UCT
  best,  ///< the best of its subtree: a search wants one fast kernel, not a good average
};

struct UctOptions {
  std::vector<std::string> strategies = {};  ///< none: the generator chooses
  std::uint64_t seed = 0;
  double exploration = 0.7;  ///< c in value + c sqrt(ln N / n), values in [0, 1]; lower than UCT's sqrt(2)
  double widening = 2.0;  ///< a node visited n times has at most ceil(widening * n^widening_power) children
  double widening_power = 0.5;
  UctBackup backup = UctBackup::best;
  MoveLimits limits = {};
};

/// Monte Carlo tree search by UCT (Kocsis and Szepesvári, 2006) with progressive widening (Coulom, 2007):
/// walks down from the root, to a new child where the node may have more, else to the child with the greatest
/// upper bound. The value of a trial is its speed, scaled to [0, 1] between the slowest and the fastest right
/// kernel so far (MuZero's normalisation); 0 when it failed. There is no rollout: a kernel is measured as it
/// stands.
///
/// Departures: a proposal counts as a visit while it is outstanding (virtual loss); with two parents the
/// first is the one in the tree; what came from outside without a parent stands next to the root.
class Uct {
 public:
  using Proposal = Move;

  explicit Uct(UctOptions options = {});

  std::vector<Move> ask(std::size_t n);
  void tell(std::span<const Observation<Move>> batch);

  [[nodiscard]] const SearchTree& tree() const noexcept { return ledger_.tree(); }
  /// How often the walk came through the node.
  [[nodiscard]] std::size_t visits(std::size_t node) const { return nodes_[node].visits; }

 private:
  struct Node {
    std::optional<std::size_t> parent;
    std::vector<std::size_t> children;
    std::size_t visits = 0;
    std::size_t right = 0;  ///< right kernels in the subtree
    double speed = 0.0;     ///< sum of their 1 / objective
    double fastest = 0.0;   ///< the greatest of them
    bool finished = false;  ///< nothing open in the subtree, as far as is known
  };

  void take_in(std::size_t node, bool visited);
  void sum_up();
  [[nodiscard]] double value(const Node& node) const;
  [[nodiscard]] std::optional<Move> walk(std::optional<std::size_t> from);
  [[nodiscard]] Move expand(std::size_t node);

  UctOptions options_;
  Rng rng_;
  MoveLedger ledger_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> tops_;  ///< nodes without a parent
  std::uint64_t revisions_ = 0;
  double slowest_ = 0.0, fastest_ = 0.0;  ///< speeds
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/uct_impl.hpp"
#endif
