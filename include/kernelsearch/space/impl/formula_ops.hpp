// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace kernelsearch::detail {

/// What a node of a formula computes. Comparisons and logic give 0 or 1.
enum class FormulaOp : std::uint8_t {
  constant,
  leaf,  // a table over one tunable's values
  add,
  multiply,
  divide,
  floor_divide,
  modulo,
  minimum,
  maximum,
  less,
  less_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  negate,
  absolute,
  logical_not,
  select,  // first != 0 ? second : third
  to_real,
  table,  // row `first` of a table, at the position of one tunable
};

/// A number of a formula: an integer, or the bits of a double where the node is real.
using Word = std::int64_t;

inline double real_of(Word word) noexcept {
  return std::bit_cast<double>(word);
}
inline Word word_of(double real) noexcept {
  return std::bit_cast<Word>(real);
}

/// One operand of a column operation: as many words as the operation has rows, or one for all rows.
struct WordColumn {
  const Word* data = nullptr;
  bool wide = false;
};

template <class F>
void combine(std::size_t n, Word* out, WordColumn a, WordColumn b, F f) {
  if (a.wide && b.wide) {
    for (std::size_t i = 0; i < n; ++i) out[i] = f(a.data[i], b.data[i]);
  } else if (a.wide) {
    const Word y = *b.data;
    for (std::size_t i = 0; i < n; ++i) out[i] = f(a.data[i], y);
  } else if (b.wide) {
    const Word x = *a.data;
    for (std::size_t i = 0; i < n; ++i) out[i] = f(x, b.data[i]);
  } else {
    std::fill_n(out, n, f(*a.data, *b.data));
  }
}

inline Word floor_division(Word a, Word b) noexcept {
  const Word quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

inline Word floor_modulo(Word a, Word b) noexcept {
  const Word rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Python's float modulo. Whole numbers, the common case (`KWG % (a * b / c)`), avoid the slow fmod.
inline double real_floor_modulo(double a, double b) noexcept {
  if (std::abs(a) < 0x1p53 && std::abs(b) < 0x1p53) {
    const auto x = static_cast<Word>(a), y = static_cast<Word>(b);
    if (static_cast<double>(x) == a && static_cast<double>(y) == b)
      return static_cast<double>(floor_modulo(x, y));
  }
  double rest = std::fmod(a, b);
  if (rest != 0.0 && (rest < 0.0) != (b < 0.0)) rest += b;
  return rest;
}

inline double real_floor_division(double a, double b) noexcept {
  const double quotient = (a - real_floor_modulo(a, b)) / b;
  const double down = std::floor(quotient);
  return quotient - down > 0.5 ? down + 1.0 : down;
}

/// `n` rows of a binary operation. Operands are both integers or, with `real`, both doubles. The caller has
/// made sure that no divisor is 0 and that integers do not overflow.
inline void apply(FormulaOp op, bool real, std::size_t n, Word* out, WordColumn a, WordColumn b) {
  const auto on_reals = [&](auto f) {
    combine(n, out, a, b, [f](Word x, Word y) { return f(real_of(x), real_of(y)); });
  };
  const auto on_words = [&](auto f) { combine(n, out, a, b, f); };
  switch (op) {
    case FormulaOp::add:
      return real ? on_reals([](double x, double y) { return word_of(x + y); })
                  : on_words([](Word x, Word y) { return x + y; });
    case FormulaOp::multiply:
      return real ? on_reals([](double x, double y) { return word_of(x * y); })
                  : on_words([](Word x, Word y) { return x * y; });
    case FormulaOp::divide:
      return on_reals([](double x, double y) { return word_of(x / y); });
    case FormulaOp::floor_divide:
      return real ? on_reals([](double x, double y) { return word_of(real_floor_division(x, y)); })
                  : on_words(floor_division);
    case FormulaOp::modulo:
      return real ? on_reals([](double x, double y) { return word_of(real_floor_modulo(x, y)); })
                  : on_words(floor_modulo);
    case FormulaOp::minimum:
      return real ? on_reals([](double x, double y) { return word_of(y < x ? y : x); })
                  : on_words([](Word x, Word y) { return std::min(x, y); });
    case FormulaOp::maximum:
      return real ? on_reals([](double x, double y) { return word_of(y > x ? y : x); })
                  : on_words([](Word x, Word y) { return std::max(x, y); });
    case FormulaOp::less:
      return real ? on_reals([](double x, double y) -> Word { return x < y; })
                  : on_words([](Word x, Word y) -> Word { return x < y; });
    case FormulaOp::less_equal:
      return real ? on_reals([](double x, double y) -> Word { return x <= y; })
                  : on_words([](Word x, Word y) -> Word { return x <= y; });
    case FormulaOp::equal:
      return real ? on_reals([](double x, double y) -> Word { return x == y; })
                  : on_words([](Word x, Word y) -> Word { return x == y; });
    case FormulaOp::not_equal:
      return real ? on_reals([](double x, double y) -> Word { return x != y; })
                  : on_words([](Word x, Word y) -> Word { return x != y; });
    case FormulaOp::logical_and:
      return on_words([](Word x, Word y) -> Word { return (x != 0) & (y != 0); });
    default:
      return on_words([](Word x, Word y) -> Word { return (x != 0) | (y != 0); });
  }
}

/// `n` rows of an operation with one operand.
inline void apply(FormulaOp op, bool real, std::size_t n, Word* out, WordColumn a) {
  const auto each = [&](auto f) { combine(n, out, a, a, [f](Word x, Word) { return f(x); }); };
  switch (op) {
    case FormulaOp::negate:
      return real ? each([](Word x) { return word_of(-real_of(x)); }) : each([](Word x) { return -x; });
    case FormulaOp::absolute:
      return real ? each([](Word x) { return word_of(std::abs(real_of(x))); })
                  : each([](Word x) { return x < 0 ? -x : x; });
    case FormulaOp::to_real:
      return each([](Word x) { return word_of(static_cast<double>(x)); });
    default:
      return each([](Word x) -> Word { return x == 0; });  // logical_not
  }
}

/// `n` rows of a choice.
inline void apply_select(std::size_t n, Word* out, WordColumn condition, WordColumn a, WordColumn b) {
  const auto at = [](WordColumn column, std::size_t i) { return column.data[column.wide ? i : 0]; };
  for (std::size_t i = 0; i < n; ++i) out[i] = at(condition, i) != 0 ? at(a, i) : at(b, i);
}

}  // namespace kernelsearch::detail
