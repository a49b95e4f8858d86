// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/problem/element_type.hpp"

namespace kernelsearch {

/// Which way an argument's data flows.
enum class Role : std::uint8_t {
  in,
  out,
  inout,
  workspace,  ///< scratch memory of device kernels: undefined before a call, not looked at after it
};

/// A Hopper tensor map (TMA descriptor) of an array, passed by value. Expressions over shape variables and
/// tunables; see the CUDA driver's cuTensorMapEncodeTiled.
struct TensorMap {
  std::string array;                ///< the argument that it describes
  std::vector<Expression> sizes;    ///< elements of each dimension, innermost first; 1 to 5
  std::vector<Expression> strides;  ///< bytes between elements of dimensions 1, 2, ...; one fewer than sizes
  std::vector<Expression> box;      ///< elements of one copy in each dimension
  std::optional<Expression> swizzle;  ///< bytes: 0, 32, 64 or 128; 0 if left out
  std::optional<Expression>
      promotion;  ///< of the second-level cache, bytes: 0, 64, 128 or 256; 128 if left out
};

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

/// One parameter of the kernel's function, in the order of its signature; references get those that are
/// neither workspaces nor tensor maps.
struct Argument {
  std::string name;
  ElementType type = ElementType::f32;
  bool is_array = false;
  Role role = Role::in;
  /// Arrays: the number of elements, over the shape's variables; an input's and a workspace's may name
  /// tunables too.
  std::optional<Expression> size;
  /// Scalars: over the shape's variables; without it the variable of the argument's name.
  std::optional<Expression> value;
  Initialisation initialisation = Initialisation::uniform;
  double low = -1.0;
  double high = 1.0;
  std::optional<Tolerance> tolerance;   ///< overrides the problem's for this output
  std::optional<TensorMap> tensor_map;  ///< device kernels: neither scalar nor array but a map of an array
  std::string
      symbol;  ///< device kernels: the `__constant__` variable that gets the array instead of a parameter

  /// Passed by value: neither an array nor a map of one.
  [[nodiscard]] bool is_scalar() const noexcept { return !is_array && !tensor_map; }
  /// An array that has contents before a call.
  [[nodiscard]] bool is_input() const noexcept {
    return is_array && (role == Role::in || role == Role::inout);
  }
  /// An array that is compared after a call.
  [[nodiscard]] bool is_output() const noexcept {
    return is_array && (role == Role::out || role == Role::inout);
  }
};

}  // namespace kernelsearch
