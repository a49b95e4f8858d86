// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "../report/xml_text.hpp"

namespace kernelsearch::comparing {
namespace {

constexpr double width = 560, height = 320;
constexpr double left = 56, right = 12, top = 10, bottom = 42;
/// As attributes too, for readers of SVG that do not apply the page's styles; a style wins over them.
constexpr std::array<std::string_view, colours> light{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#a67c00", "#56b4e9", "#555"};
constexpr std::array<std::string_view, 4> dashes{"", " stroke-dasharray=\"7 3\"", " stroke-dasharray=\"2 3\"",
                                                 " stroke-dasharray=\"9 3 2 3\""};
constexpr double floor_excess = 0.001;  ///< what is nearer to the optimum is drawn here

/// Maps values to places in the picture, both axes logarithmic.
struct Axes {
  double x_low = 1.0, x_high = 2.0, y_high = 1.0;

  [[nodiscard]] double x(double value) const {
    const double part = std::log(value / x_low) / std::log(x_high / x_low);
    return left + std::clamp(part, 0.0, 1.0) * (width - left - right);
  }
  [[nodiscard]] double y(double excess) const {
    const double part = std::log(excess / floor_excess) / std::log(y_high / floor_excess);
    return height - bottom - std::clamp(part, 0.0, 1.0) * (height - top - bottom);
  }
};

Axes axes_of(const std::vector<StyledCurve>& curves, const std::vector<CurvePoint>& random) {
  double low = std::numeric_limits<double>::infinity(), high = 0.0, worst = 0.01;
  const auto look = [&](const CurvePoint& point) {
    low = std::min(low, point.x);
    high = std::max(high, point.x);
    if (std::isfinite(point.median)) worst = std::max(worst, point.median);
  };
  for (const StyledCurve& curve : curves)
    for (const CurvePoint& point : curve.curve.points) look(point);
  for (const CurvePoint& point : random) look(point);
  if (!(high > 0)) return {};
  return {low, std::max(high, low * 1.01), std::min(worst * 1.1, 1000.0)};
}

std::string seconds_tick(double seconds) {
  if (seconds < 60) return fmt::format("{:g} s", seconds);
  if (seconds < 3600) return fmt::format("{:g} min", seconds / 60);
  return fmt::format("{:g} h", seconds / 3600);
}

std::vector<double> x_ticks(const Axes& axes, bool seconds) {
  std::vector<double> ticks;
  if (seconds) {
    for (const double tick : {0.001, 0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 36e3, 36e4, 36e5})
      if (tick >= axes.x_low && tick <= axes.x_high) ticks.push_back(tick);
    if (ticks.empty()) ticks.push_back(axes.x_high);
    return ticks;
  }
  for (double decade = 1; decade <= axes.x_high; decade *= 10)
    for (const double step : {1.0, 2.0, 5.0})
      if (decade * step >= axes.x_low && decade * step <= axes.x_high) ticks.push_back(decade * step);
  return ticks;
}

std::string grid(const Axes& axes, const FigureTexts& texts) {
  std::string svg;
  for (const double tick : x_ticks(axes, texts.seconds)) {
    const double x = axes.x(tick);
    svg += fmt::format(
        "<path class=\"grid\" fill=\"none\" stroke=\"#ddd\" d=\"M{0:.1f} {1}V{2}\"/><text x=\"{0:.1f}\" "
        "y=\"{3}\" "
        "text-anchor=\"middle\">{4}</text>\n",
        x, top, height - bottom, height - bottom + 15,
        texts.seconds ? seconds_tick(tick) : fmt::format("{:g}", tick));
  }
  for (const double tick : {0.001, 0.01, 0.1, 1.0, 10.0, 100.0}) {
    if (tick > axes.y_high) continue;
    const double y = axes.y(tick);
    svg += fmt::format(
        "<path class=\"grid\" fill=\"none\" stroke=\"#ddd\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" "
        "y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5}{6:g} %</text>\n",
        left, y, width - right, left - 5, y + 4, tick == floor_excess ? "&#8804; " : "", tick * 100);
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">above the optimum</text>\n",
                     width - right - 5, top + 10);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (left + width - right) / 2, height - 8, html_text(texts.x_label));
  return svg;
}

/// A polyline with steps would need twice the points; at the density of the grid they cannot be told apart.
std::string line(const Axes& axes, const std::vector<CurvePoint>& points) {
  std::string path;
  for (const CurvePoint& point : points) {
    if (!std::isfinite(point.median)) continue;  // nothing valid yet in half of the repeats
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", axes.x(point.x),
                        axes.y(std::max(point.median, floor_excess)));
  }
  return path;
}

std::string band(const Axes& axes, const std::vector<CurvePoint>& points) {
  std::string path;
  for (const CurvePoint& point : points)
    if (std::isfinite(point.low))
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", axes.x(point.x),
                          axes.y(std::max(point.low, floor_excess)));
  for (auto point = points.rbegin(); point != points.rend(); ++point)
    if (std::isfinite(point->low))
      path +=
          fmt::format("L{:.1f} {:.1f}", axes.x(point->x),
                      axes.y(std::isfinite(point->high) ? std::max(point->high, floor_excess) : axes.y_high));
  return path.empty() ? path : path + "Z";
}

}  // namespace

namespace {

/// What is inside of the picture.
std::string drawing(const std::vector<StyledCurve>& curves, const std::vector<CurvePoint>& random,
                    const FigureTexts& texts) {
  const Axes axes = axes_of(curves, random);
  std::string svg = grid(axes, texts);
  for (const StyledCurve& curve : curves)
    if (curve.band && !curve.curve.points.empty())
      svg += fmt::format("<path class=\"band f{}\" fill=\"{}\" opacity=\".16\" d=\"{}\"/>\n",
                         curve.style % colours, light[curve.style % colours], band(axes, curve.curve.points));
  if (!random.empty())
    svg += fmt::format(
        "<path class=\"random\" fill=\"none\" stroke=\"#666\" stroke-dasharray=\"1 4\" d=\"{}\"/>\n",
        line(axes, random));
  for (const StyledCurve& curve : curves)
    if (!curve.curve.points.empty())
      svg += line_path(curve.style, line(axes, curve.curve.points),
                       "<title>" + xml_text(curve.curve.name) + "</title>") +
             "\n";
  return svg;
}

constexpr double letter = 6.2;  ///< width of one, about, in fonts without serifs at 11 px

/// The names of the curves below the picture, as many next to each other as fit.
std::string legend(const std::vector<StyledCurve>& curves, bool random, double& bottom_edge) {
  constexpr double sample = 34, row = 16;
  std::size_t longest = random ? 23 : 0;
  for (const StyledCurve& curve : curves) longest = std::max(longest, curve.curve.name.size());
  const double room = sample + letter * static_cast<double>(longest) + 12;
  const auto columns = static_cast<std::size_t>(std::clamp((width - 2 * right) / room, 1.0, 4.0));
  const double column = (width - 2 * right) / static_cast<double>(columns);
  std::string svg;
  std::size_t entry = 0;
  const auto place = [&](const std::string& name, const std::function<std::string(double, double)>& line) {
    const double x = right + column * static_cast<double>(entry % columns);
    const double y = height + 8 + row * static_cast<double>(entry / columns);
    ++entry;
    svg += line(x, y) + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#1a1a1a\">{}</text>\n",
                                    x + sample, y + 4, xml_text(name));
  };
  for (const StyledCurve& curve : curves)
    place(curve.curve.name, [&curve](double x, double y) {
      return line_path(curve.style, fmt::format("M{:.1f} {:.1f}h26", x, y));
    });
  if (random)
    place("random search, expected", [](double x, double y) {
      return fmt::format(
          "<path fill=\"none\" stroke=\"#666\" stroke-dasharray=\"1 4\" d=\"M{:.1f} {:.1f}h26\"/>", x, y);
    });
  bottom_edge = height + 8 + row * static_cast<double>((entry + columns - 1) / columns);
  return svg;
}

}  // namespace

std::string figure(const std::vector<StyledCurve>& curves, const std::vector<CurvePoint>& random,
                   const FigureTexts& texts) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" font-size=\"11\" role=\"img\" aria-label=\"{}\">\n", width,
                     height, xml_text(texts.title)) +
         drawing(curves, random, texts) + "</svg>\n";
}

std::string standalone_figure(const std::vector<StyledCurve>& curves, const std::vector<CurvePoint>& random,
                              const FigureTexts& texts) {
  double bottom_edge = height;
  const std::string names = legend(curves, !random.empty(), bottom_edge);
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
             "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, "
             "sans-serif\" "
             "font-size=\"11\">\n<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
             width, bottom_edge, xml_text(texts.title)) +
         drawing(curves, random, texts) + names + "</svg>\n";
}

std::string line_path(std::size_t style, const std::string& path, const std::string& inside) {
  return fmt::format(
      "<path class=\"line s{0} d{1}\" fill=\"none\" stroke=\"{2}\"{3} stroke-width=\"2\" "
      "d=\"{4}\">{5}</path>",
      style % colours, style / colours % dashes.size(), light[style % colours],
      dashes[style / colours % dashes.size()], path, inside);
}

}  // namespace kernelsearch::comparing
