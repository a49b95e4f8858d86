// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/problem/element_type.hpp"

namespace kernelsearch {

/// Which way an argument's data flows.
enum class Role : std::uint8_t { in, out, inout };

/// How an input array is filled before each call.
enum class Initialisation : std::uint8_t {
  zeros,
  ones,
  uniform,          ///< [low, high)
  normal,           ///< mean `low`, standard deviation `high`
  arange,           ///< 0, 1, 2, ...
  permutation,      ///< of 0..size-1
  ill_conditioned,  ///< magnitudes over many decades with mixed signs, so that sloppy summation shows
};

/// An error bound: |got - expected| <= absolute + relative * |expected|.
struct Tolerance {
  double absolute = 0.0;
  double relative = 0.0;
};

/// One parameter of the kernel's function, in the order of its signature.
struct Argument {
  std::string name;
  ElementType type = ElementType::f32;
  bool is_array = false;
  Role role = Role::in;
  /// Arrays: the number of elements, over the shape's variables; an input's may name tunables too.
  std::optional<Expression> size;
  /// Scalars: over the shape's variables; without it the variable of the argument's name.
  std::optional<Expression> value;
  Initialisation initialisation = Initialisation::uniform;
  double low = -1.0;
  double high = 1.0;
  std::optional<Tolerance> tolerance;  ///< overrides the problem's for this output
};

}  // namespace kernelsearch
