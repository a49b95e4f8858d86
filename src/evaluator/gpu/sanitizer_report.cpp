// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/sanitizer_report.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch {
namespace {

constexpr std::string_view mark = "=========";

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The number before `word`, as in "(1 error, 0 warnings)".
std::optional<std::uint64_t> count_before(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] == ' ') --begin;
  const std::size_t end = begin;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0) --begin;
  if (begin == end || end - begin > 18) return std::nullopt;
  std::uint64_t count = 0;
  for (const char c : line.substr(begin, end - begin))
    count = 10 * count + static_cast<std::uint64_t>(c - '0');
  return count;
}

/// "kernel" of "at kernel(float *, int)+0x90" and "at 0x90 in file.cu:12:kernel(float *)".
std::string kernel_of(std::string_view place) {
  place = place.substr(0, place.find('('));
  place = place.substr(0, place.find("+0x"));
  if (const std::size_t colon = place.rfind(':'); colon != std::string_view::npos)
    place.remove_prefix(colon + 1);
  if (const std::size_t in = place.rfind(" in "); in != std::string_view::npos) place.remove_prefix(in + 4);
  return std::string(detail::trimmed(place));
}

std::string address_of(std::string_view line) {
  const std::size_t begin = line.find("0x");
  if (begin == std::string_view::npos) return {};
  std::size_t end = begin + 2;
  while (end < line.size() && std::isxdigit(static_cast<unsigned char>(line[end])) != 0) ++end;
  return std::string(line.substr(begin, end - begin));
}

/// Lines that say how it went and are not errors.
bool is_remark(std::string_view line) {
  for (const std::string_view begin :
       {"COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY", "LEAK SUMMARY", "Target application",
        "Warning", "Info", "Program hit", "No attachable process", "Process didn't terminate"})
    if (line.substr(0, begin.size()) == begin) return true;
  return false;
}

}  // namespace

SanitizerReport read_sanitizer_log(std::string_view text) {
  SanitizerReport report;
  bool in_first = false, raced = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.substr(0, mark.size()) != mark) continue;
    line.remove_prefix(mark.size());
    const bool belongs = line.substr(0, 4) == "    ";
    line = detail::trimmed(line);
    if (line.substr(0, 14) == "ERROR SUMMARY:") {
      report.complete = true;
      // A second line says how many of them were not printed.
      if (!raced && !contains(line, "not printed")) report.errors = count_before(line, "error").value_or(0);
    } else if (line.substr(0, 18) == "RACECHECK SUMMARY:") {
      report.complete = raced = true;
      report.errors = count_before(line, "error").value_or(0);
    }
    if (!belongs) {
      in_first = report.first.empty() && !line.empty() && !is_remark(line);
      if (in_first) {
        report.first = line;
        // racecheck says where on the first line
        if (const std::size_t at = line.find(" access at "); at != std::string_view::npos)
          report.kernel = kernel_of(line.substr(at + 11));
      }
      continue;
    }
    if (!in_first) continue;
    if (contains(line, "host backtrace") || contains(line, "Host Frame") || contains(line, "Device Frame")) {
      in_first = false;
      continue;
    }
    report.first += ' ';
    report.first += line;
    if (report.kernel.empty() && line.substr(0, 3) == "at ") report.kernel = kernel_of(line.substr(3));
    if (report.address.empty() && (line.substr(0, 7) == "Access " || line.substr(0, 8) == "Address "))
      report.address = address_of(line);
  }
  if (report.complete && report.errors == 0) {
    report.first.clear();
    report.kernel.clear();
    report.address.clear();
  }
  return report;
}

}  // namespace kernelsearch
