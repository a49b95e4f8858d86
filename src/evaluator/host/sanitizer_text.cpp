// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/sanitizer_text.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace kernelsearch::detail {
namespace {

/// What stands between `before` and the next of `ends`; nothing where `before` is missing.
std::optional<std::string> after(const std::string& text, std::string_view before, const char* ends) {
  const auto begin = text.find(before);
  if (begin == std::string::npos) return std::nullopt;
  const auto from = begin + before.size();
  return text.substr(from, text.find_first_of(ends, from) - from);
}

/// The compiler works in /tmp of the sandbox, which is nobody's source folder.
std::string in_problem(std::string place) {
  constexpr std::string_view folder = "/tmp/";
  if (place.starts_with(folder)) place.erase(0, folder.size());
  return place;
}

/// `file:line` of a stack frame; empty for frames of libraries, of our own code, and of unknown places.
std::string place_of(const std::string& frame) {
  const auto blank = frame.rfind(' ');
  if (blank == std::string::npos) return {};
  std::string place = in_problem(frame.substr(blank + 1));
  const auto colon = place.find(':');
  const bool numbered = colon != std::string::npos && colon + 1 < place.size() && place[colon + 1] >= '0' &&
                        place[colon + 1] <= '9';
  if (!numbered || place.starts_with("/usr/") || place.starts_with("kernelsearch_") ||
      place.find("libsanitizer") != std::string::npos || place.find("compiler-rt") != std::string::npos ||
      place.find("../sysdeps") != std::string::npos)
    return {};
  return place.substr(0, place.find(':', colon + 1));
}

}  // namespace

std::optional<MemoryFault> read_memory_fault(const std::string& text) {
  constexpr std::string_view title = "ERROR: AddressSanitizer: ";
  const auto begin = text.find(title);
  if (begin == std::string::npos) return std::nullopt;
  std::istringstream lines(text.substr(begin));
  MemoryFault fault;
  std::string line;
  std::getline(lines, line);
  fault.kind = after(line, title, " \n").value_or("");
  if (const auto address = after(line, "address 0x", " ,()"))
    fault.address = std::strtoull(address->c_str(), nullptr, 16);
  while (std::getline(lines, line)) {
    for (const char* access : {"READ of size ", "WRITE of size "})
      if (const auto size = after(line, access, " ")) {
        fault.write = *access == 'W';
        fault.bytes = std::strtoull(size->c_str(), nullptr, 10);
      }
    if (line.find("The signal is caused by a WRITE") != std::string::npos) fault.write = true;
    const bool frame = line.find("    #") == 0;
    if (frame && fault.place.empty()) fault.place = place_of(line);
    // the first stack is that of the access, those after it say where memory was allocated
    if (line.empty()) break;
  }
  return fault;
}

std::vector<UndefinedBehaviour> read_undefined_behaviour(const std::string& text) {
  constexpr std::string_view mark = ": runtime error: ";
  std::istringstream lines(text);
  std::vector<UndefinedBehaviour> all;
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(mark);
    if (at == std::string::npos) continue;
    std::string place = in_problem(line.substr(0, at));
    if (const auto colon = place.rfind(':'); colon != std::string::npos && place.find(':') != colon)
      place.resize(colon);  // the column
    const auto same = [&](const UndefinedBehaviour& other) { return other.place == place; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back({place, line.substr(at + mark.size())});
  }
  return all;
}

}  // namespace kernelsearch::detail
