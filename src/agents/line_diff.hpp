// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch::detail {

/// The lines that only one of the texts has, `-` before those of the first and `+` before those of the
/// second, by a longest common subsequence; texts of kernels are short. Empty where the texts are equal.
inline std::string line_diff(std::string_view first, std::string_view second) {
  const auto lines_of = [](std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      lines.push_back(text.substr(0, end));
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return lines;
  };
  const std::vector<std::string_view> a = lines_of(first), b = lines_of(second);
  std::size_t begin = 0, end_a = a.size(), end_b = b.size();
  while (begin < std::min(end_a, end_b) && a[begin] == b[begin]) ++begin;
  while (end_a > begin && end_b > begin && a[end_a - 1] == b[end_b - 1]) --end_a, --end_b;

  std::string diff;
  const auto line = [&diff](char sign, std::string_view text) { ((diff += sign) += text) += '\n'; };
  const std::size_t rows = end_a - begin, columns = end_b - begin;
  constexpr std::size_t largest = std::size_t{1} << 22;  // cells; beyond it all lines in between are shown
  if (rows != 0 && columns > largest / rows) {
    for (std::size_t i = begin; i < end_a; ++i) line('-', a[i]);
    for (std::size_t j = begin; j < end_b; ++j) line('+', b[j]);
    return diff;
  }
  // common[i][j]: length of what a[i..] and b[j..] have in common.
  std::vector<std::uint32_t> common((rows + 1) * (columns + 1));
  const auto cell = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
    return common[i * (columns + 1) + j];
  };
  for (std::size_t i = rows; i-- > 0;)
    for (std::size_t j = columns; j-- > 0;)
      cell(i, j) =
          a[begin + i] == b[begin + j] ? cell(i + 1, j + 1) + 1 : std::max(cell(i + 1, j), cell(i, j + 1));
  std::size_t i = 0, j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && a[begin + i] == b[begin + j])
      ++i, ++j;
    else if (j == columns || (i < rows && cell(i + 1, j) >= cell(i, j + 1)))
      line('-', a[begin + i++]);
    else
      line('+', b[begin + j++]);
  }
  return diff;
}

}  // namespace kernelsearch::detail
