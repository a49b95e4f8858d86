// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/core/features.hpp"

namespace kernelsearch {

/// One candidate in the picture.
struct RooflinePoint {
  std::string label;
  double intensity = 0.0;  ///< operations per byte
  double rate = 0.0;       ///< operations per second
  bool champion = false;
};

/// The candidate's place from its features intensity and operations_per_second; empty where one is unknown.
[[nodiscard]] std::optional<RooflinePoint> roofline_point(std::string_view label, const Features& features,
                                                          bool champion = false);

/// What a picture shows.
struct RooflinePicture {
  std::string title;
  DevicePeaks peaks;
  std::vector<RooflinePoint> points;  ///< in the order in which they came about
};

/// Sizes in pixels of the picture's own scale.
struct RooflineSvgOptions {
  int width = 760;
  int height = 460;
};

/// A roofline (Williams, Waterman, Patterson 2009) as an SVG document, both axes logarithmic: a slope for
/// each level of memory, a ceiling for each precision, the points joined in order, the champion ringed.
/// Points without a finite positive place are left out and counted in words. Readable on light and on dark
/// grounds.
[[nodiscard]] std::string roofline_svg(const RooflinePicture& picture, RooflineSvgOptions options = {});

}  // namespace kernelsearch
