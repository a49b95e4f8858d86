// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/ids.hpp"

namespace kernelsearch {

/// What a move means; attribution is read off the outcomes of parent and child.
enum class MoveKind : std::uint8_t {
  root,       ///< the problem's own kernel; no parents
  rewrite,    ///< apply the strategies to the parent
  branch,     ///< one of several implementations of the same strategies; `variant` tells them apart
  ablate,     ///< the parent without the strategies named
  debug,      ///< the parent failed: repair it
  recombine,  ///< join two or more parents
  submitted,  ///< handed in from outside: a person, an agent, an earlier run
};

[[nodiscard]] constexpr std::string_view to_string(MoveKind kind) noexcept {
  constexpr std::string_view names[] = {"root",  "rewrite",   "branch",   "ablate",
                                        "debug", "recombine", "submitted"};
  return names[static_cast<int>(kind)];
}

/// A change of kernels: which parents, what to do with them, by which named strategies.
struct Move {
  MoveKind kind = MoveKind::root;
  std::vector<TrialId> parents;
  std::vector<std::string> strategies;
  std::uint32_t variant = 0;

  [[nodiscard]] std::string_view strategy() const noexcept {
    return strategies.empty() ? std::string_view{} : std::string_view{strategies.front()};
  }
  friend bool operator==(const Move&, const Move&) = default;
};

/// The parents that a proposal names: a move's own; none for a point of a space or any other proposal.
template <class Proposal>
[[nodiscard]] std::vector<TrialId> parents_of(const Proposal&) {
  return {};
}
[[nodiscard]] std::vector<TrialId> parents_of(const Move& move);

/// The proposal as a move; empty where it is not one.
template <class Proposal>
[[nodiscard]] std::optional<Move> move_of(const Proposal&) {
  return std::nullopt;
}
[[nodiscard]] inline std::optional<Move> move_of(const Move& move) {
  return move;
}

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/move_impl.hpp"
#endif
