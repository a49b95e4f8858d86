// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

/// What controller and worker share for one call whose arrays lie between pages that nobody may access: this
/// at the beginning of the shared memory, the arrays behind it.
namespace kernelsearch::guarded_call {

inline constexpr int memory_fd = 4;
inline constexpr std::size_t max_arguments = 64;
/// Address space without access on each side of an array: more than a stray index of a row mostly goes.
inline constexpr std::uint64_t guard_bytes = 256 << 10;
/// How the worker ends after a call, and after it noted an access or a load error.
inline constexpr int ended_well = 0, ended_by_access = 41, ended_by_loading = 42;

struct Argument {
  std::uint64_t offset = 0;        ///< of an array's pages or of a scalar, in the shared memory
  std::uint64_t region_bytes = 0;  ///< whole pages; of an array without elements 0
  std::uint64_t begin = 0;         ///< of the array within its pages
  std::uint32_t is_array = 0;
};

enum class Access : std::uint32_t { unknown, read, write };

struct Call {
  std::uint64_t memory_bytes = 0;
  std::uint32_t argument_count = 0;
  std::uint32_t threads = 1;  ///< that the problem allows a kernel
  Argument arguments[max_arguments] = {};
  // What the worker notes of an access.
  std::uint32_t argument = 0;
  Access access = Access::unknown;
  std::int64_t distance = 0;  ///< in bytes from where the argument's array begins
  char text[1024] = {};       ///< of a load error
};

}  // namespace kernelsearch::guarded_call
