// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/core/value.hpp"

namespace kernelsearch {

/// The best settings found for one problem on one device for one shape: a line of a settings table.
struct Settings {
  std::string problem;
  std::string device;
  std::vector<std::pair<std::string, Value>> shape;   ///< its variables, e.g. n = 512
  std::vector<std::pair<std::string, Value>> values;  ///< the tunables
  double seconds = 0.0;                               ///< per call, as measured
  double speedup = 0.0;       ///< over the reference of the same run; 0 where it was not measured
  Interval speedup_interval;  ///< at 95 %
  std::string source;         ///< where it comes from: run and date; free text

  /// The value of a tunable; a ConfigError names one that is not there or of another type.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;  ///< integers and booleans too
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] const Permutation& order(std::string_view name) const;

  /// The value, or null where there is no such tunable.
  [[nodiscard]] const Value* find(std::string_view name) const noexcept;
};

}  // namespace kernelsearch
