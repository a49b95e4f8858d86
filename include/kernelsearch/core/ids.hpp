// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace kernelsearch {

/// The number of a candidate in a run, counted from 0 in the order in which candidates were admitted.
enum class TrialId : std::uint64_t {};

/// The number of a proposal: the k-th proposal that a policy returns, counted from 0, is k.
enum class ProposalId : std::uint64_t {};

[[nodiscard]] constexpr std::uint64_t number(TrialId id) noexcept {
  return static_cast<std::uint64_t>(id);
}
[[nodiscard]] constexpr std::uint64_t number(ProposalId id) noexcept {
  return static_cast<std::uint64_t>(id);
}

}  // namespace kernelsearch
