// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "kernelsearch/core/impl/utf8.hpp"
#include "kernelsearch/problem/backend.hpp"

namespace kernelsearch {
namespace {

/// `digits` significant digits without an exponent, for values in [1, 1000).
std::string significant(double value, int digits) {
  const int before =
      value == 0.0 ? 1 : std::max(1, static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1);
  return fmt::format("{:.{}f}", value, std::max(0, digits - before));
}

/// The value in the largest of the units that leaves at least 1, looked at after rounding: 999.97 us is 1 ms.
std::string in_units(double value, int digits,
                     const std::vector<std::pair<double, std::string_view>>& units) {
  if (!std::isfinite(value)) return std::isnan(value) ? "unknown" : value > 0 ? "infinite" : "-infinite";
  for (std::size_t i = 0; i < units.size(); ++i) {
    const bool last = i + 1 == units.size();
    const double scaled = value / units[i].first;
    const double rounded = std::abs(scaled) * (1.0 + 0.5 * std::pow(10.0, -digits));
    if (rounded >= 1.0 || last) {
      const std::string text =
          significant(std::abs(scaled) < 1.0 && !last ? std::copysign(1.0, scaled) : scaled, digits);
      return units[i].second.empty() ? text : text + " " + std::string(units[i].second);
    }
  }
  return {};
}

/// Characters, not bytes: every byte that does not continue one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !detail::continues_utf8(c); }));
}

}  // namespace

std::string format_seconds(double seconds, int digits) {
  return in_units(seconds, digits, {{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}});
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0.0) return "unknown";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_engineering(double value, int digits) {
  return in_units(value, digits,
                  {{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1.0, ""}});
}

std::string format_speedup(const Speedup& speedup) {
  return fmt::format("{:.2f}x ({:.2f} to {:.2f})", speedup.ratio, speedup.interval.low,
                     speedup.interval.high);
}

std::string_view baseline_name(std::string_view evaluator) noexcept {
  const std::optional<Backend> backend = backend_from(evaluator);
  return backend && is_gpu(*backend) ? "the default configuration" : "the reference";
}

std::string format_bar(double filled, int width) {
  const double share = std::isfinite(filled) ? std::clamp(filled, 0.0, 1.0) : 0.0;
  const int full = static_cast<int>(std::floor(share * width));
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(width - full), '.') + "]";
}

std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const std::string& cell : header) widths.push_back(width_of(cell));
  for (const auto& row : rows)
    for (std::size_t c = 0; c < widths.size() && c < row.size(); ++c)
      widths[c] = std::max(widths[c], width_of(row[c]));
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const std::string cell = c < row.size() ? row[c] : "";
      const std::string padding(widths[c] - width_of(cell), ' ');
      const bool right = !cell.empty() && cell.find_first_of("0123456789+-.") == 0;
      if (c != 0) line += "  ";
      line += right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add(header);
  for (const auto& row : rows) add(row);
  return text;
}

}  // namespace kernelsearch
