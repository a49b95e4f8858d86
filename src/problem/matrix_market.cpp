// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matrix_market.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

namespace kernelsearch::detail {
namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 40;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<SparseMatrix, std::string> run() {
    if (!next_line()) return fault("is empty");
    if (auto wrong = read_banner()) return fault(*wrong);
    do {
      if (!next_line()) return fault("ends before the sizes");
    } while (line_.empty() || line_.front() == '%');
    SparseMatrix matrix;
    const auto rows = whole(), columns = whole(), count = whole();
    if (!rows || !columns || !count || !word().empty())
      return fault("is not a line of rows, columns and entries");
    if (*rows < 0 || *columns < 0 || *count < 0 || *rows > most_rows || *columns > most_rows)
      return fault("has sizes out of range");
    if (mirrored_ && *rows != *columns) return fault("says that a symmetric matrix is not square");
    // an entry takes four characters at least, so a false count costs no memory
    if (static_cast<std::uint64_t>(*count) > text_.size() / 4 + 1)
      return fault("promises more entries than follow");
    matrix.rows = *rows;
    matrix.columns = *columns;
    matrix.entries.reserve(static_cast<std::size_t>(*count) * (mirrored_ ? 2 : 1));
    for (std::int64_t i = 0; i < *count; ++i) {
      do {
        if (!next_line())
          return fault("ends after " + std::to_string(i) + " of " + std::to_string(*count) + " entries");
      } while (line_.empty() || line_.front() == '%');
      if (auto wrong = read_entry(matrix)) return fault(*wrong);
    }
    while (next_line())
      if (!word().empty()) return fault("follows the last entry");
    std::stable_sort(matrix.entries.begin(), matrix.entries.end(),
                     [](const SparseMatrix::Entry& a, const SparseMatrix::Entry& b) {
                       return a.row != b.row ? a.row < b.row : a.column < b.column;
                     });
    return matrix;
  }

 private:
  std::string fault(const std::string& what) const { return "line " + std::to_string(number_) + " " + what; }

  bool next_line() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = text_.substr(at_, end - at_);
    while (!line_.empty() && blank(line_.back())) line_.remove_suffix(1);
    while (!line_.empty() && blank(line_.front())) line_.remove_prefix(1);
    at_ = end + 1;
    ++number_;
    return true;
  }

  static bool blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

  std::string_view word() {
    while (!line_.empty() && blank(line_.front())) line_.remove_prefix(1);
    std::size_t end = 0;
    while (end < line_.size() && !blank(line_[end])) ++end;
    const std::string_view result = line_.substr(0, end);
    line_.remove_prefix(end);
    return result;
  }

  std::string lower_word() {
    std::string result(word());
    for (char& c : result)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
  }

  std::optional<std::int64_t> whole() {
    const std::string_view text = word();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  }

  std::optional<double> real() {
    std::string_view text = word();
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
      return std::nullopt;
    return value;
  }

  std::optional<std::string> read_banner() {
    if (lower_word() != "%%matrixmarket")
      return "is not the first line of a Matrix Market file: %%MatrixMarket ...";
    if (lower_word() != "matrix") return "describes no matrix";
    if (const std::string form = lower_word(); form != "coordinate")
      return "has the form \"" + form + "\": only coordinate (sparse) matrices can be read";
    const std::string field = lower_word();
    if (field != "real" && field != "integer" && field != "pattern")
      return "has the field \"" + field + "\": real, integer and pattern can be read";
    pattern_ = field == "pattern";
    const std::string symmetry = lower_word();
    if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
      return "has the symmetry \"" + symmetry + "\": general, symmetric and skew-symmetric can be read";
    mirrored_ = symmetry != "general";
    sign_ = symmetry == "skew-symmetric" ? -1.0 : 1.0;
    return std::nullopt;
  }

  std::optional<std::string> read_entry(SparseMatrix& matrix) {
    const auto row = whole(), column = whole();
    if (!row || !column) return "has no row and column";
    if (*row < 1 || *row > matrix.rows || *column < 1 || *column > matrix.columns)
      return "is outside of the matrix: rows and columns count from 1";
    SparseMatrix::Entry entry{*row - 1, *column - 1, 1.0};
    if (!pattern_) {
      const auto value = real();
      if (!value) return "has no value that is a finite number";
      entry.value = *value;
    }
    if (!word().empty()) return "has more than an entry";
    matrix.entries.push_back(entry);
    if (mirrored_ && entry.row != entry.column)
      matrix.entries.push_back({entry.column, entry.row, sign_ * entry.value});
    return std::nullopt;
  }

  std::string_view text_, line_;
  std::size_t at_ = 0, number_ = 0;
  bool pattern_ = false, mirrored_ = false;
  double sign_ = 1.0;
};

}  // namespace

Result<SparseMatrix, std::string> try_matrix_market(std::string_view text) {
  return Reader(text).run();
}

}  // namespace kernelsearch::detail
