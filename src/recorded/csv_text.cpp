// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "csv_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace kernelsearch::recorded {

bool CsvText::next(std::vector<std::string>& fields) {
  fields.assign(1, "");
  line_ = next_line_;
  bool quoted = false, any = false;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    any = true;
    if (c == '\n') ++next_line_;
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        fields.back() += '"';
        ++at_;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      ++at_;
      return true;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  cut_ = any;
  return false;
}

double csv_number(const std::string& text, double otherwise) {
  double number = otherwise;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : otherwise;
}

Value csv_value(const std::string& text) {
  if (text == "true" || text == "false") return Value(text == "true");
  std::int64_t whole = 0;
  const char* const last = text.data() + text.size();
  if (const auto [end, error] = std::from_chars(text.data(), last, whole);
      error == std::errc{} && end == last)
    return Value(whole);
  double number = 0;
  if (const auto [end, error] = std::from_chars(text.data(), last, number);
      error == std::errc{} && end == last)
    return Value(number);
  return Value(text);
}

std::string CsvRow::text(std::string_view column) const {
  const auto found = std::find(header_.begin(), header_.end(), column);
  const auto at = static_cast<std::size_t>(found - header_.begin());
  return at < fields_.size() ? fields_[at] : std::string();
}

}  // namespace kernelsearch::recorded
