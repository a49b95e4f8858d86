// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/roofline_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernelsearch/report/format.hpp"
#include "xml_text.hpp"

namespace kernelsearch {
namespace {

constexpr double left = 76, right = 18, top = 40, bottom = 50;
constexpr double line_height = 13;

bool drawable(double value) {
  // far inside of what a logarithm and a division bear
  return std::isfinite(value) && value > 1e-30 && value < 1e30;
}

struct Ceiling {
  std::string name;
  double rate = 0;
};
struct Slope {
  std::string name;
  double bandwidth = 0;
};
struct Roofs {
  std::vector<Ceiling> ceilings;  // highest first
  std::vector<Slope> slopes;      // steepest first
};

Roofs roofs_of(const DevicePeaks& peaks) {
  Roofs roofs;
  const auto add = [&](const char* name, std::optional<double> rate) {
    if (rate && drawable(*rate)) roofs.ceilings.push_back({name, *rate});
  };
  add("16-bit", peaks.f16);
  add("single precision", peaks.f32);
  add("double precision", peaks.f64);
  for (const MemoryLevel& level : peaks.levels)
    if (level.bandwidth && drawable(*level.bandwidth)) roofs.slopes.push_back({level.name, *level.bandwidth});
  std::stable_sort(roofs.ceilings.begin(), roofs.ceilings.end(),
                   [](const Ceiling& a, const Ceiling& b) { return a.rate > b.rate; });
  std::stable_sort(roofs.slopes.begin(), roofs.slopes.end(),
                   [](const Slope& a, const Slope& b) { return a.bandwidth > b.bandwidth; });
  return roofs;
}

/// Whole decades around everything that is drawn, and the places of values in them.
class Frame {
 public:
  Frame(const Roofs& roofs, const std::vector<RooflinePoint>& points, RooflineSvgOptions options)
      : width_(std::max(options.width, 320)), height_(std::max(options.height, 240)) {
    Range x, y;
    for (const RooflinePoint& point : points) {
      x.include(point.intensity);
      x.include(point.intensity * 3);  // room for its name
      y.include(point.rate);
    }
    for (const Ceiling& ceiling : roofs.ceilings) {
      y.include(ceiling.rate * 1.3);  // room for its name
      for (const Slope& slope : roofs.slopes) x.include(ceiling.rate / slope.bandwidth);
    }
    if (roofs.ceilings.empty())
      for (const Slope& slope : roofs.slopes) y.include(slope.bandwidth * (x.empty() ? 1.0 : x.low));
    x.round(2);
    // The lowest slope is seen from the left edge on, or there would be nothing to compare points with.
    if (!roofs.slopes.empty()) y.include(std::pow(10.0, x.low_decade) * roofs.slopes.back().bandwidth);
    y.round(2);
    x_ = x;
    y_ = y;
  }

  [[nodiscard]] double x(double intensity) const {
    return left + x_.part(intensity) * (width_ - left - right);
  }
  [[nodiscard]] double y(double rate) const {
    return height_ - bottom - y_.part(rate) * (height_ - top - bottom);
  }
  [[nodiscard]] double low_x() const { return std::pow(10.0, x_.low_decade); }
  [[nodiscard]] double high_x() const { return std::pow(10.0, x_.high_decade); }
  [[nodiscard]] double low_y() const { return std::pow(10.0, y_.low_decade); }
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] const auto& x_range() const { return x_; }
  [[nodiscard]] const auto& y_range() const { return y_; }

 private:
  struct Range {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    int low_decade = 0, high_decade = 0;
    void include(double value) {
      if (!drawable(value)) return;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    [[nodiscard]] bool empty() const { return !(high > 0); }
    void round(int least) {
      if (empty()) low = high = 1;
      low_decade = static_cast<int>(std::floor(std::log10(low)));
      high_decade = std::max(static_cast<int>(std::ceil(std::log10(high))), low_decade + least);
    }
    [[nodiscard]] double part(double value) const {
      return std::clamp((std::log10(value) - low_decade) / (high_decade - low_decade), 0.0, 1.0);
    }
  };
  Range x_, y_;
  double width_, height_;
};

std::string text(double x, double y, std::string_view more, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y, more.empty() ? "" : " ", more,
                     xml_text(words));
}

std::string grid(const Frame& frame) {
  std::string svg;
  const double foot = frame.height() - bottom, edge = frame.width() - right;
  const auto step = [](int decades) { return 1 + decades / 12; };
  for (int d = frame.x_range().low_decade; d <= frame.x_range().high_decade;
       d += step(frame.x_range().high_decade - frame.x_range().low_decade)) {
    const double x = frame.x(std::pow(10.0, d));
    svg += fmt::format("<path class=\"grid\" fill=\"none\" stroke=\"#ddd\" d=\"M{0:.1f} {1}V{2}\"/>\n", x,
                       top, foot);
    svg += text(x, foot + 16, "text-anchor=\"middle\"", fmt::format("{:g}", std::pow(10.0, d)));
  }
  for (int d = frame.y_range().low_decade; d <= frame.y_range().high_decade;
       d += step(frame.y_range().high_decade - frame.y_range().low_decade)) {
    const double y = frame.y(std::pow(10.0, d));
    svg += fmt::format("<path class=\"grid\" fill=\"none\" stroke=\"#ddd\" d=\"M{0} {1:.1f}H{2}\"/>\n", left,
                       y, edge);
    svg += text(left - 6, y + 4, "text-anchor=\"end\"", format_engineering(std::pow(10.0, d), 1));
  }
  svg += text((left + edge) / 2, frame.height() - 12, "text-anchor=\"middle\"",
              "intensity, operations per byte of memory traffic");
  svg += fmt::format(
      "<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">operations per "
      "second</text>\n",
      (top + foot) / 2);
  return svg;
}

std::string roof(double x1, double y1, double x2, double y2, const char* kind, const std::string& words) {
  return fmt::format(
      "<path class=\"roof {}\" fill=\"none\" stroke=\"#555\" stroke-width=\"1.6\"{} d=\"M{:.1f} "
      "{:.1f}L{:.1f} "
      "{:.1f}\"><title>{}</title></path>\n",
      kind, std::string_view(kind) == "slope" ? "" : " stroke-dasharray=\"7 3\"", x1, y1, x2, y2,
      xml_text(words));
}

std::string roofs_svg(const Roofs& roofs, const Frame& frame) {
  std::string svg;
  const double highest =
      roofs.ceilings.empty() ? std::numeric_limits<double>::infinity() : roofs.ceilings.front().rate;
  for (const Slope& slope : roofs.slopes) {
    // From where the line enters the frame to the ridge, or to the frame's edge.
    const double from = std::max(frame.low_x(), frame.low_y() / slope.bandwidth);
    const double to = std::min(frame.high_x(), highest / slope.bandwidth);
    if (!(from < to)) continue;
    const std::string words = slope.name + " " + format_engineering(slope.bandwidth) + "B/s";
    const double x1 = frame.x(from), y1 = frame.y(from * slope.bandwidth);
    const double x2 = frame.x(to), y2 = frame.y(to * slope.bandwidth);
    svg += roof(x1, y1, x2, y2, "slope", words);
    const double turn = std::atan2(y2 - y1, x2 - x1) * 180 / 3.14159265358979;
    svg += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\">{}</text>\n",
                       x1 + 0.08 * (x2 - x1), y1 + 0.08 * (y2 - y1) - 5, turn, xml_text(words));
  }
  const double steepest =
      roofs.slopes.empty() ? std::numeric_limits<double>::infinity() : roofs.slopes.front().bandwidth;
  for (const Ceiling& ceiling : roofs.ceilings) {
    const double from = std::max(frame.low_x(), ceiling.rate / steepest);
    const std::string words = ceiling.name + " " + format_engineering(ceiling.rate) + "op/s";
    const double y = frame.y(ceiling.rate);
    svg += roof(frame.x(std::min(from, frame.high_x())), y, frame.width() - right, y, "ceiling", words);
    svg += text(frame.x(std::min(from, frame.high_x())) + 10, y - 5, "", words);
  }
  return svg;
}

std::string points_svg(const std::vector<RooflinePoint>& points, const Frame& frame) {
  std::string svg, path;
  for (const RooflinePoint& point : points)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", frame.x(point.intensity),
                        frame.y(point.rate));
  if (points.size() > 1)
    svg +=
        "<path class=\"path\" fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.2\" stroke-opacity=\".6\" "
        "d=\"" +
        path + "\"/>\n";
  std::vector<const RooflinePoint*> order;  // the champion is named first and drawn last
  for (const RooflinePoint& point : points) order.push_back(&point);
  std::stable_partition(order.begin(), order.end(),
                        [](const RooflinePoint* point) { return point->champion; });
  struct Place {
    double x, y;
  };
  std::vector<Place> named;
  std::string labels, champions;
  for (const RooflinePoint* point : order) {
    const double x = frame.x(point->intensity), y = frame.y(point->rate);
    const std::string words = fmt::format("{}: {}op/s at {:.3g} operations per byte", point->label,
                                          format_engineering(point->rate), point->intensity);
    const std::string mark = fmt::format(
        "<circle class=\"{0}\" fill=\"{1}\" cx=\"{2:.1f}\" cy=\"{3:.1f}\" "
        "r=\"{4}\"><title>{5}</title></circle>\n",
        point->champion ? "champion" : "point", point->champion ? "#d55e00" : "#0072b2", x, y,
        point->champion ? 5.5 : 3.5, xml_text(words));
    (point->champion ? champions : svg) += mark;
    if (point->champion)
      champions += fmt::format(
          "<circle class=\"ring\" fill=\"none\" stroke=\"#d55e00\" stroke-width=\"1.5\" cx=\"{:.1f}\" "
          "cy=\"{:.1f}\" "
          "r=\"9\"/>\n",
          x, y);
    // Names that would lie on one another are left to the tooltips.
    const bool free = std::none_of(named.begin(), named.end(), [&](const Place& other) {
      return std::abs(other.y - y) < line_height && std::abs(other.x - x) < 140;
    });
    if (!free || point->label.empty()) continue;
    named.push_back({x, y});
    const bool to_left = x > frame.width() - right - 140;
    labels += text(to_left ? x - 13 : x + 13, y + 4,
                   fmt::format("text-anchor=\"{}\"{}", to_left ? "end" : "start",
                               point->champion ? " class=\"best\" font-weight=\"bold\"" : ""),
                   point->label);
  }
  return svg + champions + labels;
}

constexpr std::string_view style =
    "<style>"
    ".roofline "
    "text{fill:#222;stroke:#fff;stroke-width:3px;stroke-linejoin:round;paint-order:stroke}.roofline "
    ".ground{fill:#fff}.roofline .grid{stroke:#ddd}"
    ".roofline .roof{stroke:#555}.roofline .path{stroke:#0072b2}.roofline .point{fill:#0072b2}"
    ".roofline .champion{fill:#d55e00}.roofline .ring{stroke:#d55e00}"
    "@media (prefers-color-scheme:dark){"
    ".roofline text{fill:#ddd;stroke:#16181c}.roofline .ground{fill:#16181c}.roofline .grid{stroke:#363a40}"
    ".roofline .roof{stroke:#aaa}.roofline .path{stroke:#56b4e9}.roofline .point{fill:#56b4e9}"
    ".roofline .champion{fill:#ffa04d}.roofline .ring{stroke:#ffa04d}}"
    "</style>\n";

}  // namespace

std::optional<RooflinePoint> roofline_point(std::string_view label, const Features& features, bool champion) {
  const auto intensity = features.find("intensity"), rate = features.find("operations_per_second");
  if (!intensity || !rate) return std::nullopt;
  return RooflinePoint{std::string(label), *intensity, *rate, champion};
}

std::string roofline_svg(const RooflinePicture& picture, RooflineSvgOptions options) {
  std::vector<RooflinePoint> points;
  for (const RooflinePoint& point : picture.points)
    if (drawable(point.intensity) && drawable(point.rate)) points.push_back(point);
  const Roofs roofs = roofs_of(picture.peaks);
  const Frame frame(roofs, points, options);
  const std::string title = picture.title.empty() ? "Roofline" : picture.title;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"roofline\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"11\" role=\"img\" "
      "aria-label=\"{2}\">\n<title>{2}</title>\n",
      frame.width(), frame.height(), xml_text(title));
  svg += style;
  svg += fmt::format("<rect class=\"ground\" fill=\"#fff\" width=\"{}\" height=\"{}\"/>\n", frame.width(),
                     frame.height());
  svg += text(left, 18, "font-size=\"13\" font-weight=\"bold\"", title);
  std::string under = picture.peaks.device;
  if (!picture.peaks.source.empty()) under += (under.empty() ? "" : "; ") + ("peaks " + picture.peaks.source);
  const std::size_t missing = picture.points.size() - points.size();
  if (missing != 0) under += fmt::format("{}{} without a place left out", under.empty() ? "" : "; ", missing);
  svg += text(left, 33, "", under);
  svg += grid(frame) + roofs_svg(roofs, frame) + points_svg(points, frame);
  if (points.empty())
    svg += text((left + frame.width() - right) / 2, frame.height() / 2, "text-anchor=\"middle\"",
                "no candidate has a known place");
  return svg + "</svg>\n";
}

}  // namespace kernelsearch
