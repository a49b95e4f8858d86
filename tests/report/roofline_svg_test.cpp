// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/roofline_svg.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernelsearch/core/rng.hpp"

#include "support/approx.hpp"
#include "support/count_in.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

const DevicePeaks peaks{"Model 1, 2 cores",
                        "measured on 1 core",
                        {},
                        1e11,
                        5e10,
                        {{"L1", 32768, 2e11},
                         {"L2", 1048576, 8e10},
                         {"memory", std::numeric_limits<double>::infinity(), 1.1e10}}};

/// Why the text is no well-formed XML of elements, attributes and text; empty if it is.
std::string fault(const std::string& xml) {
  std::vector<std::string> open;
  std::size_t at = 0;
  bool any = false;
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == ':';
  };
  const auto entity = [&](std::size_t i) {
    const auto end = xml.find(';', i);
    if (end == std::string::npos) return false;
    const std::string name = xml.substr(i + 1, end - i - 1);
    return name == "amp" || name == "lt" || name == "gt" || name == "quot" || name == "#39";
  };
  while (at < xml.size()) {
    const char c = xml[at];
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "control character";
    if (c == '&' && !entity(at)) return "stray & at " + xml.substr(at, 20);
    if (c != '<') {
      if (open.empty() && c != '\n') return "text outside of the root";
      if (c == '>') return "stray >";
      ++at;
      continue;
    }
    ++at;
    const bool closes = at < xml.size() && xml[at] == '/';
    if (closes) ++at;
    std::string name;
    while (at < xml.size() && is_name(xml[at])) name += xml[at++];
    if (name.empty()) return "stray <";
    if (closes) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
      if (at >= xml.size() || xml[at++] != '>') return "unfinished end tag";
      continue;
    }
    if (open.empty() && any) return "two roots";
    any = true;
    std::vector<std::string> attributes;
    while (true) {
      bool blank = false;
      while (at < xml.size() && xml[at] == ' ') ++at, blank = true;
      if (at >= xml.size()) return "unfinished tag";
      if (xml[at] == '>') {
        ++at;
        open.push_back(name);
        break;
      }
      if (xml[at] == '/') {
        if (xml.substr(at, 2) != "/>") return "stray /";
        at += 2;
        break;
      }
      std::string attribute;
      while (at < xml.size() && is_name(xml[at])) attribute += xml[at++];
      if (attribute.empty() || !blank || xml.substr(at, 2) != "=\"") return "bad attribute in <" + name;
      for (const auto& known : attributes)
        if (known == attribute) return "attribute twice: " + attribute;
      attributes.push_back(attribute);
      for (at += 2; at < xml.size() && xml[at] != '"'; ++at) {
        if (xml[at] == '<') return "< in an attribute";
        if (xml[at] == '&' && !entity(at)) return "stray & in an attribute";
      }
      if (at >= xml.size()) return "unfinished attribute";
      ++at;
    }
  }
  if (!any) return "nothing";
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

/// The number after `before`, from `from` on.
double number(const std::string& text, const std::string& before, std::size_t from = 0) {
  const auto at = text.find(before, from);
  REQUIRE(at != std::string::npos);
  return std::strtod(text.c_str() + at + before.size(), nullptr);
}

}  // namespace

TEST_CASE("fault: sees what is no XML") {
  CHECK(fault("<a b=\"1\"><c/>x &amp; y</a>\n").empty());
  for (const char* wrong : {"", "x", "<a>", "<a></b>", "<a b=1/>", "<a>&</a>", "<a b=\"<\"/>", "<a/><b/>",
                            "<a>></a>", "<a b=\"1\" b=\"2\"/>", "<a", "<a b=\"1"}) {
    CAPTURE(wrong);
    CHECK_FALSE(fault(wrong).empty());
  }
}

TEST_CASE("roofline_svg: roofs, the path in order and the champion") {
  const std::string svg = roofline_svg(
      {"matmul", peaks, {{"baseline", 10, 1e9}, {"unrolled", 10, 8e9}, {"tiled", 10, 6e10, true}}});
  CHECK(fault(svg) == "");
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(count_in(svg, "class=\"roof slope\"") == 3);
  CHECK(count_in(svg, "class=\"roof ceiling\"") == 2);
  CHECK(count_in(svg, "class=\"point\"") == 2);
  CHECK(count_in(svg, "class=\"champion\"") == 1);
  CHECK(count_in(svg, "class=\"path\"") == 1);
  for (const char* words : {">baseline<", ">tiled<", ">unrolled<", "single precision 100 Gop/s",
                            "memory 11.0 GB/s", "intensity, operations per byte", "operations per second",
                            "Model 1, 2 cores; peaks measured", "prefers-color-scheme:dark"}) {
    CAPTURE(words);
    CHECK(svg.find(words) != std::string::npos);
  }
  // A path of three points that rises: faster is higher, and y grows downwards.
  const auto path = svg.find("class=\"path\"");
  const auto d = svg.find(" d=\"M", path);
  const double y1 = number(svg, " ", d + 4), y2 = number(svg, " ", svg.find('L', d)),
               y3 = number(svg, " ", svg.find('L', svg.find('L', d) + 1));
  CHECK(y1 > y2);
  CHECK(y2 > y3);
}

TEST_CASE("roofline_svg: a point at the roof lies on it") {
  // memory's slope at intensity 2 is at 2.2e10
  const std::string svg = roofline_svg({"", peaks, {{"at the roof", 2, 2.2e10}, {"single", 1000, 1e11}}});
  const auto slope = svg.rfind("class=\"roof slope\"");
  const auto d = svg.find(" d=\"M", slope);
  const double x1 = number(svg, "M", d), y1 = number(svg, " ", d + 4);
  const double x2 = number(svg, "L", d), y2 = number(svg, " ", svg.find('L', d));
  const auto first = svg.find("class=\"point\"");
  const double x = number(svg, "cx=\"", first), y = number(svg, "cy=\"", first);
  CHECK(y == approx(y1 + (y2 - y1) * (x - x1) / (x2 - x1)).epsilon(0.005));
  const auto second = svg.find("class=\"point\"", first + 1);
  const auto ceiling = svg.find("class=\"roof ceiling\"");
  CHECK(number(svg, "cy=\"", second) == approx(number(svg, " ", svg.find(" d=\"M", ceiling) + 4)));
  CHECK(svg.find("<title>Roofline</title>") != std::string::npos);
}

TEST_CASE("roofline_svg: texts cannot break out") {
  DevicePeaks named = peaks;
  named.device = "a<b>&\"c\"";
  named.levels[0].name = "</text><script>";
  const std::string svg =
      roofline_svg({"\"><svg onload='x'>",
                    named,
                    {{"<i>&amp;</i>\x01\xff\nx", 1, 1e9, true}, {"\xc3\xa9\xed\xa0\x80", 3, 2e10}}});
  CHECK(fault(svg) == "");
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find("onload='") == std::string::npos);
  CHECK(svg.find("&lt;i&gt;&amp;amp;&lt;/i&gt;?? x") != std::string::npos);
  CHECK(svg.find("\xc3\xa9???") != std::string::npos);  // a letter, and a surrogate that is none
}

TEST_CASE("roofline_svg: nothing to show is said") {
  for (const RooflinePicture& picture :
       {RooflinePicture{}, RooflinePicture{"t", peaks, {}}, RooflinePicture{"t", {}, {}}}) {
    const std::string svg = roofline_svg(picture);
    CHECK(fault(svg) == "");
    CHECK(svg.find("no candidate has a known place") != std::string::npos);
  }
  CHECK(fault(roofline_svg({"t", {}, {{"alone", 1, 1e9}}})) == "");
}

TEST_CASE("roofline_svg: values that are no places are left out and counted") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  DevicePeaks odd = peaks;
  odd.f16 = inf;
  odd.f64 = nan;
  odd.levels[0].bandwidth = 0.0;
  odd.levels[1].bandwidth = -1.0;
  const std::string svg = roofline_svg({"t",
                                        odd,
                                        {{"a", nan, 1e9},
                                         {"b", 1, inf},
                                         {"c", 0, 1e9},
                                         {"d", 1, -1},
                                         {"e", 1, 1e9, true},
                                         {"f", 1e300, 1e-300}}});
  CHECK(fault(svg) == "");
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
  CHECK(svg.find("5 without a place left out") != std::string::npos);
  CHECK(count_in(svg, "<circle class=\"point\"") + count_in(svg, "<circle class=\"champion\"") == 1);
  CHECK(count_in(svg, "class=\"roof slope\"") == 1);
  CHECK(count_in(svg, "class=\"roof ceiling\"") == 1);
}

TEST_CASE("roofline_svg: whatever it is given, it is XML and inside of its frame") {
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    const auto any = [&] { return std::pow(10.0, rng.uniform(-35, 35)); };
    RooflinePicture picture;
    for (std::uint64_t k = rng.below(12); k > 0; --k) {
      std::string label;
      for (std::uint64_t n = rng.below(6); n > 0; --n) label += static_cast<char>(rng.below(256));
      picture.points.push_back({label, any(), any(), rng.below(4) == 0});
    }
    if (rng.below(2) != 0) picture.peaks.f32 = any();
    if (rng.below(2) != 0) picture.peaks.f64 = any();
    for (std::uint64_t k = rng.below(4); k > 0; --k) picture.peaks.levels.push_back({"L", 1, any()});
    const std::string svg = roofline_svg(picture, {.width = static_cast<int>(rng.below(2000)), .height = -5});
    REQUIRE(fault(svg) == "");
    REQUIRE(svg.find("nan") == std::string::npos);
    const double width = number(svg, "width=\"");
    for (auto at = svg.find("cx=\""); at != std::string::npos; at = svg.find("cx=\"", at + 1)) {
      REQUIRE(number(svg, "cx=\"", at) >= 0);
      REQUIRE(number(svg, "cx=\"", at) <= width);
    }
  }
}

TEST_CASE("roofline_point: from the features of an outcome") {
  Features features;
  features.set("intensity", 0.25);
  CHECK_FALSE(roofline_point("x", features));
  features.set("operations_per_second", 2e9);
  const auto point = roofline_point("x", features, true);
  REQUIRE(point);
  CHECK(point->label == "x");
  CHECK(point->intensity == 0.25);
  CHECK(point->rate == 2e9);
  CHECK(point->champion);
}
