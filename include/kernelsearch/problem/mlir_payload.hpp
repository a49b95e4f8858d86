// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/problem/element_type.hpp"

namespace kernelsearch {

/// A parameter of a payload's function: a buffer of static shape.
struct MlirBuffer {
  ElementType type = ElementType::f32;  ///< f32, f64, or i8 to i64
  std::vector<std::int64_t> extents;    ///< outermost first; empty: one element
  bool written = false;                 ///< else only read
};

/// The function that a schedule transforms, as a caller sees it.
struct MlirPayload {
  std::string function;
  std::vector<MlirBuffer> arguments;
};

/// Reads the signature of `function` (empty: the only one with a body) from the generic form of a module
/// whose computation is lowered to loops over memrefs, which shows what is written. Where a buffer's use is
/// not understood it counts as written. A fault for results, dynamic shapes, layouts, other types, and
/// where there is no such function.
[[nodiscard]] Result<MlirPayload> try_read_mlir_payload(std::string_view generic,
                                                        const std::string& function = "",
                                                        const std::string& file = "payload");

}  // namespace kernelsearch
