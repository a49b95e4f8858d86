// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <unordered_set>
#include <vector>

#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Every valid configuration once, in the order of the space's ranks; ones from outside are skipped.
class Exhaustive {
 public:
  using Proposal = Config;

  explicit Exhaustive(Space space) : space_(std::move(space)) {}

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  Space space_;
  BigCount next_;
  std::unordered_set<Config> foreign_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/exhaustive_impl.hpp"
#endif
