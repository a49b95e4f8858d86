// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
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
  const int bits = is_packed(argument.type) ? 4 : static_cast<int>(8 * size_in_bytes(argument.type));
  const bool is_signed = is_signed_integer(argument.type);
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
  // The range is cut to types whose greatest value is small, as it is to integers.
  const bool infinite = !(argument.low >= -limit) || !(argument.high <= limit);
  if (!(range.low <= range.high) || (infinite && !is_small_float(argument.type)))
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

/// Where the elements of an array, or one field of an array of structs, lie.
struct Target {
  std::byte* data;
  std::size_t stride;
};

template <class Next>
void write(ElementType type, std::size_t count, Target out, Next next) {
  if (is_packed(type)) {
    for (std::size_t i = 0; i < count; ++i) store_element(type, next(i), out.data, i);
    return;
  }
  std::byte* at = out.data;
  for (std::size_t i = 0; i < count; ++i, at += out.stride) store_element(type, next(i), at);
}

void fill_permutation(const Argument& argument, std::size_t count, Rng& rng, Target out) {
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

void fill_uniform(const Argument& argument, std::size_t count, Rng& rng, Target out) {
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

void fill_normal(const Argument& argument, std::size_t count, Rng& rng, Target out) {
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
    case ElementType::f8e5m2:
      return 4.0;
    case ElementType::f8e4m3:
      return 1.0;
    case ElementType::f4e2m1:
      return 0.5;
    default:
      return 12.0;
  }
}

void fill_ill_conditioned(const Argument& declared, std::size_t count, Rng& rng, Target out) {
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
  if (argument.edge) return *argument.edge;
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

/// One to sixteen stretches of random lengths, each all equal, alternating between two values, with one that
/// differs, or any mixture: so a row or a block, too, may be all at one end of the range.
void fill_edge(const Argument& declared, std::size_t count, Rng& rng, Target out) {
  const Argument argument = bounded(declared);
  const std::vector<double> values = edge_values(argument);
  constexpr std::size_t stretches[] = {1, 1, 4, 16};
  std::vector<std::size_t> ends;
  for (std::size_t i = stretches[rng.below(4)]; i > 1; --i) ends.push_back(rng.below(count + 1));
  ends.push_back(count);
  std::sort(ends.begin(), ends.end());
  // The ends of the range, which come first unless all were declared, are where sums and counts overflow.
  const auto drawn = [&] { return values[rng.below(!argument.edge && rng.chance(0.5) ? 2 : values.size())]; };
  std::size_t stretch = 0, odd_one_out = 0;
  std::uint64_t pattern = 0;
  double one = 0.0, other = 0.0;
  write(argument.type, count, out, [&](std::size_t i) {
    if (i == 0 || i == ends[stretch]) {
      while (ends[stretch] <= i) ++stretch;
      one = drawn();
      other = drawn();
      pattern = rng.below(4);
      odd_one_out = i + rng.below(ends[stretch] - i);
    }
    switch (pattern) {
      case 0:
        return one;  // all equal
      case 1:
        return i % 2 == 0 ? values.front() : values[1 % values.size()];  // alternating ends of the range
      case 2:
        return i == odd_one_out ? other : one;  // one differs
      default:
        return values[rng.below(values.size())];  // any mixture
    }
  });
}

template <class T, class Less>
void sort_as(std::size_t count, std::byte* out, Less less) {
  std::vector<T> values(count);
  if (count == 0) return;
  std::memcpy(values.data(), out, count * sizeof(T));
  std::sort(values.begin(), values.end(), less);
  std::memcpy(out, values.data(), count * sizeof(T));
}

void sort_any(ElementType type, std::size_t count, std::byte* out) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = load_element(type, out, i);
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < count; ++i) store_element(type, values[i], out, i);
}

void sort_elements(ElementType type, std::size_t count, std::byte* out) {
  const auto sort = [&]<class T>(T) { sort_as<T>(count, out, std::less<T>()); };
  switch (type) {
    case ElementType::f16:
      return sort_as<std::uint16_t>(count, out, [](std::uint16_t a, std::uint16_t b) {
        return double_from_f16(a) < double_from_f16(b);
      });
    case ElementType::bf16:
      return sort_as<std::uint16_t>(count, out, [](std::uint16_t a, std::uint16_t b) {
        return double_from_bf16(a) < double_from_bf16(b);
      });
    case ElementType::f8e4m3:
    case ElementType::f8e5m2:
    case ElementType::f4e2m1:
    case ElementType::i4:
    case ElementType::u4:
    case ElementType::c64:
      return sort_any(type, count, out);
    case ElementType::f32:
      return sort(float{});
    case ElementType::f64:
      return sort(double{});
    case ElementType::i8:
      return sort(std::int8_t{});
    case ElementType::i16:
      return sort(std::int16_t{});
    case ElementType::i32:
      return sort(std::int32_t{});
    case ElementType::i64:
      return sort(std::int64_t{});
    case ElementType::u16:
      return sort(std::uint16_t{});
    case ElementType::u32:
      return sort(std::uint32_t{});
    case ElementType::u64:
      return sort(std::uint64_t{});
    case ElementType::u8:
    case ElementType::boolean:
      return sort(std::uint8_t{});
  }
}

/// The last offset, which `at_shape` made a number.
std::int64_t total_of(const Argument& argument, std::size_t count) {
  const Value value = argument.total ? evaluate(*argument.total, std::span<const NamedValue>(), {},
                                                "the total of " + argument.name)
                                     : Value{std::int64_t{0}};
  const auto* total = std::get_if<std::int64_t>(&value);
  const auto refuse = [&](const std::string& given, const char* todo) {
    detail::raise<ConfigError>("the offsets " + argument.name + " cannot be made", given, todo);
  };
  if (total == nullptr || *total < 0)
    refuse("the total is " + to_string(value), "it is a whole number >= 0: the number of entries");
  if (*total > largest_exact_integer(argument.type))
    refuse(to_string(value) + " as " + std::string(to_string(argument.type)), "use a wider type");
  if (count == 0 || (count == 1 && *total != 0))
    refuse(std::to_string(count) + " elements for " + to_string(value) + " entries",
           "for n rows the size is n + 1");
  return *total;
}

void fill_offsets(const Argument& argument, std::size_t count, InputFlavour flavour, Rng& rng, Target out) {
  const std::int64_t total = total_of(argument, count);
  const std::size_t rows = count - 1;
  if (rows == 0) return write(argument.type, count, out, [](std::size_t) { return std::int64_t{0}; });
  if (flavour == InputFlavour::edge) {
    const std::uint64_t pattern = rng.below(4);
    const std::size_t full = pattern == 0 ? 0 : pattern == 1 ? rows - 1 : rng.below(rows);
    if (pattern < 3)  // one row has all
      return write(argument.type, count, out,
                   [&](std::size_t i) { return i <= full ? std::int64_t{0} : total; });
    const std::size_t filled = (rows + 1) / 2;  // every other row is empty
    return write(argument.type, count, out, [&](std::size_t i) {
      const double share = static_cast<double>((i + 1) / 2) / static_cast<double>(filled);
      return i == rows ? total : static_cast<std::int64_t>(static_cast<double>(total) * share);
    });
  }
  if (argument.skew == 0.0) {
    const auto parts = static_cast<std::int64_t>(rows);
    return write(argument.type, count, out, [&](std::size_t i) {
      const auto row = static_cast<std::int64_t>(i);
      return total / parts * row + total % parts * row / parts;
    });
  }
  // Rows of rank 1, 2, ... in a random order get shares that fall as a power of the rank.
  std::vector<std::size_t> rank(rows);
  for (std::size_t i = 0; i < rows; ++i) rank[i] = i;
  rng.shuffle(rank);
  const auto share = [&](std::size_t row) {
    return std::pow(static_cast<double>(rank[row] + 1), -argument.skew);
  };
  double all = 0.0;
  for (std::size_t row = 0; row < rows; ++row) all += share(row);
  double before = 0.0;
  write(argument.type, count, out, [&](std::size_t i) {
    const double part = std::min(1.0, before / all);
    if (i < rows) before += share(i);
    return i == rows ? total : static_cast<std::int64_t>(std::floor(static_cast<double>(total) * part));
  });
}

void fill_from_file(const Argument& argument, std::size_t count, std::byte* out) {
  const auto refuse = [&](const std::string& given, const char* todo) {
    detail::raise<ConfigError>("the file of argument " + argument.name + " cannot be used", given, todo);
  };
  if (argument.files.size() != 1) refuse("no file for this shape", "name one for each shape");
  const InputFile& file = argument.files.front();
  const std::size_t bytes = count * argument.element_bytes();
  if (file.bytes != bytes)
    refuse(file.name + " holds " + std::to_string(file.bytes) + " bytes of elements, " +
               std::to_string(bytes) + " are needed",
           "correct the size or the file");
  std::error_code error;
  if (std::filesystem::file_size(file.path, error) != file.offset + file.bytes + file.behind || error)
    refuse(file.path.string() + " is not as long as when the problem was read", "start again");
  std::ifstream stream(file.path, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(file.offset));
  stream.read(reinterpret_cast<char*>(out), static_cast<std::streamsize>(bytes));
  if (!stream) refuse(file.path.string() + " cannot be read", "check its permissions");
}

void fill_values(const Argument& argument, std::size_t count, InputFlavour flavour, Rng& rng, Target out) {
  if (flavour == InputFlavour::edge && !(argument.edge && argument.edge->empty()))
    return fill_edge(argument, count, rng, out);
  if (flavour == InputFlavour::ill_conditioned || argument.initialisation == Initialisation::ill_conditioned)
    return fill_ill_conditioned(argument, count, rng, out);
  if (argument.initialisation == Initialisation::normal) return fill_normal(argument, count, rng, out);
  fill_uniform(argument, count, rng, out);
}

void fill_structs(const Argument& argument, std::size_t count, InputFlavour flavour, Rng& rng,
                  std::byte* out) {
  const StructType& type = *argument.structure;
  const std::size_t size = size_in_bytes(type);
  if (count != 0) std::memset(out, 0, count * size);
  if (argument.initialisation == Initialisation::zeros) return;
  for (std::size_t f = 0; f < type.fields.size(); ++f) {
    Rng own = Rng::stream(rng(), type.fields[f].name);
    fill_values(field_argument(argument, type.fields[f]), count, flavour, own,
                {out + offset_of(type, f), size});
  }
}

}  // namespace

void fill_input(const Argument& argument, std::size_t count, Rng& rng, std::byte* out) {
  fill_input(argument, count, InputFlavour::declared, rng, out);
}

void fill_input(const Argument& argument, std::size_t stored, InputFlavour flavour, Rng& rng,
                std::byte* out) {
  const std::size_t count = stored * stored_together(argument.type);
  const Target target{out, argument.element_bytes()};
  switch (argument.initialisation) {
    case Initialisation::file:
      return fill_from_file(argument, stored, out);
    case Initialisation::generator:
      detail::raise<ConfigError>("argument " + argument.name + " is filled by the problem's generator", "",
                                 "use an evaluator's inputs, which run it");
    default:
      break;
  }
  if (argument.structure) return fill_structs(argument, count, flavour, rng, out);
  switch (argument.initialisation) {
    case Initialisation::zeros:
      return write(argument.type, count, target, [](std::size_t) { return std::int64_t{0}; });
    case Initialisation::ones:
      return write(argument.type, count, target, [](std::size_t) { return std::int64_t{1}; });
    case Initialisation::arange: {
      const auto period = static_cast<std::uint64_t>(largest_exact_integer(argument.type)) + 1;
      return write(argument.type, count, target,
                   [period](std::size_t i) { return static_cast<std::int64_t>(i % period); });
    }
    case Initialisation::permutation:
      return fill_permutation(argument, count, rng, target);
    case Initialisation::offsets:
      return fill_offsets(argument, count, flavour, rng, target);
    case Initialisation::sorted:
      fill_values(argument, count, flavour, rng, target);
      return sort_elements(argument.type, count, out);
    default:
      return fill_values(argument, count, flavour, rng, target);
  }
}

Argument floats_of(const Argument& quantised) {
  Argument floats = quantised;
  floats.type = ElementType::f32;
  floats.quantised.reset();
  return floats;
}

QuantisedBlocks quantised_blocks(const Argument& quantised, const Shape& shape, std::size_t elements,
                                 std::size_t scales) {
  const auto refuse = [&](const std::string& given, const char* todo) {
    detail::raise<ConfigError>("the blocks of " + quantised.name + " are wrong for shape " + shape.name,
                               given, todo);
  };
  const auto whole = [&](const Expression& expression) {
    const Value value = evaluate(expression, shape, {}, "a block of " + quantised.name);
    const double number = try_to_number(value).value_or(0.0);
    if (!(number >= 1) || number != std::floor(number) || number > 0x1p40)
      refuse(expression.text() + " is " + to_string(value), "give whole numbers from 1 on");
    return static_cast<std::size_t>(number);
  };
  QuantisedBlocks blocks;
  blocks.columns = quantised.quantised->columns ? whole(*quantised.quantised->columns) : elements;
  if (blocks.columns != 0 && elements % blocks.columns != 0)
    refuse(std::to_string(elements) + " elements in rows of " + std::to_string(blocks.columns),
           "let \"columns\" divide the size");
  blocks.rows = blocks.columns == 0 ? 0 : elements / blocks.columns;
  blocks.block_rows = std::max<std::size_t>(blocks.rows, 1);
  blocks.block_columns = std::max<std::size_t>(blocks.columns, 1);
  if (quantised.quantised->block.size() == 2) {
    blocks.block_rows = whole(quantised.quantised->block[0]);
    blocks.block_columns = whole(quantised.quantised->block[1]);
  }
  if (blocks.count() != scales)
    refuse(std::to_string(blocks.down()) + " x " + std::to_string(blocks.across()) + " blocks, and " +
               quantised.quantised->scale + " has " + std::to_string(scales) + " elements",
           "correct \"block\", or the size of the scales");
  return blocks;
}

void quantise(std::span<const double> floats, const QuantisedBlocks& blocks, ElementType type,
              ElementType scale_type, std::byte* values, std::byte* scales) {
  const bool four = is_packed(type), integer = !is_floating(type);
  const double greatest =
      integer ? (four ? 7.0 : 127.0) : greatest_below(type, std::numeric_limits<double>::infinity());
  const double zero = integer && !is_signed_integer(type) ? greatest + 1 : 0.0;
  for (std::size_t r = 0; r < blocks.down(); ++r)
    for (std::size_t c = 0; c < blocks.across(); ++c) {
      const std::size_t first_row = r * blocks.block_rows, first_column = c * blocks.block_columns;
      const std::size_t last_row = std::min(blocks.rows, first_row + blocks.block_rows),
                        last_column = std::min(blocks.columns, first_column + blocks.block_columns);
      double most = 0;
      for (std::size_t i = first_row; i < last_row; ++i)
        for (std::size_t j = first_column; j < last_column; ++j)
          most = std::max(most, std::abs(floats[i * blocks.columns + j]));
      const std::size_t block = r * blocks.across() + c;
      store_element(scale_type, most / greatest, scales, block);
      double scale = load_element(scale_type, scales, block);
      if (!(scale > 0) || !std::isfinite(scale)) {
        store_element(scale_type, 1.0, scales, block);
        scale = 1;
      }
      for (std::size_t i = first_row; i < last_row; ++i)
        for (std::size_t j = first_column; j < last_column; ++j) {
          // A scale that was rounded down would lead past the greatest value.
          const double part = std::clamp(floats[i * blocks.columns + j] / scale, -greatest, greatest);
          store_element(type, integer ? std::nearbyint(part) + zero : part, values, i * blocks.columns + j);
        }
    }
}

Argument field_argument(const Argument& argument, const StructField& field) {
  Argument made;
  made.name = argument.name + "." + field.name;
  made.type = field.type;
  made.is_array = true;
  made.role = argument.role;
  made.initialisation = argument.initialisation;
  made.low = field.low;
  made.high = field.high;
  return made;
}

Argument at_shape(const Argument& argument, const Shape& shape) {
  Argument made = argument;
  const auto number = [&](const Expression& expression, const char* what) {
    const Value value = evaluate(expression, shape, {}, "the " + std::string(what) + " of " + argument.name);
    if (value.index() > 2 || !std::isfinite(to_number(value)))
      detail::raise<ConfigError>("argument " + argument.name + " has no " + what + " for shape " + shape.name,
                                 expression.text() + " is " + to_string(value), "it must be a finite number");
    return value;
  };
  if (argument.low_expression) made.low = to_number(number(*argument.low_expression, "low"));
  if (argument.high_expression) made.high = to_number(number(*argument.high_expression, "high"));
  if ((argument.low_expression || argument.high_expression) && !(made.low < made.high))
    detail::raise<ConfigError>("argument " + argument.name + " has an empty range for shape " + shape.name,
                               "low " + to_string(Value{made.low}) + ", high " + to_string(Value{made.high}),
                               "give low < high");
  made.low_expression.reset();
  made.high_expression.reset();
  if (argument.total) {
    Value total = number(*argument.total, "total");
    if (const double real = to_number(total); std::abs(real) < 0x1p53 && real == std::floor(real))
      total = static_cast<std::int64_t>(real);  // n*n/2 is a float in Python's arithmetic
    made.total = Expression::parse(to_string(total));
  }
  if (argument.initialisation == Initialisation::file)
    std::erase_if(made.files,
                  [&](const InputFile& file) { return !file.shape.empty() && file.shape != shape.name; });
  return made;
}

std::size_t element_count(const Argument& argument, const Shape& shape,
                          std::span<const NamedValue> tunables) {
  if (!argument.is_array) return 1;
  if (!argument.size)
    detail::raise<ConfigError>("array " + argument.name + " has no size", "",
                               "give it one, e.g. \"size\": \"n\"");
  const Value value = evaluate(*argument.size, shape, tunables, "the size of " + argument.name);
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
  if (count > most_bytes / static_cast<std::int64_t>(argument.element_bytes()))
    refuse("an array may have 2^40 bytes at most");
  if (is_packed(argument.type) && count % 2 != 0)
    refuse("two elements share a byte: the number of elements must be even");
  return static_cast<std::size_t>(argument.complex ? 2 * count : count) / stored_together(argument.type);
}

double bytes_of_arrays(std::span<const Argument> arguments, const Shape& shape,
                       std::span<const NamedValue> tunables) {
  double bytes = 0;
  for (const Argument& argument : arguments)
    if (argument.is_array)
      bytes += static_cast<double>(element_count(argument, shape, tunables)) *
               static_cast<double>(argument.element_bytes());
  return bytes;
}

Value scalar_value(const Argument& argument, const Shape& shape) {
  Value value;
  if (argument.value) {
    value = evaluate(*argument.value, shape, {}, "the value of " + argument.name);
  } else {
    const NamedValue* found = nullptr;
    for (const auto* variables : {&shape.variables, &shape.generated})
      for (const NamedValue& variable : *variables)
        if (found == nullptr && variable.first == argument.name) found = &variable;
    if (found == nullptr)
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
