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

Tolerance Problem::tolerance_of(ElementType type) const {
  for (const auto& [of, tolerance] : tolerances)
    if (of == type) return tolerance;
  return default_tolerance(type);
}

Tolerance Problem::tolerance_of(const Argument& argument) const {
  return argument.tolerance ? *argument.tolerance : tolerance_of(argument.type);
}

Candidate Problem::default_candidate() const {
  return {std::make_shared<const Kernel>(kernel), kernel.space.default_config()};
}

}  // namespace kernelsearch
