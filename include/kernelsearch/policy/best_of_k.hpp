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

struct BestOfKOptions {
  std::vector<std::string> strategies = {};  ///< none: the generator chooses
  std::uint64_t seed = 0;
  std::size_t k = 16;  ///< children of one parent
  bool climb = false;  ///< then go on from the best; false: end after `k` children of the root
  MoveLimits limits = {};
};

/// Best-of-K sampling: K independent rewrites of the root, of which the fastest counts (the baseline of
/// STARK's and KernelBand's tables). With `climb` the best becomes the next parent, and so on: a (1 + K)
/// evolution.
class BestOfK {
 public:
  using Proposal = Move;

  explicit BestOfK(BestOfKOptions options = {});

  std::vector<Move> ask(std::size_t n);
  void tell(std::span<const Observation<Move>> batch);

  [[nodiscard]] const SearchTree& tree() const noexcept { return ledger_.tree(); }

 private:
  [[nodiscard]] std::optional<Move> choose();

  BestOfKOptions options_;
  Rng rng_;
  MoveLedger ledger_;
  std::optional<std::size_t> parent_;
  std::size_t sampled_ = 0;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/best_of_k_impl.hpp"
#endif
