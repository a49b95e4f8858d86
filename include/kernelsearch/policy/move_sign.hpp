// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <span>
#include <string>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/features.hpp"

namespace kernelsearch {

namespace detail {

/// Whether the expression holds; nothing where a feature that it names is in neither, or it has no value.
[[nodiscard]] std::optional<bool> known_truth(const Expression& when, const Features& features,
                                              const Features& others = {});

}  // namespace detail

/// What a kernel may show that speaks for a move on it, or against it.
struct MoveSign {
  Expression when;      ///< over the kernel's features; while one of them is not known, the sign is not seen
  double worth = 1.0;   ///< in [-1, 1]: how much it speaks for the move; negative: against it
  std::string because;  ///< in words; `{code.loop.call}` stands for the feature's value
};

/// What is seen of a move's signs on one kernel.
struct SeenSigns {
  double worth = 0.0;              ///< the largest worth for the move plus the largest against it
  const MoveSign* main = nullptr;  ///< the one that counts most; null: none is seen
};

/// The signs that hold for a kernel with these features. `problem`: what is known of the problem, such as its
/// traits, where the kernel's features do not say it.
[[nodiscard]] SeenSigns seen_signs(std::span<const MoveSign> signs, const Features& features,
                                   const Features& problem = {});

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/move_sign_impl.hpp"
#endif
