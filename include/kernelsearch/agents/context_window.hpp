// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernelsearch/core/history.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// Which trials a role sees of the tree (STARK, dynamic context windows), for node i, root n, children D,
/// siblings S, leaderboard C.
enum class WindowKind : std::uint8_t {
  alone,    ///< {i}
  plan,     ///< {i, n}, D(i), Top-r(C)
  code,     ///< {i, n}, D(i), the children of S(i)
  debug,    ///< {i, n}, S(i)
  leaders,  ///< {i}, Top-r(C): GEAK's ancestors
};

/// Why a trial is in a window.
enum class WindowRole : std::uint8_t { self, root, child, leader, nephew, sibling };

[[nodiscard]] constexpr std::string_view to_string(WindowRole role) noexcept {
  constexpr std::string_view names[] = {"the kernel to change",
                                        "the original kernel",
                                        "made from the kernel to change",
                                        "among the fastest",
                                        "made from a sibling of the kernel to change",
                                        "made from the same parent as the kernel to change"};
  return names[static_cast<int>(role)];
}

struct WindowOptions {
  std::size_t leaders = 5;  ///< r; the paper gives no number
  std::size_t token_budget =
      24000;  ///< of all entries together, estimated; the node and the root always stay
};

struct WindowEntry {
  TrialId id{};
  WindowRole role = WindowRole::self;
  friend bool operator==(const WindowEntry&, const WindowEntry&) = default;
};

/// The window of trial `i`, the most relevant first: i, the root, then each group as `WindowKind` names them,
/// within a group the right ones by their objective, then those that failed by how far they came, then the
/// newer. No trial stands twice. Ours where the paper gives no order.
[[nodiscard]] std::vector<WindowEntry> context_window(WindowKind kind, const History<Candidate>& history,
                                                      TrialId i, const WindowOptions& options = {});

/// The window without its last entries, as many as must go for the tokens of the rest (one number for each
/// entry) to keep to the budget; never i or the root.
[[nodiscard]] std::vector<WindowEntry> cut_to_budget(std::vector<WindowEntry> window,
                                                     std::span<const std::size_t> tokens, std::size_t budget);

/// The first ancestor of a trial that has no parent, or whose parent is not known.
[[nodiscard]] TrialId root_of(const History<Candidate>& history, TrialId id);

}  // namespace kernelsearch
