// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/problem/kernel.hpp"

/// A kernel with an integer, a boolean and an order to tune, and a constraint.
inline std::shared_ptr<const kernelsearch::Kernel> small_kernel(const std::string& device = "void f() {}\n") {
  using namespace kernelsearch;
  const std::vector<std::int64_t> tiles{4, 8, 16};
  return std::make_shared<const Kernel>(Kernel{
      {device, "// host\n", "#define ONE 1\n"},
      Space::build(
          {Tunable::integers("TILE", tiles), Tunable::boolean("FAST"), Tunable::permutation("ORDER", 2)},
          {Constraint("TILE < 16 or FAST")})});
}
