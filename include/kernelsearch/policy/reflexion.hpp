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

struct ReflexionOptions {
  std::vector<std::string> strategies = {};  ///< none: the generator chooses
  std::uint64_t seed = 0;
  std::size_t patience = 3;  ///< steps without a gain before the chain goes on from the best; 0: never
  MoveLimits limits = {};
};

/// Linear Reflexion (Shinn et al., 2023), the sequential baseline of STARK's tables: one chain, each attempt
/// made on the last; an attempt that failed is debugged with what was learned of the failure, and given up
/// for the last right kernel when that does not help. One proposal at a time.
///
/// Departure: after `patience` steps without a gain the chain returns to the best kernel.
class Reflexion {
 public:
  using Proposal = Move;

  explicit Reflexion(ReflexionOptions options = {});

  std::vector<Move> ask(std::size_t n);
  void tell(std::span<const Observation<Move>> batch);

  [[nodiscard]] const SearchTree& tree() const noexcept { return ledger_.tree(); }

 private:
  [[nodiscard]] std::optional<Move> choose();

  ReflexionOptions options_;
  Rng rng_;
  MoveLedger ledger_;
  std::optional<std::size_t> last_;  ///< the end of the chain
  std::optional<std::size_t> last_right_;
  std::optional<double> best_;
  std::size_t fruitless_ = 0;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/reflexion_impl.hpp"
#endif
