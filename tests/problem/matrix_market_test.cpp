// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem/matrix_market.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/core/rng.hpp"

using kernelsearch::Rng;
using kernelsearch::detail::SparseMatrix;
using kernelsearch::detail::try_matrix_market;

namespace {

/// `row,column,value` of all entries.
std::string entries(const std::string& text) {
  const auto matrix = try_matrix_market(text);
  if (!matrix) return matrix.error();
  std::string all;
  for (const auto& entry : matrix->entries)
    all += std::to_string(entry.row) + "," + std::to_string(entry.column) + "," +
           std::to_string(static_cast<int>(entry.value)) + " ";
  return all;
}

const std::string real = "%%MatrixMarket matrix coordinate real general\n";

}  // namespace

TEST_CASE("Matrix Market: entries come by row, then column") {
  const std::string text = real + "% a comment\n\n3 4 4\n3 1 5\n1 4 -2.0e0\n% in between\n1 2 +3\n3 1 6\n\n";
  const auto matrix = try_matrix_market(text);
  REQUIRE(matrix);
  CHECK(matrix->rows == 3);
  CHECK(matrix->columns == 4);
  CHECK(entries(text) == "0,1,3 0,3,-2 2,0,5 2,0,6 ");
}

TEST_CASE("Matrix Market: symmetric ones have both halves, patterns have ones") {
  CHECK(entries("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n2 1 7\n2 2 1\n") ==
        "0,1,7 1,0,7 1,1,1 ");
  CHECK(entries("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 7\n") == "0,1,-7 1,0,7 ");
  CHECK(entries("%%matrixmarket MATRIX Coordinate Pattern General\r\n2 2 1\r\n2 1\r\n") == "1,0,1 ");
  CHECK(entries(real + "0 0 0\n") == "");
}

TEST_CASE("Matrix Market: what is wrong is named with its line") {
  const std::pair<std::string, std::string> wrong[] = {
      {"", "line 0 is empty"},
      {"1 1 1\n", "line 1 is not the first line of a Matrix Market file"},
      {"%%MatrixMarket matrix array real general\n2 2\n", "\"array\": only coordinate"},
      {"%%MatrixMarket matrix coordinate complex general\n", "field \"complex\""},
      {"%%MatrixMarket matrix coordinate real hermitian\n", "symmetry \"hermitian\""},
      {real, "ends before the sizes"},
      {real + "2 2\n", "line 2 is not a line of rows, columns and entries"},
      {real + "2 2 -1\n", "out of range"},
      {real + "2 2 1000000000000\n", "promises more entries than follow"},
      {real + "2 2 2\n1 1 1\n", "ends after 1 of 2 entries"},
      {real + "2 2 1\n3 1 1\n", "line 3 is outside of the matrix"},
      {real + "2 2 1\n0 1 1\n", "line 3 is outside of the matrix"},
      {real + "2 2 1\n1 1 x\n", "no value that is a finite number"},
      {real + "2 2 1\n1 1 nan\n", "no value that is a finite number"},
      {real + "2 2 1\n1 1 1 1\n", "more than an entry"},
      {real + "2 2 1\n1 1 1\n2 2 2\n", "line 4 follows the last entry"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", "not square"},
  };
  for (const auto& one : wrong) {
    const auto &text = one.first, &words = one.second;
    CAPTURE(text);
    const auto matrix = try_matrix_market(text);
    REQUIRE_FALSE(matrix);
    CHECK(matrix.error().find(words) != std::string::npos);
  }
}

TEST_CASE("Matrix Market: mutated texts give matrices whose entries lie inside, or an error") {
  Rng rng(14);
  const std::string text = real + "5 4 6\n1 1 1\n2 1 0.5\n5 4 -3\n3 3 1e3\n4 2 2\n2 4 7\n";
  int read = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string changed = text;
    for (std::uint64_t edits = 1 + rng.below(3); edits-- > 0;) {
      const std::size_t at = rng.below(changed.size());
      if (rng.chance(0.3))
        changed.erase(at, 1 + rng.below(4));
      else
        changed[at] = "0123456789 -\n%.e"[rng.below(16)];
      if (changed.empty()) changed = "x";
    }
    CAPTURE(changed);
    const auto matrix = try_matrix_market(changed);
    if (!matrix) continue;
    ++read;
    std::int64_t row = 0;
    for (const auto& entry : matrix->entries) {
      CHECK(entry.row >= row);
      CHECK(entry.row < matrix->rows);
      CHECK((entry.column >= 0 && entry.column < matrix->columns));
      row = entry.row;
    }
  }
  CHECK(read > 100);
}
