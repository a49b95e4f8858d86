// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/space/config.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Configurations as numbers for models to learn from, and the steps from one to the next, by kind of tunable
/// (Helion, config_fragment.py):
///
/// | kind         | features                      | steps of radius r    | step from the sign of b - c |
/// |--------------|-------------------------------|----------------------|-----------------------------|
/// | power_of_two | log2                          | up to r positions    | one position, clamped       |
/// | integer      | the value; 0 and powers of 2: | up to r positions    | one position, clamped       |
/// |              | 0, else log2 + 1              |                      |                             |
/// | floating     | the value                     | up to r positions    | one position, clamped       |
/// | boolean      | 0 or 1                        | the other value      | the other value if b != c   |
/// | categorical  | one per value, 1: the present | every other value    | b or c, not a; a if b = c   |
/// | permutation  | the items in order            | every swap of a pair | a random order if b != c    |
///
/// Positions count usable values only, so that a step never leads to a value that no configuration has.
class Encoding {
 public:
  explicit Encoding(Space space);

  /// Number of features.
  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  /// `tile`, `log2(block)`, `layout=row`, `order[0]`.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// The tunable that feature `feature` belongs to.
  [[nodiscard]] std::size_t tunable_of(std::size_t feature) const;

  /// The features of a configuration.
  [[nodiscard]] std::vector<double> encode(const Config& config) const;
  /// The same into `out`, which holds size() numbers.
  void encode(const Config& config, std::span<double> out) const;

  /// The positions one step of `radius` away from position `at` of a tunable, ascending.
  [[nodiscard]] std::vector<std::uint32_t> steps(std::size_t tunable, std::uint32_t at,
                                                 std::size_t radius = 1) const;

  /// The valid configurations one step of one tunable away, by tunable.
  [[nodiscard]] std::vector<Config> neighbours(const Config& config, std::size_t radius = 1) const;

  /// Where differential mutation moves position `a` of a tunable, given two others.
  [[nodiscard]] std::uint32_t mutate(std::size_t tunable, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                     Rng& rng) const;

  /// The space it encodes.
  [[nodiscard]] const Space& space() const noexcept { return space_; }

 private:
  Space space_;
  std::vector<std::string> names_;
  std::vector<std::size_t> owners_;
  std::vector<std::vector<double>> tables_;  // tunable -> its features, value after value
  std::vector<std::size_t> widths_;          // tunable -> features per value
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/space/impl/encoding_impl.hpp"
#endif
