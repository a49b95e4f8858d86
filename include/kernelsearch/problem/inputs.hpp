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
  edge,             ///< the ends of the range, zeros, alternating extremes, mostly equal elements
  ill_conditioned,  ///< magnitudes over many decades, half of the elements cancelling earlier ones
};

/// Writes `count` elements of the argument's type to `out`, drawn as its initialisation says. A ConfigError
/// if the range holds no value of the type, or a permutation does not fit it.
void fill_input(const Argument& argument, std::size_t count, Rng& rng, std::byte* out);

/// The same in another flavour. Zeros, ones, arange and permutations mean something to the kernel (an
/// accumulator, indices) and stay as declared; so do integers and bool where the flavour is ill-conditioned.
void fill_input(const Argument& argument, std::size_t count, InputFlavour flavour, Rng& rng, std::byte* out);

/// The number of elements of an array for a shape and, where its size names tunables, for their values; 1 for
/// a scalar. A ConfigError if the size is no whole number >= 0 or the array would pass 2^40 bytes.
[[nodiscard]] std::size_t element_count(const Argument& argument, const Shape& shape,
                                        std::span<const NamedValue> tunables = {});

/// The value of a scalar argument for a shape: bool, std::int64_t or double as its type asks. A ConfigError
/// if the value does not fit the type.
[[nodiscard]] Value scalar_value(const Argument& argument, const Shape& shape);

}  // namespace kernelsearch
