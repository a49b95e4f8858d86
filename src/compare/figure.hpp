// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "curves.hpp"

namespace kernelsearch::comparing {

/// A curve with the style that it has in every figure.
struct StyledCurve {
  Curve curve;
  std::size_t style = 0;
  bool band = false;
};

struct FigureTexts {
  std::string title;  ///< for those who cannot see the figure
  std::string x_label;
  bool seconds = false;  ///< x is a time
};

/// Styles are classes `s0`, `s1`, ...: a colour, and a pattern of dashes that changes once the colours are
/// used up.
inline constexpr std::size_t colours = 7;

/// An SVG of the curves over a logarithmic x; y is the excess over the optimum, logarithmic and cut at 0.1 %.
[[nodiscard]] std::string figure(const std::vector<StyledCurve>& curves,
                                 const std::vector<CurvePoint>& random, const FigureTexts& texts);

/// The same as a file of its own, with a legend.
[[nodiscard]] std::string standalone_figure(const std::vector<StyledCurve>& curves,
                                            const std::vector<CurvePoint>& random, const FigureTexts& texts);

/// A line of that style; `inside` is in its element.
[[nodiscard]] std::string line_path(std::size_t style, const std::string& path,
                                    const std::string& inside = "");

}  // namespace kernelsearch::comparing
