// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "kernelsearch/core/random_order.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

struct RandomSearchOptions {
  std::uint64_t seed = 0;
  bool default_first = false;  ///< begin with the space's default configuration
};

/// Valid configurations in uniformly random order, each once: the baseline that every other policy must beat.
/// Remembers nothing below 2^64 configurations but what it was told from outside; ends when the space does.
class RandomSearch {
 public:
  using Proposal = Config;

  explicit RandomSearch(Space space, RandomSearchOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  [[nodiscard]] std::optional<Config> draw();

  Space space_;
  Rng rng_;
  std::optional<RandomOrder> order_;  ///< absent beyond 2^64 configurations, where draws hardly ever repeat
  std::uint64_t next_ = 0;
  bool default_pending_;
  std::unordered_set<Config> known_;  ///< the default and ones from outside; beyond 2^64 all
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/random_search_impl.hpp"
#endif
