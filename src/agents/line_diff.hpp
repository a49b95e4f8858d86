// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/lines.hpp"

namespace kernelsearch::detail {

/// A line of two texts: `-` where only the first has it, `+` only the second, a blank where both do.
struct LineEdit {
  char sign;
  std::string_view text;
};

/// All lines of both texts, in order, by a longest common subsequence; texts of kernels are short.
inline std::vector<LineEdit> line_edits(std::string_view first, std::string_view second) {
  const std::vector<std::string_view> a = lines_of(first), b = lines_of(second);
  std::size_t begin = 0, end_a = a.size(), end_b = b.size();
  while (begin < std::min(end_a, end_b) && a[begin] == b[begin]) ++begin;
  while (end_a > begin && end_b > begin && a[end_a - 1] == b[end_b - 1]) --end_a, --end_b;

  std::vector<LineEdit> edits;
  const auto line = [&edits](char sign, std::string_view text) { edits.push_back({sign, text}); };
  for (std::size_t i = 0; i < begin; ++i) line(' ', a[i]);
  const std::size_t rows = end_a - begin, columns = end_b - begin;
  constexpr std::size_t largest = std::size_t{1} << 22;  // cells; beyond it all lines in between are shown
  if (rows != 0 && columns > largest / rows) {
    for (std::size_t i = begin; i < end_a; ++i) line('-', a[i]);
    for (std::size_t j = begin; j < end_b; ++j) line('+', b[j]);
  } else {
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
      if (i < rows && j < columns && a[begin + i] == b[begin + j]) {
        line(' ', a[begin + i]);
        ++i, ++j;
      } else if (j == columns || (i < rows && cell(i + 1, j) >= cell(i, j + 1))) {
        line('-', a[begin + i++]);
      } else {
        line('+', b[begin + j++]);
      }
    }
  }
  for (std::size_t i = end_a; i < a.size(); ++i) line(' ', a[i]);
  return edits;
}

/// The lines that only one of the texts has, `-` before those of the first and `+` before those of the
/// second. Empty where the texts are equal.
inline std::string line_diff(std::string_view first, std::string_view second) {
  std::string diff;
  for (const LineEdit& edit : line_edits(first, second))
    if (edit.sign != ' ') ((diff += edit.sign) += edit.text) += '\n';
  return diff;
}

}  // namespace kernelsearch::detail
