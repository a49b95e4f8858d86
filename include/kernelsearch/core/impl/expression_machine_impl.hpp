// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "kernelsearch/core/impl/expression_compiler_impl.hpp"
#include "kernelsearch/core/impl/expression_machine.hpp"
#include "kernelsearch/core/impl/expression_sequences_impl.hpp"

namespace kernelsearch::detail {

inline bool ExprMachine::truth(const ExprCell& cell) const noexcept {
  const auto index = static_cast<std::size_t>(cell.integer);
  switch (cell.kind) {
    case Kind::real:
      return cell.real != 0.0;
    case Kind::string:
      return !strings_[index].empty();
    case Kind::list:
      return !lists_[index].empty();
    case Kind::range:
      return ranges_[index].count != 0;
    default:
      return cell.integer != 0;
  }
}

/// Integer power by squaring; false on overflow.
inline bool checked_power(std::int64_t base, std::int64_t exponent, std::int64_t& out) noexcept {
  out = 1;
  for (;;) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(out, base, &out)) return false;
    exponent >>= 1;
    if (exponent == 0) return true;
    if (__builtin_mul_overflow(base, base, &base)) return false;
  }
}

inline bool ExprMachine::integer_binary(ExprOp op, std::int64_t a, std::int64_t b, ExprCell& out) {
  std::int64_t result = 0;
  bool overflow = false;
  switch (op) {
    case ExprOp::add:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case ExprOp::subtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case ExprOp::multiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case ExprOp::divide:
      if (b == 0) return fault(ExprFault::zero_division);
      out = ExprCell::of(static_cast<double>(a) / static_cast<double>(b));
      return true;
    case ExprOp::floor_divide:
    case ExprOp::modulo: {
      if (b == 0) return fault(ExprFault::zero_division);
      if (b == -1) {  // the one quotient that may overflow
        overflow = op == ExprOp::floor_divide && __builtin_sub_overflow(std::int64_t{0}, a, &result);
        break;
      }
      const std::int64_t rest = a % b;
      const bool adjust = rest != 0 && (rest < 0) != (b < 0);
      result = op == ExprOp::modulo ? (adjust ? rest + b : rest) : a / b - (adjust ? 1 : 0);
      break;
    }
    case ExprOp::power:
      if (b < 0) {
        if (a == 0) return fault(ExprFault::zero_division);
        out = ExprCell::of(std::pow(static_cast<double>(a), static_cast<double>(b)));
        return true;
      }
      overflow = !checked_power(a, b, result);
      break;
    case ExprOp::less:
      return out = ExprCell::of(a < b), true;
    case ExprOp::less_equal:
      return out = ExprCell::of(a <= b), true;
    case ExprOp::greater:
      return out = ExprCell::of(a > b), true;
    case ExprOp::greater_equal:
      return out = ExprCell::of(a >= b), true;
    case ExprOp::equal:
      return out = ExprCell::of(a == b), true;
    default:
      return out = ExprCell::of(a != b), true;
  }
  if (overflow) return fault(ExprFault::overflow);
  out = ExprCell::of(result);
  return true;
}

/// Python's float modulo: the sign of the divisor.
inline double real_modulo(double a, double b) noexcept {
  double rest = std::fmod(a, b);
  if (rest != 0.0) {
    if ((rest < 0.0) != (b < 0.0)) rest += b;
  } else {
    rest = std::copysign(0.0, b);
  }
  return rest;
}

inline bool ExprMachine::real_binary(ExprOp op, double a, double b, ExprCell& out) {
  double result = 0.0;
  switch (op) {
    case ExprOp::add:
      result = a + b;
      break;
    case ExprOp::subtract:
      result = a - b;
      break;
    case ExprOp::multiply:
      result = a * b;
      break;
    case ExprOp::divide:
      if (b == 0.0) return fault(ExprFault::zero_division);
      result = a / b;
      break;
    case ExprOp::floor_divide: {
      if (b == 0.0) return fault(ExprFault::zero_division);
      const double quotient = (a - real_modulo(a, b)) / b;  // as CPython: exact where a // b is an integer
      result = std::floor(quotient);
      if (quotient - result > 0.5) result += 1.0;
      break;
    }
    case ExprOp::modulo:
      if (b == 0.0) return fault(ExprFault::zero_division);
      result = real_modulo(a, b);
      break;
    case ExprOp::power:
      if (a == 0.0 && b < 0.0) return fault(ExprFault::zero_division);
      if (a < 0.0 && b != std::floor(b)) return fault(ExprFault::domain);
      result = std::pow(a, b);
      if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) return fault(ExprFault::overflow);
      break;
    case ExprOp::less:
      return out = ExprCell::of(a < b), true;
    case ExprOp::less_equal:
      return out = ExprCell::of(a <= b), true;
    case ExprOp::greater:
      return out = ExprCell::of(a > b), true;
    case ExprOp::greater_equal:
      return out = ExprCell::of(a >= b), true;
    case ExprOp::equal:
      return out = ExprCell::of(a == b), true;
    default:
      return out = ExprCell::of(a != b), true;
  }
  out = ExprCell::of(result);
  return true;
}

inline bool ExprMachine::binary(ExprOp op, const ExprCell& a, const ExprCell& b, ExprCell& out) {
  if (a.whole() && b.whole()) return integer_binary(op, a.integer, b.integer, out);
  if (a.number() && b.number()) {
    if (a.kind != b.kind && op >= ExprOp::less && op <= ExprOp::not_equal) {
      int order = 0;
      if (!compare(a, b, order)) return out = ExprCell::of(op == ExprOp::not_equal), true;  // not a number
      return out = ExprCell::of(holds(op, order)), true;
    }
    return real_binary(op, a.as_real(), b.as_real(), out);
  }
  return sequence_binary(op, a, b, out);
}

inline bool ExprMachine::unary(ExprOp op, const ExprCell& a, ExprCell& out) {
  if (!a.number()) return fault(ExprFault::types);
  if (a.kind == Kind::real) {
    out = ExprCell::of(op == ExprOp::negate ? -a.real : a.real);
    return true;
  }
  std::int64_t result = a.integer;
  if (op == ExprOp::negate && __builtin_sub_overflow(std::int64_t{0}, a.integer, &result)) {
    return fault(ExprFault::overflow);
  }
  out = ExprCell::of(result);
  return true;
}

template <class Load>
bool ExprMachine::run(const Load& load, ExprCell& result) {
  // Most formulas are shallow; only odd ones pay for an allocation.
  std::array<ExprCell, 32> small_stack;
  std::vector<ExprCell> large_stack;
  const std::size_t room = data_.stack_depth + data_.local_count + 1;
  ExprCell* base = small_stack.data();
  if (room > small_stack.size()) {
    large_stack.resize(room);
    base = large_stack.data();
  }
  ExprCell* const locals = base;
  ExprCell* top = base + data_.local_count;  // one past the last value
  const std::vector<ExprInstruction>& program = data_.program;
  struct Iterator {
    ExprCell sequence;
    std::int64_t next = 0;
  };
  std::vector<Iterator> iterators;  // innermost last; comprehensions nest properly

  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const ExprInstruction& at = program[pc];
    if (++steps_ > ExprLimits::steps) {
      fault_position_ = at.position;
      return fault(ExprFault::steps);
    }
    bool fine = true;
    switch (at.op) {
      case static_cast<std::uint8_t>(ExprCode::push):
        *top++ = cell(data_.constants[at.argument]);
        break;
      case static_cast<std::uint8_t>(ExprCode::load):
        *top++ = load(at.argument);
        break;
      case static_cast<std::uint8_t>(ExprCode::load_local):
        *top++ = locals[at.argument];
        break;
      case static_cast<std::uint8_t>(ExprCode::store_local):
        locals[at.argument] = *--top;
        break;
      case static_cast<std::uint8_t>(ExprCode::jump):
        pc = at.argument - std::size_t{1};
        break;
      case static_cast<std::uint8_t>(ExprCode::jump_if_false):
        if (!truth(*--top)) pc = at.argument - std::size_t{1};
        break;
      case static_cast<std::uint8_t>(ExprCode::jump_if_false_or_pop):
        if (!truth(top[-1]))
          pc = at.argument - std::size_t{1};
        else
          --top;
        break;
      case static_cast<std::uint8_t>(ExprCode::jump_if_true_or_pop):
        if (truth(top[-1]))
          pc = at.argument - std::size_t{1};
        else
          --top;
        break;
      case static_cast<std::uint8_t>(ExprCode::make_list): {
        ExprCell list;
        fine = new_list(std::vector<ExprCell>(top - at.argument, top), list);
        top -= at.argument;
        *top++ = list;
        break;
      }
      case static_cast<std::uint8_t>(ExprCode::iterate): {
        std::int64_t count = 0;
        fine = length(top[-1], count);
        iterators.push_back({top[-1], 0});
        break;
      }
      case static_cast<std::uint8_t>(ExprCode::next): {
        Iterator& iterator = iterators.back();
        std::int64_t count = 0;
        length(iterator.sequence, count);
        if (iterator.next < count) {
          ExprCell item;
          fine = element(iterator.sequence, iterator.next++, item);
          *top++ = item;
        } else {
          iterators.pop_back();
          --top;
          pc = at.argument - std::size_t{1};
        }
        break;
      }
      case static_cast<std::uint8_t>(ExprCode::append): {
        const ExprCell item = *--top;
        fine = spend(1);
        lists_[static_cast<std::size_t>(top[-1 - static_cast<std::ptrdiff_t>(at.argument)].integer)]
            .push_back(item);
        break;
      }
      case static_cast<std::uint8_t>(ExprOp::logical_not):
        top[-1] = ExprCell::of(!truth(top[-1]));
        break;
      case static_cast<std::uint8_t>(ExprOp::negate):
      case static_cast<std::uint8_t>(ExprOp::plus): {
        ExprCell out;
        fine = unary(static_cast<ExprOp>(at.op), top[-1], out);
        top[-1] = out;
        break;
      }
      case static_cast<std::uint8_t>(ExprOp::in):
      case static_cast<std::uint8_t>(ExprOp::not_in): {
        bool found = false;
        fine = contains(top[-2], top[-1], found);
        --top;
        top[-1] = ExprCell::of(found == (at.op == static_cast<std::uint8_t>(ExprOp::in)));
        break;
      }
      case static_cast<std::uint8_t>(ExprOp::index): {
        ExprCell out;
        fine = this->at(top[-2], top[-1], out);
        --top;
        top[-1] = out;
        break;
      }
      case static_cast<std::uint8_t>(ExprOp::call): {
        ExprCell out;
        fine = call(static_cast<ExprFunction>(at.function), {top - at.argument, at.argument}, out);
        top -= at.argument;
        *top++ = out;
        break;
      }
      default: {
        ExprCell out;
        fine = binary(static_cast<ExprOp>(at.op), top[-2], top[-1], out);
        --top;
        top[-1] = out;
        break;
      }
    }
    if (!fine) {
      fault_position_ = at.position;
      return false;
    }
  }
  result = top[-1];
  return fault_ == ExprFault::none;  // loading a huge value may have failed on the way
}

}  // namespace kernelsearch::detail
