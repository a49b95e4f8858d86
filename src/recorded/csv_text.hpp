// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/value.hpp"
#include "raw_recording.hpp"

namespace kernelsearch::recorded {

/// Splits RFC 4180 text into records; a record that the text ends in is left out.
class CsvText {
 public:
  explicit CsvText(std::string_view text) : text_(text) {}

  /// The fields of the next record; false at the end.
  bool next(std::vector<std::string>& fields);
  /// Where the record begins that was read last.
  [[nodiscard]] std::size_t line() const noexcept { return line_; }
  /// Whether the text ended within a record.
  [[nodiscard]] bool cut() const noexcept { return cut_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0, line_ = 1, next_line_ = 1;
  bool cut_ = false;
};

/// The number that a field is, or `otherwise`.
[[nodiscard]] double csv_number(const std::string& text, double otherwise);
/// The number that a value is, also as a text; else NaN.
[[nodiscard]] inline double csv_number(const Value& value) {
  return csv_number(to_string(value), std::numeric_limits<double>::quiet_NaN());
}

/// A value from how `to_string` writes it. Texts that look like numbers become numbers; `assemble` matches
/// them with a declared space.
[[nodiscard]] Value csv_value(const std::string& text);

/// The fields of a record by the names of their columns.
class CsvRow {
 public:
  CsvRow(const std::vector<std::string>& header, const std::vector<std::string>& fields)
      : header_(header), fields_(fields) {}
  /// Empty where there is no such column.
  [[nodiscard]] std::string text(std::string_view column) const;
  [[nodiscard]] double number(std::string_view column, double otherwise = 0) const {
    return csv_number(text(column), otherwise);
  }

 private:
  const std::vector<std::string>& header_;
  const std::vector<std::string>& fields_;
};

/// Calls `use(row, header, fields, line)` for each record below the header, and `refuse(line, what)`, which
/// raises, for a table without records or a record of another number of fields. Blank lines are skipped.
/// Whether the text ended within a record, which is left out.
template <class Refuse, class Use>
bool each_csv_row(std::string_view text, Refuse&& refuse, Use&& use) {
  CsvText csv(text);
  std::vector<std::string> header, fields;
  if (!csv.next(header)) refuse(std::size_t{1}, "there are no lines below the header");
  while (csv.next(fields)) {
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (fields.size() != header.size())
      refuse(csv.line(), counted(fields.size(), "field") + " below " + counted(header.size(), "column"));
    use(CsvRow(header, fields), header, fields, csv.line());
  }
  return csv.cut();
}

}  // namespace kernelsearch::recorded
