// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/problem.hpp"

#include <memory>

namespace kernelsearch {

Tolerance default_tolerance(ElementType type) noexcept {
  switch (type) {
    case ElementType::f16:
      return {1e-2, 1e-2};
    case ElementType::bf16:
      return {4e-2, 4e-2};
    case ElementType::f32:
      return {1e-4, 1e-4};
    case ElementType::f64:
      return {1e-10, 1e-10};
    default:
      return {};
  }
}

Tolerance Problem::tolerance_of(const Argument& argument) const {
  if (argument.tolerance) return *argument.tolerance;
  for (const auto& [type, tolerance] : tolerances)
    if (type == argument.type) return tolerance;
  return default_tolerance(argument.type);
}

Candidate Problem::default_candidate() const {
  return {std::make_shared<const Kernel>(kernel), kernel.space.default_config()};
}

}  // namespace kernelsearch
