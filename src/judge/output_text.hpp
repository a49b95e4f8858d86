// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "kernelsearch/problem/argument.hpp"

namespace kernelsearch::detail {

/// An element of an output as the host's and the GPU's verdicts call it: `y[3]`, `y[3].x` of structs (whose
/// field comes as ".x"), `y[1].im` of c64.
[[nodiscard]] inline std::string element_text(const Argument& argument, std::uint64_t index,
                                              const std::string& field) {
  if (argument.complex)
    return argument.name + '[' + std::to_string(index / 2) + (index % 2 == 0 ? "].re" : "].im");
  return argument.name + '[' + std::to_string(index) + ']' + field;
}

/// How many elements are wrong, and how many may be where the tolerance has a matched_ratio.
[[nodiscard]] inline std::string share_text(double wrong_share, const std::string& name,
                                            const Tolerance& tolerance, bool beyond) {
  char text[200];
  if (tolerance.matched_ratio >= 1) {
    std::snprintf(text, sizeof text, "%.4g %% of ", 100 * wrong_share);
    return text + name + " wrong";
  }
  std::snprintf(text, sizeof text, " within tolerance, %.6g %% required", 100 * tolerance.matched_ratio);
  std::string share = text;
  std::snprintf(text, sizeof text, "%.6g %% of ", 100 * (1 - wrong_share));
  share = text + name + share;
  if (!beyond) return share;
  if (!tolerance.cap_absolute && !tolerance.cap_relative)
    return share + ", and none may be NaN or infinite where the expected one is not";
  const Tolerance cap = cap_of(tolerance);
  std::snprintf(text, sizeof text, ", and none may be farther off than %.3g + %.3g |expected|", cap.absolute,
                cap.relative);
  return share + text;
}

}  // namespace kernelsearch::detail
