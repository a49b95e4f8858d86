// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/arena.hpp"
#include "judge/lane_rng.hpp"
#include "judge/stretches.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

class InputGenerator;

/// An array whose elements are made from floats; arguments by their place.
struct QuantisedArray {
  std::size_t argument = 0, scale = 0;
  std::size_t floats =
      0;  ///< the argument as which they are drawn: itself where the kernel does not get them
  std::size_t stored = 0, scales = 0;
  ElementType type = ElementType::f8e4m3, scale_type = ElementType::f32, float_type = ElementType::f32;
  QuantisedBlocks blocks;
};

/// Those of a problem for one shape; a ConfigError where sizes do not fit.
[[nodiscard]] std::vector<QuantisedArray> quantised_arrays(const Problem& problem, const ShapePlan& plan);

/// Writes the elements and the scales for floats of `float_type`.
void write_quantised(const QuantisedArray& array, const std::vector<std::byte>& floats, Contents& contents);

/// Draws contents for timed calls, each of which gets its own: many per second, so each element is made
/// from `values` that were drawn as the argument declares. Even distributions fill the range from the least
/// to the greatest, other floating elements lie at random between two neighbouring ones; of narrower types
/// and of structs each is one of the values. Permutations, sorted arrays and offsets are drawn anew as
/// well, but for long ones of types that few have: offsets of more than `most_offsets` elements,
/// permutations of floating and sorted arrays of narrow types of more than `most_whole`. Each draw has
/// secret parameters: see Stretches. Sets of checks and those with known results are drawn in the same way,
/// lest a kernel tell them from the others.
class FreshInputs {
 public:
  static constexpr std::size_t values = 8192;  ///< of each argument, a secret of the controller's

  enum class Way : std::uint8_t {
    chosen,
    between_f32,  ///< two neighbouring values of the pool, as it is sorted
    between_f64,
    evenly_f32,  ///< the pool's range
    evenly_f64,
    within_i32,
    within_u32,
    within_i64,
    within_u64,
    permuted_32,
    permuted_64,
    ascending_f32,
    ascending_f64,
    ascending_i32,
    ascending_u32,
    ascending_i64,
    ascending_u64,
    whole,  ///< drawn as for checks
  };
  /// Longer arrays that are drawn as a whole take too long to draw for every call.
  static constexpr std::size_t most_whole = 65536;
  /// For offsets, whose kernels have more to do for each.
  static constexpr std::size_t most_offsets = 1 << 20;

  FreshInputs() = default;
  /// For one shape; `seed` makes the values.
  FreshInputs(const Problem& problem, const ShapePlan& plan, std::uint64_t seed);

  /// Whether the argument is drawn here; others are filled as for checks.
  [[nodiscard]] bool draws(std::size_t argument) const noexcept { return draws_[argument]; }

  /// Writes `count` elements in the argument's own type.
  void draw(std::size_t argument, std::size_t count, std::uint64_t seed, std::byte* out) const;

  /// From now on the arrays of the problem's generator are its contents for a seed, too. What is given must
  /// outlive this.
  void generate_by(InputGenerator& generator, const ShapePlan& plan);

  /// Whether the argument's contents come with those of other arrays: of the generator, or quantised ones.
  [[nodiscard]] bool generates(std::size_t argument) const noexcept {
    return (generator_ != nullptr && generated_[argument]) || quantised_[argument];
  }

  /// Draws the floats of quantised arrays for that seed, and writes these arrays, their scales and, where
  /// the kernel gets them, the floats.
  void quantise_into(Contents& contents, std::uint64_t seed) const;

  /// All arrays of the generator and quantised ones for that seed; of others nothing. A ConfigError if it
  /// fails.
  [[nodiscard]] Contents generated(std::uint64_t seed) const;

  /// How many calls may be filled one after another within that many seconds, at least 1: a generator takes
  /// its time for each.
  [[nodiscard]] std::size_t calls_filled_in(double seconds) const;

  /// Per argument, whether it is an input that is not drawn here.
  [[nodiscard]] const std::vector<bool>& others() const noexcept { return others_; }

 private:
  void stretches(std::size_t argument, std::size_t count, Rng& rng, std::byte* out) const;
  void fill(std::size_t argument, const Stretch& stretch, LaneRng& lanes, std::byte* out) const;

  std::vector<std::vector<std::byte>> pools_;  ///< by value, but for structs
  std::vector<Way> ways_;
  std::vector<Argument> arguments_;  ///< at the shape
  std::vector<DeclaredRange> declared_;
  std::vector<Spread> spreads_;
  std::vector<bool> draws_;
  std::vector<std::size_t> bytes_;  ///< of an element
  std::vector<bool> others_, quantised_;
  std::vector<QuantisedArray> quantised_arrays_;
  InputGenerator* generator_ = nullptr;
  ShapePlan plan_;
  std::vector<bool> generated_;
  mutable double generating_ = 0;  ///< seconds for one call's, the shortest so far; 0: not yet
};

/// Contents of an input without the signs of its floats (fields of structs included) where
/// they are drawn, and of the integers that stand for floats.
[[nodiscard]] std::vector<std::byte> without_signs(const Argument& argument, std::vector<std::byte> contents);

}  // namespace kernelsearch::detail
