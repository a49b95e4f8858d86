// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/problem/argument.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "kernelsearch/problem/shape.hpp"

namespace kernelsearch {

/// Which inputs a call gets; all flavours stay inside the range that the argument declares.
enum class InputFlavour : std::uint8_t {
  declared,         ///< as the argument's initialisation says
  edge,             ///< stretches of ends of the range, zeros, alternating extremes, mostly equal elements
  ill_conditioned,  ///< magnitudes over many decades, half of the elements cancelling earlier ones
};

/// The argument with its numbers for a shape: expressions of the range and of `total` evaluated, the one file
/// of that shape. What `fill_input` needs; others are returned as they are. A ConfigError if an expression
/// gives no finite number or the range is empty.
[[nodiscard]] Argument at_shape(const Argument& argument, const Shape& shape);

/// The floats that a quantised argument is made from, as an argument of their own of f32.
[[nodiscard]] Argument floats_of(const Argument& quantised);

/// The blocks of a quantised argument with that many elements for a shape.
struct QuantisedBlocks {
  std::size_t rows = 1, columns = 0;              ///< of the array
  std::size_t block_rows = 1, block_columns = 0;  ///< of a block; those at the ends may be smaller
  [[nodiscard]] std::size_t down() const noexcept { return (rows + block_rows - 1) / block_rows; }
  [[nodiscard]] std::size_t across() const noexcept { return (columns + block_columns - 1) / block_columns; }
  /// One scale for each, row by row.
  [[nodiscard]] std::size_t count() const noexcept { return down() * across(); }
};

/// A ConfigError where the rows do not fill the array, a block is not a size, or there are not as many
/// `scales`.
[[nodiscard]] QuantisedBlocks quantised_blocks(const Argument& quantised, const Shape& shape,
                                               std::size_t elements, std::size_t scales);

/// Quantises floats block by block: the scale is the greatest magnitude of the block over the greatest
/// value of `type` (7 for i4 and u4, 127 for i8 and u8, which are symmetric; u4 and u8 have 8 and 128 in
/// the place of 0), rounded to `scale_type`, and the element the nearest value to float / scale. A block of
/// zeros has the scale 1.
void quantise(std::span<const double> floats, const QuantisedBlocks& blocks, ElementType type,
              ElementType scale_type, std::byte* values, std::byte* scales);

/// A field of an argument of structs as an argument of its own, with the edge flavour of its type.
[[nodiscard]] Argument field_argument(const Argument& argument, const StructField& field);

/// Writes `count` elements of the argument's type (see at_shape) to `out`, drawn as its initialisation says;
/// bytes between the fields of structs are 0. A ConfigError if the range holds no value of the type, a
/// permutation or offsets do not fit it, a file is not as it was, or only a generator can fill it.
void fill_input(const Argument& argument, std::size_t count, Rng& rng, std::byte* out);

/// The same in another flavour. Zeros, ones, arange, permutations and files mean something to the kernel (an
/// accumulator, indices) and stay as declared; so do integers and bool where the flavour is ill-conditioned.
/// What is sorted stays sorted, and offsets stay offsets: at the edge one row has all entries, or every other
/// row is empty.
void fill_input(const Argument& argument, std::size_t count, InputFlavour flavour, Rng& rng, std::byte* out);

/// The number of elements of an array for a shape and, where its size names tunables, for their values; 1 for
/// a scalar. A ConfigError if the size is not a whole number >= 0 or the array would pass 2^40 bytes.
[[nodiscard]] std::size_t element_count(const Argument& argument, const Shape& shape,
                                        std::span<const NamedValue> tunables = {});

/// The bytes of all arrays together; refuses what element_count refuses.
[[nodiscard]] double bytes_of_arrays(std::span<const Argument> arguments, const Shape& shape,
                                     std::span<const NamedValue> tunables = {});

/// The value of a scalar argument for a shape: bool, std::int64_t or double as its type asks. A ConfigError
/// if the value does not fit the type.
[[nodiscard]] Value scalar_value(const Argument& argument, const Shape& shape);

}  // namespace kernelsearch
