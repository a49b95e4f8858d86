// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "kernelsearch/core/impl/expression_machine.hpp"

namespace kernelsearch::detail {

inline bool ExprMachine::new_list(std::vector<ExprCell> items, ExprCell& out) {
  if (!spend(items.size() + 1)) return false;
  lists_.push_back(std::move(items));
  out = ExprCell::make(Kind::list, static_cast<std::int64_t>(lists_.size() - 1));
  return true;
}

inline bool ExprMachine::new_string(std::string text, ExprCell& out) {
  if (!spend(text.size() / sizeof(ExprCell) + 1)) return false;
  strings_.push_back(std::move(text));
  out = ExprCell::make(Kind::string, static_cast<std::int64_t>(strings_.size() - 1));
  return true;
}

inline ExprCell ExprMachine::cell(const Value& value) {
  ExprCell out;
  if (const auto* b = std::get_if<bool>(&value)) return ExprCell::of(*b);
  if (const auto* i = std::get_if<std::int64_t>(&value)) return ExprCell::of(*i);
  if (const auto* d = std::get_if<double>(&value)) return ExprCell::of(*d);
  if (const auto* s = std::get_if<std::string>(&value)) {
    new_string(*s, out);
    return out;
  }
  std::vector<ExprCell> items;
  for (const std::int64_t i : std::get<Permutation>(value)) items.push_back(ExprCell::of(i));
  new_list(std::move(items), out);
  return out;
}

inline bool ExprMachine::length(const ExprCell& sequence, std::int64_t& count) {
  const auto index = static_cast<std::size_t>(sequence.integer);
  switch (sequence.kind) {
    case Kind::list:
      count = static_cast<std::int64_t>(lists_[index].size());
      return true;
    case Kind::string:
      count = static_cast<std::int64_t>(strings_[index].size());
      return true;
    case Kind::range:
      count = ranges_[index].count;
      return true;
    default:
      return fault(ExprFault::types);
  }
}

inline bool ExprMachine::element(const ExprCell& sequence, std::int64_t i, ExprCell& out) {
  const auto index = static_cast<std::size_t>(sequence.integer);
  switch (sequence.kind) {
    case Kind::list:
      out = lists_[index][static_cast<std::size_t>(i)];
      return true;
    case Kind::range:
      out = ExprCell::of(ranges_[index].at(i));
      return true;
    default:
      return new_string(std::string(1, strings_[index][static_cast<std::size_t>(i)]), out);
  }
}

inline bool ExprMachine::at(const ExprCell& sequence, const ExprCell& position, ExprCell& out) {
  std::int64_t count = 0;
  if (!length(sequence, count)) return false;
  if (!position.whole()) return fault(ExprFault::types);
  const std::int64_t i = position.integer < 0 ? position.integer + count : position.integer;
  if (i < 0 || i >= count) return fault(ExprFault::range_of_index);
  return element(sequence, i, out);
}

inline bool ExprMachine::compare(const ExprCell& a, const ExprCell& b, int& order) noexcept {
  // 64 bits of mantissa at least: exact for every integer, unlike double
  const auto wide = [](const ExprCell& cell) {
    return cell.kind == Kind::real ? static_cast<long double>(cell.real)
                                   : static_cast<long double>(cell.integer);
  };
  if (a.whole() && b.whole()) {
    order = a.integer < b.integer ? -1 : a.integer > b.integer ? 1 : 0;
    return true;
  }
  const long double x = wide(a), y = wide(b);
  order = x < y ? -1 : x > y ? 1 : 0;
  return x == x && y == y;
}

inline bool ExprMachine::holds(ExprOp op, int order) noexcept {
  switch (op) {
    case ExprOp::less:
      return order < 0;
    case ExprOp::less_equal:
      return order <= 0;
    case ExprOp::greater:
      return order > 0;
    case ExprOp::greater_equal:
      return order >= 0;
    case ExprOp::equal:
      return order == 0;
    default:
      return order != 0;
  }
}

inline bool ExprMachine::equal(const ExprCell& a, const ExprCell& b, bool& same) {
  same = false;
  int order = 0;
  if (a.number() && b.number()) {
    same = compare(a, b, order) && order == 0;
    return true;
  }
  if (a.number() != b.number() || (a.kind == Kind::string) != (b.kind == Kind::string)) return true;
  if (a.kind == Kind::string) {
    same = strings_[static_cast<std::size_t>(a.integer)] == strings_[static_cast<std::size_t>(b.integer)];
    return true;
  }
  std::int64_t count = 0, other = 0;
  length(a, count);
  length(b, other);
  if (count != other) return true;
  for (std::int64_t i = 0; i < count;
       ++i) {  // lists hold scalars or lists of scalars; depth is that of the text
    ExprCell x, y;
    element(a, i, x);
    element(b, i, y);
    if (++steps_ > ExprLimits::steps) return fault(ExprFault::steps);
    bool equal_items = false;
    if (!equal(x, y, equal_items)) return false;
    if (!equal_items) return true;
  }
  same = true;
  return true;
}

inline bool ExprMachine::contains(const ExprCell& item, const ExprCell& sequence, bool& found) {
  found = false;
  const auto index = static_cast<std::size_t>(sequence.integer);
  if (sequence.kind == Kind::string) {
    if (item.kind != Kind::string) return fault(ExprFault::types);
    found = strings_[index].find(strings_[static_cast<std::size_t>(item.integer)]) != std::string::npos;
    return true;
  }
  if (sequence.kind == Kind::range && item.whole()) {
    const ExprRange& range = ranges_[index];
    if (range.count == 0) return true;
    const std::int64_t low = std::min(range.start, range.at(range.count - 1));
    const std::int64_t high = std::max(range.start, range.at(range.count - 1));
    if (item.integer < low || item.integer > high) return true;
    const auto distance = static_cast<std::uint64_t>(item.integer) - static_cast<std::uint64_t>(low);
    const auto step =
        range.step > 0 ? static_cast<std::uint64_t>(range.step) : 0 - static_cast<std::uint64_t>(range.step);
    found = distance % step == 0;
    return true;
  }
  std::int64_t count = 0;
  if (!length(sequence, count)) return false;
  for (std::int64_t i = 0; i < count && !found; ++i) {
    ExprCell candidate;
    element(sequence, i, candidate);
    if (++steps_ > ExprLimits::steps) return fault(ExprFault::steps);
    if (!equal(item, candidate, found)) return false;
  }
  return true;
}

inline bool ExprMachine::sequence_binary(ExprOp op, const ExprCell& a, const ExprCell& b, ExprCell& out) {
  if (op == ExprOp::equal || op == ExprOp::not_equal) {
    bool same = false;
    if (!equal(a, b, same)) return false;
    out = ExprCell::of(same == (op == ExprOp::equal));
    return true;
  }
  if (a.kind == Kind::string && b.kind == Kind::string) {
    const std::string& x = strings_[static_cast<std::size_t>(a.integer)];
    const std::string& y = strings_[static_cast<std::size_t>(b.integer)];
    if (op == ExprOp::add) return spend((x.size() + y.size()) / sizeof(ExprCell)) && new_string(x + y, out);
    if (op >= ExprOp::less && op <= ExprOp::greater_equal) {
      out = ExprCell::of(holds(op, x.compare(y)));
      return true;
    }
    return fault(ExprFault::types);
  }
  if (op == ExprOp::add && a.kind == Kind::list && b.kind == Kind::list) {
    const auto& x = lists_[static_cast<std::size_t>(a.integer)];
    const auto& y = lists_[static_cast<std::size_t>(b.integer)];
    if (x.size() + y.size() > ExprLimits::cells) return fault(ExprFault::memory);
    std::vector<ExprCell> joined(x);
    joined.insert(joined.end(), y.begin(), y.end());
    return new_list(std::move(joined), out);
  }
  if (op == ExprOp::multiply && (a.kind == Kind::list || b.kind == Kind::list) && (a.whole() || b.whole())) {
    const std::vector<ExprCell> items =
        lists_[static_cast<std::size_t>(a.kind == Kind::list ? a.integer : b.integer)];
    const std::int64_t times = std::max<std::int64_t>(0, a.kind == Kind::list ? b.integer : a.integer);
    const auto limit = static_cast<std::int64_t>(ExprLimits::cells);
    if (times > limit || static_cast<std::int64_t>(items.size()) * times > limit)
      return fault(ExprFault::memory);
    std::vector<ExprCell> repeated;
    if (!items.empty()) {
      for (std::int64_t i = 0; i < times; ++i) repeated.insert(repeated.end(), items.begin(), items.end());
    }
    return new_list(std::move(repeated), out);
  }
  if (op == ExprOp::multiply && (a.kind == Kind::string || b.kind == Kind::string) &&
      (a.whole() || b.whole())) {
    const std::string text =
        strings_[static_cast<std::size_t>(a.kind == Kind::string ? a.integer : b.integer)];
    const std::int64_t times = std::max<std::int64_t>(0, a.kind == Kind::string ? b.integer : a.integer);
    const auto limit = static_cast<std::int64_t>(ExprLimits::cells);
    if (times > limit || static_cast<std::int64_t>(text.size()) * times > limit)
      return fault(ExprFault::memory);
    std::string repeated;
    for (std::int64_t i = 0; i < times; ++i) repeated += text;
    return new_string(std::move(repeated), out);
  }
  return fault(ExprFault::types);
}

inline bool ExprMachine::to_list(const ExprCell& sequence, ExprCell& out) {
  std::int64_t count = 0;
  if (!length(sequence, count)) return false;
  if (count > static_cast<std::int64_t>(ExprLimits::cells)) return fault(ExprFault::memory);
  std::vector<ExprCell> items(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    if (!element(sequence, i, items[static_cast<std::size_t>(i)])) return false;
  }
  steps_ += static_cast<std::uint64_t>(count);
  return new_list(std::move(items), out);
}

inline bool ExprMachine::make_range(std::span<const ExprCell> args, ExprCell& out) {
  for (const ExprCell& arg : args) {
    if (!arg.whole()) return fault(ExprFault::types);
  }
  ExprRange range;
  range.start = args.size() == 1 ? 0 : args[0].integer;
  const std::int64_t stop = args.size() == 1 ? args[0].integer : args[1].integer;
  range.step = args.size() == 3 ? args[2].integer : 1;
  if (range.step == 0) return fault(ExprFault::step_zero);
  // unsigned differences cannot overflow
  const auto u = [](std::int64_t i) { return static_cast<std::uint64_t>(i); };
  std::uint64_t count = 0;
  if (range.step > 0 && stop > range.start) count = (u(stop) - u(range.start) - 1) / u(range.step) + 1;
  if (range.step < 0 && stop < range.start) count = (u(range.start) - u(stop) - 1) / (0 - u(range.step)) + 1;
  if (count > u(std::numeric_limits<std::int64_t>::max())) return fault(ExprFault::overflow);
  range.count = static_cast<std::int64_t>(count);
  if (!spend(1)) return false;
  ranges_.push_back(range);
  out = ExprCell::make(Kind::range, static_cast<std::int64_t>(ranges_.size() - 1));
  return true;
}

inline bool ExprMachine::extreme(ExprFunction function, std::span<const ExprCell> args, ExprCell& out) {
  const bool over_list = args.size() == 1;
  std::int64_t count = static_cast<std::int64_t>(args.size());
  if (over_list && !length(args[0], count)) return false;
  if (count == 0) return fault(ExprFault::empty_sequence);
  for (std::int64_t i = 0; i < count; ++i) {
    ExprCell item;
    if (!over_list)
      item = args[static_cast<std::size_t>(i)];
    else if (!element(args[0], i, item))
      return false;
    if (++steps_ > ExprLimits::steps) return fault(ExprFault::steps);
    if (i == 0) {
      out = item;
      continue;
    }
    ExprCell better;
    if (!binary(function == ExprFunction::min ? ExprOp::less : ExprOp::greater, item, out, better))
      return false;
    if (better.integer != 0) out = item;
  }
  return true;
}

inline bool ExprMachine::round(std::span<const ExprCell> args, ExprCell& out) {
  if (!args[0].number() || (args.size() == 2 && !args[1].whole())) return fault(ExprFault::types);
  if (args[0].whole()) {
    if (args.size() == 2 && args[1].integer < 0)
      return fault(ExprFault::domain);  // rounding integers to tens
    out = ExprCell::of(args[0].integer);
    return true;
  }
  const double value = args[0].real;
  if (args.size() == 1) {
    const double rounded = std::nearbyint(value);  // half to even, as Python
    if (!(std::abs(rounded) < 0x1p63))
      return fault(std::isfinite(value) ? ExprFault::overflow : ExprFault::not_a_number);
    out = ExprCell::of(static_cast<std::int64_t>(rounded));
    return true;
  }
  const std::int64_t digits = args[1].integer;
  if (digits < 0) return fault(ExprFault::domain);
  if (!std::isfinite(value) || digits > 22 || std::abs(value) > 0x1p52) {
    out = args[0];
    return true;
  }
  char buffer[512];  // correctly rounded through the decimal text, as Python does
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed,
                                 static_cast<int>(digits));
  double rounded = value;
  std::from_chars(buffer, end.ptr, rounded);
  out = ExprCell::of(rounded);
  return true;
}

inline bool ExprMachine::convert(ExprFunction function, const ExprCell& value, ExprCell& out) {
  if (value.kind == Kind::string) {
    const std::string& text = strings_[static_cast<std::size_t>(value.integer)];
    const char* last = text.data() + text.size();
    std::int64_t whole = 0;
    double real = 0;
    const bool to_int = function == ExprFunction::to_int;
    const auto read =
        to_int ? std::from_chars(text.data(), last, whole) : std::from_chars(text.data(), last, real);
    if (read.ec != std::errc() || read.ptr != last) return fault(ExprFault::not_a_number);
    out = to_int ? ExprCell::of(whole) : ExprCell::of(real);
    return true;
  }
  if (!value.number()) return fault(ExprFault::types);
  if (function == ExprFunction::to_float) {
    out = ExprCell::of(value.as_real());
    return true;
  }
  if (value.kind != Kind::real) {
    out = ExprCell::of(value.integer);
    return true;
  }
  if (!std::isfinite(value.real)) return fault(ExprFault::not_a_number);
  if (!(std::abs(value.real) < 0x1p63)) return fault(ExprFault::overflow);
  out = ExprCell::of(static_cast<std::int64_t>(value.real));
  return true;
}

inline bool ExprMachine::call(ExprFunction function, std::span<const ExprCell> args, ExprCell& out) {
  switch (function) {
    case ExprFunction::min:
    case ExprFunction::max:
      return extreme(function, args, out);
    case ExprFunction::range:
      return make_range(args, out);
    case ExprFunction::round:
      return round(args, out);
    case ExprFunction::to_int:
    case ExprFunction::to_float:
      return convert(function, args[0], out);
    case ExprFunction::list:
    case ExprFunction::tuple:
      return args.empty() ? new_list({}, out) : to_list(args[0], out);
    case ExprFunction::len: {
      std::int64_t count = 0;
      if (!length(args[0], count)) return false;
      out = ExprCell::of(count);
      return true;
    }
    case ExprFunction::abs: {
      if (args[0].kind == Kind::real) {
        out = ExprCell::of(std::abs(args[0].real));
        return true;
      }
      return unary(args[0].integer < 0 ? ExprOp::negate : ExprOp::plus, args[0], out);
    }
    default:
      break;
  }
  std::int64_t count = 0;  // sum
  if (!length(args[0], count)) return false;
  if (args[0].kind == Kind::string || (args.size() == 2 && args[1].kind == Kind::string))
    return fault(ExprFault::types);
  out = args.size() == 2 ? args[1] : ExprCell::of(std::int64_t{0});
  for (std::int64_t i = 0; i < count; ++i) {
    ExprCell item, total;
    if (!element(args[0], i, item)) return false;
    if (++steps_ > ExprLimits::steps) return fault(ExprFault::steps);
    if (!binary(ExprOp::add, out, item, total)) return false;
    out = total;
  }
  return true;
}

}  // namespace kernelsearch::detail
