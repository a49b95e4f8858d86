// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/problem/element_type.hpp"
#include "kernelsearch/problem/struct_type.hpp"

namespace kernelsearch {

/// Which way an argument's data flows.
enum class Role : std::uint8_t {
  in,
  out,
  inout,
  workspace,  ///< scratch memory of device kernels: undefined before a call, not looked at after it
};

/// The word of problem files.
[[nodiscard]] constexpr std::string_view to_string(Role role) noexcept {
  constexpr std::string_view names[] = {"in", "out", "inout", "workspace"};
  return names[static_cast<std::size_t>(role)];
}

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
  sorted,           ///< as uniform, in ascending order
  offsets,          ///< row pointers: 0, ..., `total`, never descending
  file,             ///< the contents of a file
  generator,        ///< what the problem's generator writes
};

/// The word of problem files.
[[nodiscard]] constexpr std::string_view to_string(Initialisation initialisation) noexcept {
  constexpr std::string_view names[] = {"zeros",   "ones",        "uniform",         "normal",
                                        "arange",  "permutation", "ill_conditioned", "sorted",
                                        "offsets", "file",        "generator"};
  return names[static_cast<std::size_t>(initialisation)];
}

/// Whether the contents are a row of draws from one range, each element apart from the others.
[[nodiscard]] constexpr bool is_drawn(Initialisation initialisation) noexcept {
  return initialisation == Initialisation::uniform || initialisation == Initialisation::normal ||
         initialisation == Initialisation::ill_conditioned;
}

/// Whether the edge flavour of such contents is another than the declared one.
[[nodiscard]] constexpr bool has_edge_flavour(Initialisation initialisation) noexcept {
  return initialisation == Initialisation::uniform || initialisation == Initialisation::normal ||
         initialisation == Initialisation::sorted || initialisation == Initialisation::offsets ||
         initialisation == Initialisation::generator;
}

/// A file with the contents of an array: raw in little-endian order, .npy, or a tensor of .safetensors.
struct InputFile {
  std::string shape;           ///< the shape that it is for; empty: for all
  std::string name;            ///< as the problem file gives it, relative to the folder
  std::filesystem::path path;  ///< where it was found
  std::string digest;          ///< SHA-256 of its bytes when the problem was read: part of its identity
  std::uint64_t offset = 0;    ///< of the first element
  std::uint64_t bytes = 0;     ///< of the elements
  std::string tensor{};        ///< of .safetensors: its name there
  std::uint64_t behind = 0;    ///< bytes of the file after the elements
};

/// Where an output may hold infinities.
enum class Infinities : std::uint8_t {
  as_expected,  ///< where the same infinity is expected
  negative,     ///< where minus infinity is expected, as in masked scores; any other is wrong
  none,         ///< nowhere: an infinity is wrong even where it is expected
};

/// The word of problem files.
[[nodiscard]] constexpr std::string_view to_string(Infinities infinities) noexcept {
  constexpr std::string_view names[] = {"as_expected", "negative", "none"};
  return names[static_cast<std::size_t>(infinities)];
}

/// An error bound: |got - expected| <= absolute + relative * |expected| for a share of the elements, and a
/// wider one that holds for all of them.
struct Tolerance {
  double absolute = 0.0;
  double relative = 0.0;
  double matched_ratio = 1.0;  ///< the share of an output's elements that must be within the bound, in (0, 1]
  /// The bound of the other elements; left out: any finite number. NaN and infinities that are not expected
  /// are never among them.
  std::optional<double> cap_absolute{}, cap_relative{};
  Infinities infinities = Infinities::as_expected;
};

/// How many of that many elements may be outside of the tolerance.
[[nodiscard]] inline std::uint64_t allowed_wrong(const Tolerance& tolerance,
                                                 std::uint64_t elements) noexcept {
  // A ratio is a decimal fraction: 1 - 0.99 of 100 elements is one, though it is less than 1 in binary.
  return tolerance.matched_ratio >= 1
             ? 0
             : static_cast<std::uint64_t>((1 - tolerance.matched_ratio) * static_cast<double>(elements) +
                                          1e-6);
}

/// The bound of the elements that may be outside of the tolerance.
[[nodiscard]] inline Tolerance cap_of(const Tolerance& tolerance) noexcept {
  Tolerance cap = tolerance;
  const bool given = tolerance.cap_absolute || tolerance.cap_relative;
  cap.absolute = tolerance.cap_absolute.value_or(given ? 0.0 : std::numeric_limits<double>::max());
  cap.relative = tolerance.cap_relative.value_or(0.0);
  return cap;
}

/// Says that an array of numbers in few bits is the quantised form of floats: see docs/formats/problem.md.
/// The floats are drawn as the argument says, or are those of the argument `of`. Each block of them has a
/// scale, the greatest magnitude of the block over the greatest value of the type, and the array holds
/// float / scale.
struct Quantised {
  std::string scale;  ///< the argument that gets the scales, block by block
  std::string of;     ///< the argument that holds the floats; empty: the kernel does not get them
  std::optional<Expression> columns;  ///< elements of a row; left out: the array is one row
  std::vector<Expression> block;      ///< rows and columns of a block; empty: the array is one block
};

/// One parameter of the kernel's function, in the order of its signature; references get those that are
/// neither workspaces nor tensor maps.
struct Argument {
  std::string name;
  ElementType type = ElementType::f32;  ///< of arrays of structs u8, which says nothing: see `structure`
  /// Arrays: the elements are structs of this layout, which the kernel's own code declares.
  std::optional<StructType> structure;
  bool is_array = false;
  /// Arrays of c64: `type` is f32, and `size` counts pairs of them.
  bool complex = false;
  Role role = Role::in;
  /// Arrays: the number of elements, over the shape's variables; an input's and a workspace's may name
  /// tunables too.
  std::optional<Expression> size;
  /// Scalars: over the shape's variables; without it the variable of the argument's name.
  std::optional<Expression> value;
  Initialisation initialisation = Initialisation::uniform;
  double low = -1.0;
  double high = 1.0;
  /// Over the shape's variables, instead of `low` and `high`: see at_shape.
  std::optional<Expression> low_expression, high_expression;
  /// For edge inputs, instead of the range's ends and zeros; empty: edge inputs are as declared.
  std::optional<std::vector<double>> edge;
  /// Why it is always drawn just as declared; empty: each draw has parameters of its own within that.
  std::string exact;
  std::optional<Expression> total;  ///< of offsets: the last one, over the shape's variables
  double skew = 0.0;                ///< of offsets: row lengths fall as rank^-skew; 0: all equal
  std::vector<InputFile> files;     ///< of `file`: one for all shapes, or one for each
  std::optional<Quantised> quantised;
  std::string scale_of;                 ///< the quantised argument whose scales it gets
  std::string floats_of;                ///< the quantised argument that is made of its floats
  std::optional<Tolerance> tolerance;   ///< overrides the problem's for this output
  std::optional<TensorMap> tensor_map;  ///< device kernels: neither scalar nor array but a map of an array
  std::string
      symbol;  ///< device kernels: the `__constant__` variable that gets the array instead of a parameter

  /// Passed by value: neither an array nor a map of one.
  [[nodiscard]] bool is_scalar() const noexcept { return !is_array && !tensor_map; }
  /// Whether its contents come with those of another argument, by a quantised one.
  [[nodiscard]] bool is_in_quantised() const noexcept {
    return quantised.has_value() || !scale_of.empty() || !floats_of.empty();
  }
  /// The type in words: that of the elements, or `struct NAME`.
  [[nodiscard]] std::string type_text() const {
    return structure ? "struct " + structure->name : std::string(to_string(named_type()));
  }
  /// The type that the problem file names.
  [[nodiscard]] ElementType named_type() const noexcept { return complex ? ElementType::c64 : type; }
  /// Bytes of one element as kernels see it; of packed types those of two, of c64 those of a part: what
  /// element_count counts.
  [[nodiscard]] std::size_t element_bytes() const noexcept {
    return structure ? size_in_bytes(*structure) : size_in_bytes(type);
  }
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
