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

struct BeamOptions {
  std::vector<std::string> strategies = {};  ///< none: the generator chooses
  std::uint64_t seed = 0;
  std::size_t width = 4;     ///< kernels kept from one generation to the next
  std::size_t branch = 4;    ///< proposals from each of them in a generation
  double recombine = 0.0;    ///< share of proposals that join two of the beam
  bool keep_parents = true;  ///< parents compete with their children for the next beam
  MoveLimits limits = {};
};

/// Beam search over kernels (GEAK keeps and refines several candidates so): each generation proposes `branch`
/// moves from each of the `width` best kernels, and the best of children and parents are the next beam.
///
/// Departures: failed kernels enter a beam that right ones do not fill, those that came furthest first, and
/// are debugged there; when the beam has no strategy left open, the best kernels that do have one join it.
class Beam {
 public:
  using Proposal = Move;

  explicit Beam(BeamOptions options = {});

  std::vector<Move> ask(std::size_t n);
  void tell(std::span<const Observation<Move>> batch);

  [[nodiscard]] const SearchTree& tree() const noexcept { return ledger_.tree(); }
  /// The nodes that the present generation starts from.
  [[nodiscard]] std::span<const std::size_t> beam() const noexcept { return beam_; }

 private:
  [[nodiscard]] std::optional<Move> choose();
  [[nodiscard]] std::optional<Move> move_on(std::size_t node);
  void next_generation();

  BeamOptions options_;
  Rng rng_;
  MoveLedger ledger_;
  std::vector<std::size_t> beam_;
  std::size_t born_ = 0;     ///< nodes from here on were told since the beam was chosen
  std::size_t planned_ = 0;  ///< proposals of this generation still to be made
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/beam_impl.hpp"
#endif
