// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace kernelsearch::detail {

/// What a core is measured with: machine code as it stands, so that neither the compiler nor its optimisation
/// level enters. Null where this processor has none.
struct PeakKernels {
  std::string vectors;             ///< e.g. `AVX-512`
  std::size_t f32_operations = 0;  ///< of one round
  std::size_t f64_operations = 0;
  void (*f32)(std::size_t rounds) = nullptr;  ///< independent multiplications with addition
  void (*f64)(std::size_t rounds) = nullptr;
  /// Streams over `bytes`, a positive multiple of 512; places are aligned to 64.
  void (*read)(const void* from, std::size_t bytes) = nullptr;
  void (*copy)(void* to, const void* from, std::size_t bytes) = nullptr;
  void (*copy_past_caches)(void* to, const void* from, std::size_t bytes) = nullptr;
};

/// Those of the widest vectors that processor and operating system offer.
[[nodiscard]] PeakKernels peak_kernels();

/// Makes sure that no cache holds any of it.
void drop_from_caches(const void* from, std::size_t bytes);

}  // namespace kernelsearch::detail
