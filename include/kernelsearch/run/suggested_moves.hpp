// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/problem/backend.hpp"

namespace kernelsearch {

/// A policy over moves whose proposals wait for someone outside to carry them out. `suggest()` shows the next
/// move; only once it was released does the optimizer get it, so that candidates handed in meanwhile for
/// other reasons are told as trials from outside and nothing stands still. At most one move waits.
///
/// For runs that resume: a suggestion is an ask of its own in the record, made when `suggest()` says `asked`,
/// not when the optimizer gets it. A record is replayed into a fresh object, which passes asks on until
/// `go_live()`.
class SuggestedMoves {
 public:
  using Proposal = Move;

  // Constrained rather than converting: AnyPolicy takes any policy, and would ask whether this is one.
  template <std::same_as<AnyPolicy<Move>> Inner>
  explicit SuggestedMoves(Inner inner) : inner_(std::move(inner)) {}

  std::vector<Move> ask(std::size_t n);
  void tell(std::span<const Observation<Move>> batch);

  /// The next move, and whether the inner policy was asked for it just now; no move once it has none.
  struct Suggestion {
    std::optional<Move> move;
    bool asked = false;
  };
  [[nodiscard]] Suggestion suggest();
  /// Gives the suggested move to the optimizer with its next ask.
  void release();
  /// What was asked for so far was replayed; from now on moves wait.
  void go_live() noexcept { live_ = true; }

 private:
  AnyPolicy<Move> inner_;
  struct Waiting {
    Move move;
    bool handed = false;  ///< the optimizer has it, from a replayed ask or since its release
    bool released = false;
  };
  std::deque<Waiting> waiting_;
  bool live_ = false;
  bool exhausted_ = false;  ///< the last ask gave nothing, and nothing was told since
};

static_assert(SearchPolicy<SuggestedMoves>);

/// A name that make_move_policy() knows, with what it does.
struct MovePolicyEntry {
  std::string name;
  std::string summary;
};
[[nodiscard]] std::vector<MovePolicyEntry> move_policies();

/// A policy over moves by its name: `epsilon_greedy_tree`, `beam`, `best_of_k`, `reflexion`,
/// `roofline_budget` with the methods of the backend's registry (`strategies`: only these of them), or
/// `none`, which proposes the problem's own kernel and nothing else. ConfigError with the nearest name
/// otherwise.
[[nodiscard]] AnyPolicy<Move> make_move_policy(const std::string& name, std::vector<std::string> strategies,
                                               std::uint64_t seed, Backend backend = Backend::host);

}  // namespace kernelsearch
