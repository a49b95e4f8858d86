// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "kernelsearch/policy/hierarchical_ucb_options.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE bool holds_for(const Expression& when, const Features& features) {
  return detail::known_truth(when, features).value_or(true);
}

}  // namespace kernelsearch
