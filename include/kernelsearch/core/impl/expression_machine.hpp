// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernelsearch/core/impl/expression_data.hpp"

namespace kernelsearch::detail {

/// A value on the evaluation stack. Strings, lists and ranges live in the machine, by number.
struct ExprCell {
  enum class Kind : std::uint8_t { boolean, integer, real, string, list, range } kind = Kind::integer;
  union {
    std::int64_t integer = 0;  // boolean too; the number of a string, list or range
    double real;
  };

  static ExprCell of(bool value) { return make(Kind::boolean, value ? 1 : 0); }
  static ExprCell of(std::int64_t value) { return make(Kind::integer, value); }
  static ExprCell of(double value) {
    ExprCell cell;
    cell.kind = Kind::real;
    cell.real = value;
    return cell;
  }
  static ExprCell make(Kind kind, std::int64_t value) {
    ExprCell cell;
    cell.kind = kind;
    cell.integer = value;
    return cell;
  }
  [[nodiscard]] bool whole() const noexcept { return kind == Kind::boolean || kind == Kind::integer; }
  [[nodiscard]] bool number() const noexcept { return kind <= Kind::real; }
  [[nodiscard]] double as_real() const noexcept {
    return kind == Kind::real ? real : static_cast<double>(integer);
  }
};

struct ExprRange {
  std::int64_t start = 0, step = 1, count = 0;
  [[nodiscard]] std::int64_t at(std::int64_t i) const noexcept { return start + i * step; }
};

/// Runs one program once. Reports the first fault instead of raising: a constraint may fail for some points.
class ExprMachine {
 public:
  explicit ExprMachine(const ExpressionData& data) : data_(data) {}

  /// Runs with the values that `load(slot)` gives; the result is valid while the machine lives.
  template <class Load>
  bool run(const Load& load, ExprCell& result);

  [[nodiscard]] ExprCell cell(const Value& value);
  [[nodiscard]] bool truth(const ExprCell& cell) const noexcept;
  /// The value; lists of integers become a Permutation, other lists a fault.
  std::optional<Value> value(const ExprCell& cell);
  std::optional<std::vector<Value>> values(const ExprCell& cell);
  [[nodiscard]] std::string fault_text() const;

 private:
  using Kind = ExprCell::Kind;

  bool fault(ExprFault what) {
    if (fault_ == ExprFault::none) fault_ = what;
    return false;
  }
  bool spend(std::size_t cells) {
    cells_ += cells;
    return cells_ <= ExprLimits::cells || fault(ExprFault::memory);
  }

  bool binary(ExprOp op, const ExprCell& a, const ExprCell& b, ExprCell& out);
  bool integer_binary(ExprOp op, std::int64_t a, std::int64_t b, ExprCell& out);
  bool real_binary(ExprOp op, double a, double b, ExprCell& out);
  bool sequence_binary(ExprOp op, const ExprCell& a, const ExprCell& b, ExprCell& out);
  bool unary(ExprOp op, const ExprCell& a, ExprCell& out);
  /// The order of two numbers, integers against floats exactly; false where one is not a number.
  static bool compare(const ExprCell& a, const ExprCell& b, int& order) noexcept;
  static bool holds(ExprOp op, int order) noexcept;
  bool equal(const ExprCell& a, const ExprCell& b, bool& same);
  bool contains(const ExprCell& item, const ExprCell& sequence, bool& found);
  bool call(ExprFunction function, std::span<const ExprCell> args, ExprCell& out);
  bool extreme(ExprFunction function, std::span<const ExprCell> args, ExprCell& out);
  bool make_range(std::span<const ExprCell> args, ExprCell& out);
  bool round(std::span<const ExprCell> args, ExprCell& out);
  bool convert(ExprFunction function, const ExprCell& value, ExprCell& out);
  bool at(const ExprCell& sequence, const ExprCell& position, ExprCell& out);
  bool length(const ExprCell& sequence, std::int64_t& count);
  bool element(const ExprCell& sequence, std::int64_t i, ExprCell& out);
  bool new_list(std::vector<ExprCell> items, ExprCell& out);
  bool new_string(std::string text, ExprCell& out);
  bool to_list(const ExprCell& sequence, ExprCell& out);

  const ExpressionData& data_;
  ExprFault fault_ = ExprFault::none;
  std::uint32_t fault_position_ = 0;
  std::uint64_t steps_ = 0;
  std::size_t cells_ = 0;
  std::vector<std::string> strings_;
  std::vector<std::vector<ExprCell>> lists_;
  std::vector<ExprRange> ranges_;
};

}  // namespace kernelsearch::detail
