// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "units.hpp"

#include <algorithm>
#include <iterator>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch::recorded {
namespace {

/// The one table of units and of names of objectives that the files of other tools use, in lower case.
struct UnitRow {
  std::string_view name;
  double in_a_second;  ///< 0: no time
  const char* better;  ///< of what is not a time
};
constexpr UnitRow unit_rows[] = {{"s", 1, ""},
                                 {"sec", 1, ""},
                                 {"secs", 1, ""},
                                 {"second", 1, ""},
                                 {"seconds", 1, ""},
                                 {"ms", 1e3, ""},
                                 {"msec", 1e3, ""},
                                 {"millisecond", 1e3, ""},
                                 {"milliseconds", 1e3, ""},
                                 {"miliseconds", 1e3, ""},  // as Kernel Tuner writes it
                                 {"us", 1e6, ""},
                                 {"\xc2\xb5s", 1e6, ""},
                                 {"\xce\xbcs", 1e6, ""},
                                 {"usec", 1e6, ""},
                                 {"microsecond", 1e6, ""},
                                 {"microseconds", 1e6, ""},
                                 {"ns", 1e9, ""},
                                 {"nsec", 1e9, ""},
                                 {"nanosecond", 1e9, ""},
                                 {"nanoseconds", 1e9, ""},
                                 {"flop/s", 0, "higher"},
                                 {"flops", 0, "higher"},
                                 {"mflop/s", 0, "higher"},
                                 {"mflops", 0, "higher"},
                                 {"gflop/s", 0, "higher"},
                                 {"gflops", 0, "higher"},
                                 {"tflop/s", 0, "higher"},
                                 {"tflops", 0, "higher"},
                                 {"mb/s", 0, "higher"},
                                 {"gb/s", 0, "higher"},
                                 {"gib/s", 0, "higher"},
                                 {"tb/s", 0, "higher"},
                                 {"throughput", 0, "higher"},
                                 {"bandwidth", 0, "higher"},
                                 {"gflop/s/w", 0, "higher"},
                                 {"gflops/w", 0, "higher"},
                                 {"fps", 0, "higher"},
                                 {"j", 0, "lower"},
                                 {"mj", 0, "lower"},
                                 {"joule", 0, "lower"},
                                 {"joules", 0, "lower"},
                                 {"energy", 0, "lower"},
                                 {"w", 0, "lower"},
                                 {"mw", 0, "lower"},
                                 {"watt", 0, "lower"},
                                 {"watts", 0, "lower"},
                                 {"power", 0, "lower"},
                                 {"bytes", 0, "lower"},
                                 {"cycles", 0, "lower"}};

const UnitRow* unit_row_of(std::string_view name) {
  std::string lower(detail::trimmed(name));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto found = std::find_if(std::begin(unit_rows), std::end(unit_rows),
                                  [&](const UnitRow& one) { return one.name == lower; });
  return found == std::end(unit_rows) ? nullptr : found;
}

}  // namespace

std::optional<double> in_a_second(std::string_view unit) {
  const UnitRow* const unit_row = unit_row_of(unit);
  return unit_row != nullptr && unit_row->in_a_second > 0 ? std::optional(unit_row->in_a_second)
                                                          : std::nullopt;
}

double unit_of_time(const std::string& unit) {
  const auto scale = in_a_second(unit);
  if (scale) return *scale;
  const auto other = other_objective("", unit);
  detail::raise<ConfigError>("no unit of time", other ? other->words : unit, "give s, ms, us or ns");
}

std::optional<OtherObjective> other_objective(std::string_view name, std::string_view unit) {
  if (in_a_second(unit)) return std::nullopt;
  // Names of times, Kernel Tuner's and KTT's among them; a unit that is not a time says more than a name.
  const bool time = name.empty() || name == "time" || name == "times" || name.find("time") != name.npos ||
                    name.find("Time") != name.npos || name.find("uration") != name.npos || in_a_second(name);
  if (time && unit.empty()) return std::nullopt;
  const UnitRow* unit_row = unit_row_of(unit);
  if (unit_row == nullptr) unit_row = unit_row_of(name);
  std::string words(name);
  if (!unit.empty()) words += " in " + std::string(unit);
  return OtherObjective{words + (unit_row == nullptr ? ", of which no direction is known"
                                                     : std::string(", ") + unit_row->better + " is better")};
}

std::string several_objectives(std::span<const std::string> names, std::string_view read) {
  return "recorded for " + names.front() + " and for " + detail::joined(names.subspan(1), ", ") +
         "; what is read is " + std::string(read);
}

}  // namespace kernelsearch::recorded
