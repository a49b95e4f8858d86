// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/compare/html_report.hpp"

namespace kernelsearch {

/// A figure of a comparison as a file of its own.
struct ReportFigureFile {
  std::string name;  ///< of the file: letters, digits, `_`, `-` and `.`, ending in `.svg`
  std::string svg;
};

/// The figures of the page as SVG files for papers: with their legend, a white ground, generic fonts, sizes
/// and colours as attributes, so that any converter to PDF (rsvg-convert, Inkscape, CairoSVG) draws what
/// browsers do. `all_spaces.svg` where there are several spaces, and `SPACE.svg`, `SPACE_time.svg` of each.
[[nodiscard]] std::vector<ReportFigureFile> report_figures(const ReportContents& contents);

}  // namespace kernelsearch
