// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernelsearch/recorded/recording.hpp"

namespace kernelsearch {

/// What a rule that the data imply tells apart.
enum class RuleSubject : std::uint8_t {
  recorded,  ///< what was recorded at all; the rule is a likely constraint of the space
  right,     ///< of what was recorded, what did not fail
};

/// A condition over at most two tunables that holds for everything of its kind in a recording and cuts away
/// combinations that occur nowhere.
struct ImpliedRule {
  RuleSubject subject = RuleSubject::recorded;
  std::string text;          ///< an expression, such as `block * tile <= 1024`
  std::size_t excluded = 0;  ///< how many values, or pairs of values, it cuts away
  friend bool operator==(const ImpliedRule&, const ImpliedRule&) = default;
};

struct ImpliedRules {
  std::vector<ImpliedRule> rules;
  /// Combinations of the value lists that meet all rules about what was recorded; as many as there are
  /// records where the rules say all.
  BigCount allowed;
};

/// Looks for rules by value and by pair of tunables: `a <= b`, `a % b == 0`, `a * b <= c`, `a * b >= c`,
/// `a + b <= c`, and what they leave as `a != v or b in [...]`. Pairs are looked at only where each of their
/// combinations should have occurred ten times by now, so that what is missing is not missing by chance.
[[nodiscard]] ImpliedRules implied_rules(const Recording& recording);

}  // namespace kernelsearch
