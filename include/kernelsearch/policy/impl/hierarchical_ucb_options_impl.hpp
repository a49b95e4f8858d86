// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "kernelsearch/policy/hierarchical_ucb_options.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE bool holds_for(const Expression& when, const Features& features) {
  std::vector<Value> values;
  for (const std::string& feature : when.names()) {
    const std::optional<double> value = features.find(feature);
    if (!value) return true;
    values.emplace_back(*value);
  }
  return when.try_test(values).value_or(true);
}

}  // namespace kernelsearch
