// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernelsearch {

/// What instructions of a processor give away.
enum class ObjectSignature : std::uint8_t {
  vector_128,       ///< packed arithmetic on floating or integer numbers in registers of 128 bits
  vector_256,       ///< of 256 bits
  vector_512,       ///< of 512 bits
  scalar_fp,        ///< floating-point arithmetic on one number
  fma,              ///< fused multiply-add, packed or scalar
  prefetch,         ///< prefetches of data
  streaming_store,  ///< stores past the caches
  gather,           ///< loads of packed elements from several addresses
  division,         ///< of integers or floating-point numbers
  call,             ///< calls of functions, within the library or not
  branch,           ///< conditional jumps
  spill,            ///< loads and stores of the stack at a fixed place, which local arrays may be too
  instructions,     ///< all of them, less those that only pad
};

inline constexpr std::array<std::string_view, 13> object_signature_names{
    "vector_128", "vector_256", "vector_512", "scalar_fp", "fma",   "prefetch",    "streaming_store",
    "gather",     "division",   "call",       "branch",    "spill", "instructions"};

[[nodiscard]] constexpr std::string_view to_string(ObjectSignature signature) noexcept {
  return object_signature_names[static_cast<std::size_t>(signature)];
}

/// Numbers of instructions by what they are; one may be several things.
struct ObjectCounts {
  std::array<std::size_t, object_signature_names.size()> values{};

  [[nodiscard]] std::size_t of(ObjectSignature signature) const noexcept {
    return values[static_cast<std::size_t>(signature)];
  }
  [[nodiscard]] std::size_t total() const noexcept { return of(ObjectSignature::instructions); }
  friend bool operator==(const ObjectCounts&, const ObjectCounts&) = default;
};

}  // namespace kernelsearch
