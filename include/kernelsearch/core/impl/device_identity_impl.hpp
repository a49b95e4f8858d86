// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#if __has_include(<sys/utsname.h>)  // not on Windows
#  include <sys/utsname.h>
#endif

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "kernelsearch/core/device_identity.hpp"

namespace kernelsearch {
namespace detail {

inline std::string_view without_prefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix ? text.substr(prefix.size()) : std::string_view{};
}

/// Whether a part between commas says how a run had the device rather than which one it is.
inline bool is_circumstance(std::string_view part) {
  if (!without_prefix(part, "governor ").empty()) return true;
  const auto is_number = [](std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (is_number(without_prefix(part, "driver "))) return true;
  const std::size_t blank = part.find(' ');
  if (blank == std::string_view::npos || !is_number(part.substr(0, blank))) return false;
  return part.substr(blank) == " core" || part.substr(blank) == " cores";
}

}  // namespace detail

KERNELSEARCH_INLINE std::string processor_identity() {
  std::ifstream file("/proc/cpuinfo");
  std::string arm;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    const std::size_t at = colon == std::string::npos ? colon : line.find_first_not_of(": \t", colon);
    if (at == std::string::npos) continue;
    const std::string value = line.substr(at, line.find_last_not_of(" \t") + 1 - at);
    // x86 gives a name; Arm gives numbers, of which part and implementer tell designs apart
    if (line.rfind("model name", 0) == 0) return value;
    if (line.rfind("CPU implementer", 0) == 0) arm = "Arm " + value;
    if (line.rfind("CPU part", 0) == 0 && !arm.empty()) return arm + " " + value;
  }
  if (!arm.empty()) return arm;
#if __has_include(<sys/utsname.h>)
  utsname system{};
  if (uname(&system) == 0) return system.machine;
#endif
  return "unknown processor";
}

KERNELSEARCH_INLINE std::string device_identity(std::string_view spelled) {
  for (;;) {
    while (!spelled.empty() && spelled.back() == ' ') spelled.remove_suffix(1);
    const std::size_t comma = spelled.rfind(", ");
    if (comma == std::string_view::npos || comma == 0 || !detail::is_circumstance(spelled.substr(comma + 2)))
      return std::string(spelled);
    spelled = spelled.substr(0, comma);
  }
}

KERNELSEARCH_INLINE bool same_device(std::string_view one, std::string_view other) {
  return device_identity(one) == device_identity(other);
}

}  // namespace kernelsearch
