// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/policy/hierarchical_ucb_options.hpp"

namespace kernelsearch {

/// A move whose worth was measured before, on a kernel of another problem (data/moves).
struct MeasuredMove {
  std::string problem, kernel;  ///< where; `kernel` names it among those of the problem
  std::string becomes;          ///< the kernel that it leads to; empty: none that is in the list
  MoveExample example;
  double gain = 1.0;  ///< time before over time after
};

/// What strategies earned on kernels of this backend where that was measured, in the order of the files:
/// `moves/*.json` of data/, and of the user's folder, which replaces or joins them. ConfigError for a file
/// that is not such a list.
[[nodiscard]] std::vector<MeasuredMove> measured_moves(std::string_view backend,
                                                       const std::filesystem::path& user = {});

/// KernelBand's prior warm-up as its paper describes it (v1, section 4.2): pairs of a kernel and a strategy
/// from a small random search, 1000 of them, after which a head says little of kernels that it has not seen.
/// Profiles and strategies are drawn evenly, a strategy gains with a probability of 0.4 to 0.6, more where
/// what it relieves is little used; without a target with 0.5. The paper gives no numbers but the count.
[[nodiscard]] std::vector<MoveExample> synthetic_moves(std::span<const std::string> strategies,
                                                       std::span<const StrategyTarget> targets,
                                                       std::span<const std::string> profile,
                                                       std::uint64_t seed, std::size_t count = 1000);

}  // namespace kernelsearch
