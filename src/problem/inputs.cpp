// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch {
namespace {

struct IntegerRange {
  std::int64_t low;
  std::int64_t high;  ///< inclusive
};

/// What integers of the type [low, high) holds; u64 is used up to 2^63 - 1.
IntegerRange integer_range(const Argument& argument) {
  const auto whole = [](double value) {
    if (value <= -0x1p63) return std::numeric_limits<std::int64_t>::min();
    if (value >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(value);
  };
  const int bits = static_cast<int>(8 * size_in_bytes(argument.type));
  const bool is_signed = argument.type >= ElementType::i8 && argument.type <= ElementType::i64;
  IntegerRange type_range{0, std::numeric_limits<std::int64_t>::max()};
  if (is_signed) {
    type_range.high >>= 64 - bits;
    type_range.low = -type_range.high - 1;
  } else if (bits < 64) {
    type_range.high = (std::int64_t{1} << bits) - 1;
  }
  const double last = std::ceil(argument.high) - 1.0;
  const IntegerRange range{std::max(type_range.low, whole(std::ceil(argument.low))),
                           std::min(type_range.high, whole(last))};
  if (range.low > range.high)
    detail::raise<ConfigError>("argument " + argument.name + " has an empty range",
                               "no " + std::string(to_string(argument.type)) + " is in [" +
                                   to_string(Value{argument.low}) + ", " + to_string(Value{argument.high}) +
                                   ")",
                               "give low and high with low < high and a value of the type between them");
  return range;
}

struct FloatRange {
  double low;
  double high;  ///< inclusive, a value of the type
};

FloatRange float_range(const Argument& argument) {
  const FloatRange range{smallest_from(argument.type, argument.low),
                         greatest_below(argument.type, argument.high)};
  const double limit = greatest_below(argument.type, std::numeric_limits<double>::infinity());
  if (!(range.low <= range.high) || !(argument.low >= -limit) || !(argument.high <= limit))
    detail::raise<ConfigError>("argument " + argument.name + " has an empty or infinite range",
                               "no finite " + std::string(to_string(argument.type)) + " range is [" +
                                   to_string(Value{argument.low}) + ", " + to_string(Value{argument.high}) +
                                   ")",
                               "give finite low and high with low < high");
  return range;
}

std::int64_t draw(const IntegerRange& range, Rng& rng) {
  const auto span = static_cast<std::uint64_t>(range.high) - static_cast<std::uint64_t>(range.low) + 1;
  const std::uint64_t offset = span == 0 ? rng() : rng.below(span);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(range.low) + offset);
}

template <class Next>
void write(ElementType type, std::size_t count, std::byte* out, Next next) {
  const std::size_t step = size_in_bytes(type);
  for (std::size_t i = 0; i < count; ++i, out += step) store_element(type, next(i), out);
}

void fill_permutation(const Argument& argument, std::size_t count, Rng& rng, std::byte* out) {
  if (count > 0 && static_cast<double>(count - 1) > static_cast<double>(largest_exact_integer(argument.type)))
    detail::raise<ConfigError>(
        "argument " + argument.name + " cannot hold a permutation",
        std::to_string(count) + " elements of type " + std::string(to_string(argument.type)),
        "use a wider type");
  std::vector<std::int64_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = static_cast<std::int64_t>(i);
  rng.shuffle(order);
  write(argument.type, count, out, [&](std::size_t i) { return order[i]; });
}

void fill_uniform(const Argument& argument, std::size_t count, Rng& rng, std::byte* out) {
  if (argument.type == ElementType::boolean)
    return write(argument.type, count, out,
                 [&](std::size_t) { return static_cast<std::int64_t>(rng() >> 63); });
  if (is_floating(argument.type)) {
    const FloatRange range = float_range(argument);
    return write(argument.type, count, out, [&](std::size_t) {
      return std::clamp(rng.uniform(argument.low, argument.high), range.low, range.high);
    });
  }
  const IntegerRange range = integer_range(argument);
  write(argument.type, count, out, [&](std::size_t) { return draw(range, rng); });
}

void fill_normal(const Argument& argument, std::size_t count, Rng& rng, std::byte* out) {
  if (argument.type == ElementType::boolean) return fill_uniform(argument, count, rng, out);
  write(argument.type, count, out, [&](std::size_t) { return argument.low + argument.high * rng.normal(); });
}

/// The range that flavours stay in: for a normal distribution four standard deviations to each side.
Argument bounded(const Argument& argument) {
  Argument result = argument;
  if (argument.initialisation == Initialisation::normal) {
    const double spread = std::max(4.0 * std::abs(argument.high), 1e-30);
    result.low = argument.low - spread;
    result.high = argument.low + spread;
  }
  return result;
}

/// Decades below the range's greatest magnitude that still are normal numbers of the type, at most.
double decades(ElementType type) noexcept {
  switch (type) {
    case ElementType::f16:
      return 4.0;
    case ElementType::f64:
      return 24.0;
    default:
      return 12.0;
  }
}

void fill_ill_conditioned(const Argument& declared, std::size_t count, Rng& rng, std::byte* out) {
  const Argument argument = bounded(declared);
  if (!is_floating(argument.type)) return fill_uniform(argument, count, rng, out);
  const FloatRange range = float_range(argument);
  const double depth = decades(argument.type) * std::log(10.0);
  const bool mixed = range.low < 0.0 && range.high > 0.0;
  double earlier = 0.0;
  write(argument.type, count, out, [&](std::size_t i) {
    const double fraction = std::exp(-depth * rng.uniform());
    double value = 0.0;
    if (!mixed) {
      value = range.low >= 0.0 ? range.low + (range.high - range.low) * fraction
                               : range.high - (range.high - range.low) * fraction;
    } else if (i > 0 && rng.chance(0.5)) {
      value = -earlier;  // the pair cancels: what was added between them in low precision is what is left
    } else {
      value = (rng.chance(0.5) ? range.low : range.high) * fraction;
    }
    if (rng.chance(0.25)) earlier = value;
    return std::clamp(value, range.low, range.high);
  });
}

/// Values at which kernels go wrong, those of them that are in the range.
std::vector<double> edge_values(const Argument& argument) {
  std::vector<double> values;
  double low = 0.0;
  double high = 0.0;
  if (is_floating(argument.type)) {
    const FloatRange range = float_range(argument);
    low = range.low;
    high = range.high;
  } else if (argument.type == ElementType::boolean) {
    high = 1.0;
  } else {
    const IntegerRange range = integer_range(argument);
    low = static_cast<double>(range.low);
    high = static_cast<double>(range.high);
  }
  values = {low, high};
  // No subnormals: flushing them is a compiler flag that users may well tune.
  for (const double value : {0.0, 1.0, -1.0, 0x1p-10, -0x1p-10})
    if (value > low && value < high && (is_floating(argument.type) || value == std::floor(value)))
      values.push_back(value);
  return values;
}

void fill_edge(const Argument& declared, std::size_t count, Rng& rng, std::byte* out) {
  const Argument argument = bounded(declared);
  const std::vector<double> values = edge_values(argument);
  const double one = values[rng.below(values.size())];
  const double other = values[rng.below(values.size())];
  const std::uint64_t pattern = rng.below(4);
  const std::uint64_t odd_one_out = count == 0 ? 0 : rng.below(count);
  write(argument.type, count, out, [&](std::size_t i) {
    switch (pattern) {
      case 0:
        return one;  // all equal
      case 1:
        return i % 2 == 0 ? values[0] : values[1];  // alternating ends of the range
      case 2:
        return i == odd_one_out ? other : one;  // one differs
      default:
        return values[rng.below(values.size())];  // any mixture
    }
  });
}

}  // namespace

void fill_input(const Argument& argument, std::size_t count, Rng& rng, std::byte* out) {
  fill_input(argument, count, InputFlavour::declared, rng, out);
}

void fill_input(const Argument& argument, std::size_t count, InputFlavour flavour, Rng& rng, std::byte* out) {
  switch (argument.initialisation) {
    case Initialisation::zeros:
      return write(argument.type, count, out, [](std::size_t) { return std::int64_t{0}; });
    case Initialisation::ones:
      return write(argument.type, count, out, [](std::size_t) { return std::int64_t{1}; });
    case Initialisation::arange: {
      const auto period = static_cast<std::uint64_t>(largest_exact_integer(argument.type)) + 1;
      return write(argument.type, count, out,
                   [period](std::size_t i) { return static_cast<std::int64_t>(i % period); });
    }
    case Initialisation::permutation:
      return fill_permutation(argument, count, rng, out);
    case Initialisation::uniform:
    case Initialisation::normal:
    case Initialisation::ill_conditioned:
      break;
  }
  if (flavour == InputFlavour::edge) return fill_edge(argument, count, rng, out);
  if (flavour == InputFlavour::ill_conditioned || argument.initialisation == Initialisation::ill_conditioned)
    return fill_ill_conditioned(argument, count, rng, out);
  if (argument.initialisation == Initialisation::normal) return fill_normal(argument, count, rng, out);
  fill_uniform(argument, count, rng, out);
}

std::size_t element_count(const Argument& argument, const Shape& shape,
                          std::span<const NamedValue> tunables) {
  if (!argument.is_array) return 1;
  if (!argument.size)
    detail::raise<ConfigError>("array " + argument.name + " has no size", "",
                               "give it one, e.g. \"size\": \"n\"");
  const Value value = evaluate(*argument.size, shape.variables, tunables, "the size of " + argument.name);
  const auto refuse = [&](const char* todo) {
    detail::raise<ConfigError>("the size of " + argument.name + " is wrong for shape " + shape.name,
                               argument.size->text() + " is " + to_string(value), todo);
  };
  std::int64_t count = 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    count = *whole;
  } else if (const auto* real = std::get_if<double>(&value);
             real != nullptr && std::abs(*real) < 0x1p53 && *real == std::floor(*real)) {
    count = static_cast<std::int64_t>(*real);  // n*n/2 is a float in Python's arithmetic
  } else {
    refuse("a size must be a whole number; // divides and rounds down");
  }
  if (count < 0) refuse("a size must not be negative");
  constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
  if (count > most_bytes / static_cast<std::int64_t>(size_in_bytes(argument.type)))
    refuse("an array may have 2^40 bytes at most");
  return static_cast<std::size_t>(count);
}

Value scalar_value(const Argument& argument, const Shape& shape) {
  Value value;
  if (argument.value) {
    value = evaluate(*argument.value, shape.variables, {}, "the value of " + argument.name);
  } else {
    const auto found =
        std::find_if(shape.variables.begin(), shape.variables.end(),
                     [&](const NamedValue& variable) { return variable.first == argument.name; });
    if (found == shape.variables.end())
      detail::raise<ConfigError>("scalar argument " + argument.name + " has no value in shape " + shape.name,
                                 "", "give the shape a variable of that name or the argument a \"value\"");
    value = found->second;
  }
  const auto refuse = [&](const std::string& todo) {
    detail::raise<ConfigError>(
        "the value of " + argument.name + " does not fit its type in shape " + shape.name,
        to_string(value) + " as " + std::string(to_string(argument.type)), todo);
  };
  if (value.index() > 2) refuse("a scalar is a number or a bool");
  const double number = to_number(value);
  if (argument.type == ElementType::boolean) {
    if (number != 0.0 && number != 1.0) refuse("a bool is true, false, 1 or 0");
    return Value{number != 0.0};
  }
  if (is_floating(argument.type)) {
    std::byte bytes[8];
    store_element(argument.type, number, bytes);
    if (std::isfinite(number) && !std::isfinite(load_element(argument.type, bytes)))
      refuse("use a wider type");
    return Value{number};
  }
  if (number != std::floor(number) || std::abs(number) > 0x1p63) refuse("an integer is a whole number");
  std::int64_t whole = 0;
  if (const auto* exact = std::get_if<std::int64_t>(&value)) {
    whole = *exact;
  } else {
    if (number >= 0x1p63) refuse("values up to 2^63 - 1 can be given");
    whole = static_cast<std::int64_t>(number);
  }
  Argument whole_type = argument;
  whole_type.low = -0x1p63;
  whole_type.high = 0x1p64;
  const IntegerRange range = integer_range(whole_type);
  if (whole < range.low || whole > range.high)
    refuse("the type holds " + std::to_string(range.low) + " to " + std::to_string(range.high));
  return Value{whole};
}

}  // namespace kernelsearch
