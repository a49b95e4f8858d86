// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "judge/arena.hpp"
#include "judge/input_generator.hpp"
#include "process/process.hpp"

namespace kernelsearch::detail {

/// The descriptor that a program of its own reads a call's arguments from.
inline constexpr int inputs_fd = 3;

/// What such a program may write at most: it is itself written into the sandbox.
inline constexpr std::uint64_t max_program = std::uint64_t{256} << 20;

/// Bytes of a shape's arrays.
[[nodiscard]] std::uint64_t array_bytes(const ShapePlan& plan);

/// The arguments of one call, as a file in memory: their number, then for each its bytes, whether it is an
/// array, whether it has contents (numbers of 64 bits), and the contents.
class ShapeInputs {
 public:
  /// A DeviceError where there is not enough memory.
  ShapeInputs(const ShapePlan& plan, const Contents& contents);

  /// The file, to be read from its beginning.
  [[nodiscard]] int from_start();

 private:
  void add(const void* data, std::size_t bytes);
  void add(std::uint64_t number) { add(&number, sizeof number); }

  Descriptor file_;
};

}  // namespace kernelsearch::detail
