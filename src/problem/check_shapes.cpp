// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "kernelsearch/problem/element_access.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "problem_parts.hpp"

namespace kernelsearch::detail {
namespace {

/// The checks of one shape at the default configuration, next to the places in the file that they speak of.
class ShapeCheck {
 public:
  ShapeCheck(const JsonCursor& document, const Problem& problem, const Shape& shape,
             std::span<const NamedValue> tunables)
      : document_(document),
        problem_(problem),
        shape_(shape),
        tunables_(tunables),
        arguments_(document.at("arguments", "").items("")) {}

  /// What holds for every shape. True where the predicate accepts the default.
  bool run() const {
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i)
      if (problem_.arguments[i].role != Role::workspace) check_argument(arguments_[i], problem_.arguments[i]);
    if (problem_.operations && known(problem_.operations))
      check_count(document_.at("operations", ""), *problem_.operations);
    if (problem_.bytes && known(problem_.bytes)) check_count(document_.at("bytes", ""), *problem_.bytes);
    if (problem_.reference.launch)
      check_geometry(document_.at("reference", "").at("launch", ""), *problem_.reference.launch);
    return !problem_.valid || !known(problem_.valid) ||
           is_true(value(document_.at("valid", ""), *problem_.valid));
  }

  /// What holds where the predicate accepts the default.
  void run_valid() const {
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
      const Argument& argument = problem_.arguments[i];
      if (argument.role == Role::workspace) check_argument(arguments_[i], argument);
      if (argument.tensor_map) check_tensor_map(arguments_[i].at("tensor_map", ""), *argument.tensor_map);
    }
    if (!problem_.launch.empty()) check_launch(document_.at("launch", ""));
  }

 private:
  [[nodiscard]] std::string for_shape() const { return " for shape \"" + shape_.name + '"'; }

  /// What a generator says of a shape is not known before an evaluator has run it.
  [[nodiscard]] bool known(const Expression& expression) const {
    if (!problem_.generator) return true;
    const auto& sizes = problem_.generator->sizes;
    return std::none_of(expression.names().begin(), expression.names().end(), [&](const std::string& name) {
      return std::find(sizes.begin(), sizes.end(), name) != sizes.end();
    });
  }
  [[nodiscard]] bool known(const std::optional<Expression>& expression) const {
    return !expression || known(*expression);
  }
  [[nodiscard]] bool known(const std::vector<Expression>& all) const {
    return std::all_of(all.begin(), all.end(), [&](const Expression& one) { return known(one); });
  }
  [[nodiscard]] bool known(const Argument& argument) const {
    if (argument.is_scalar() && !argument.value && problem_.generator &&
        std::count(problem_.generator->sizes.begin(), problem_.generator->sizes.end(), argument.name) != 0)
      return false;
    return known(argument.size) && known(argument.value) && known(argument.low_expression) &&
           known(argument.high_expression) && known(argument.total);
  }
  [[nodiscard]] bool known(const TensorMap& map, const Argument& array) const {
    return known(map.sizes) && known(map.strides) && known(map.box) && known(map.swizzle) &&
           known(map.promotion) && known(array);
  }

  [[nodiscard]] Value value(const JsonCursor& place, const Expression& expression) const {
    return located(place, "cannot be evaluated" + for_shape(),
                   [&] { return evaluate(expression, shape_, tunables_); });
  }

  [[noreturn]] void refuse(const JsonCursor& place, const Expression& expression, const Value& given,
                           std::string_view todo) const {
    place.refuse("is wrong" + for_shape(), expression.text() + " is " + to_string(given), todo);
  }

  /// A whole number >= `least`.
  double check_whole(const JsonCursor& place, const Expression& expression, double least) const {
    const Value given = value(place, expression);
    const double number = try_to_number(given).value_or(std::nan(""));
    if (!(number >= least) || number != std::floor(number))
      refuse(place, expression, given,
             "it must be a whole number >= " + to_string(Value{static_cast<std::int64_t>(least)}) +
                 "; // divides and rounds down");
    return number;
  }

  void check_count(const JsonCursor& place, const Expression& expression) const {
    const Value given =
        located(place, "cannot be evaluated" + for_shape(), [&] { return evaluate(expression, shape_); });
    if (given.index() > 2 || !(to_number(given) >= 0))
      place.refuse("is not a count" + for_shape(), expression.text() + " is " + to_string(given),
                   "it must be a number >= 0");
  }

  void check_argument(const JsonCursor& place, const Argument& argument) const {
    if (argument.tensor_map || !known(argument)) return;
    located(place, "is wrong", [&] {
      if (!argument.is_array) {
        (void)scalar_value(argument, shape_);
        return;
      }
      const std::size_t count = element_count(argument, shape_, tunables_);
      if (!argument.symbol.empty() && count * argument.element_bytes() > most_constant_bytes)
        raise<ConfigError>(
            "argument " + argument.name + " does not fit constant memory",
            std::to_string(count * argument.element_bytes()) + " bytes in shape " + shape_.name,
            "64 KiB fit: pass it as an array, without \"symbol\"");
      if (!argument.is_input()) return;
      if (argument.initialisation == Initialisation::permutation &&
          count > static_cast<std::size_t>(largest_exact_integer(argument.type)) + 1)
        raise<ConfigError>("argument " + argument.name + " cannot hold a permutation",
                           std::to_string(count) + " elements in shape " + shape_.name, "use a wider type");
      check_fill(argument, count);
    });
  }

  /// That the array can be filled, without the price of filling all of it.
  void check_fill(const Argument& argument, std::size_t count) const {
    const Argument given = at_shape(argument, shape_);
    const Argument here = given.quantised ? floats_of(given) : given;
    if (given.quantised) {
      const auto scale =
          std::find_if(problem_.arguments.begin(), problem_.arguments.end(),
                       [&](const Argument& one) { return one.name == given.quantised->scale; });
      if (known(*scale))
        (void)quantised_blocks(given, shape_, count * stored_together(given.type),
                               element_count(*scale, shape_, tunables_));
    }
    Rng rng;
    std::vector<std::byte> bytes(2 * here.element_bytes());
    if (here.initialisation == Initialisation::file) {
      const std::uint64_t needed = count * here.element_bytes();
      if (here.files.empty() || here.files.front().bytes != needed)
        raise<ConfigError>("the file of argument " + argument.name + " is not as long as the array",
                           std::to_string(here.files.empty() ? 0 : here.files.front().bytes) + " bytes, " +
                               std::to_string(needed) + " are needed in shape " + shape_.name,
                           "correct \"size\", or name a file for each shape");
    } else if (here.initialisation == Initialisation::offsets) {
      fill_input(here, std::min<std::size_t>(count, 2), rng, bytes.data());
    } else if (here.initialisation != Initialisation::generator && count > 0) {
      fill_input(here, 1, rng, bytes.data());
    }
  }

  void check_geometry(const JsonCursor& place, const LaunchGeometry& geometry) const {
    if (!known(geometry.grid) || !known(geometry.block) || !known(geometry.cluster) ||
        !known(geometry.shared_bytes))
      return;
    const auto extents = {std::make_pair("grid", &geometry.grid), std::make_pair("block", &geometry.block),
                          std::make_pair("cluster", &geometry.cluster)};
    for (const auto& [key, extent] : extents) {
      if (extent->empty()) continue;
      const std::vector<JsonCursor> items = place.at(key, "").items("");
      for (std::size_t i = 0; i < extent->size(); ++i) check_whole(items[i], (*extent)[i], 1);
    }
    if (geometry.shared_bytes) check_whole(place.at("shared_bytes", ""), *geometry.shared_bytes, 0);
    if (geometry.local.empty()) return;
    const std::vector<JsonCursor> items = place.at("local", "").items("");
    for (std::size_t i = 0; i < items.size(); ++i)
      if (known(geometry.local[i].bytes)) check_whole(items[i].at("bytes", ""), geometry.local[i].bytes, 1);
  }

  void check_launch(const JsonCursor& place) const {
    const std::vector<JsonCursor> items =
        place.kind() == JsonNode::Kind::array ? place.items("") : std::vector<JsonCursor>{place};
    bool launches = false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const LaunchStep& step = problem_.launch[i];
      if (step.condition && known(step.condition) && !is_true(value(items[i].at("if", ""), *step.condition)))
        continue;
      if (step.function.empty()) continue;
      check_geometry(items[i], step.geometry);
      launches = true;
    }
    if (!launches)
      place.refuse("launches no kernel" + for_shape(), "every \"if\" is false at the default configuration",
                   "change the conditions, \"valid\" or the default");
  }

  /// Numbers on which the driver insists (cuTensorMapEncodeTiled, without interleave).
  void check_tensor_map(const JsonCursor& place, const TensorMap& map) const {
    const Argument& array = *std::find_if(problem_.arguments.begin(), problem_.arguments.end(),
                                          [&](const Argument& one) { return one.name == map.array; });
    if (!known(map, array)) return;
    const auto element = static_cast<double>(array.element_bytes());
    const auto numbers = [&](const char* key, const std::vector<Expression>& expressions, double most,
                             double multiple, const char* todo) {
      std::vector<double> result;
      if (expressions.empty()) return result;
      const std::vector<JsonCursor> items = place.at(key, "").items("");
      for (std::size_t i = 0; i < expressions.size(); ++i) {
        result.push_back(check_whole(items[i], expressions[i], 1));
        if (result.back() > most || std::fmod(result.back(), multiple) != 0.0)
          refuse(items[i], expressions[i], Value{static_cast<std::int64_t>(result.back())}, todo);
      }
      return result;
    };
    const auto sizes = numbers("sizes", map.sizes, 0x1p32, 1, "a dimension has 2^32 elements at most");
    const auto strides = numbers("strides", map.strides, 0x1p40 - 16, 16,
                                 "a stride is in bytes, a multiple of 16 and below 2^40");
    const auto box = numbers("box", map.box, 256, 1, "a box has 256 elements in each dimension at most");
    const double swizzle = check_one_of(place, "swizzle", map.swizzle, {0, 32, 64, 128}, 0);
    (void)check_one_of(place, "promotion", map.promotion, {0, 64, 128, 256}, 128);
    const double row = box.front() * element;
    const JsonCursor first = place.at("box", "").items("").front();
    if (std::fmod(row, 16.0) != 0.0 || (swizzle != 0 && row > swizzle))
      first.refuse("is wrong" + for_shape(),
                   map.box.front().text() + " elements of " + std::string(to_string(array.type)) + " are " +
                       to_string(Value{row}) + " bytes",
                   "it must be a multiple of 16 bytes, and with a swizzle at most that many");
    double end = sizes.front() * element;
    for (std::size_t i = 0; i < strides.size(); ++i) end += (sizes[i + 1] - 1) * strides[i];
    const auto held = located(place, "is wrong", [&] { return element_count(array, shape_, tunables_); });
    if (end > static_cast<double>(held) * element)
      place.refuse(
          "leads past the end of its array" + for_shape(),
          to_string(Value{end}) + " bytes of " + to_string(Value{static_cast<double>(held) * element}),
          "correct the sizes, the strides (in bytes) or the array's size");
  }

  double check_one_of(const JsonCursor& place, const char* key, const std::optional<Expression>& expression,
                      std::initializer_list<int> allowed, double otherwise) const {
    if (!expression) return otherwise;
    const double number = check_whole(place.at(key, ""), *expression, 0);
    if (std::find(allowed.begin(), allowed.end(), number) != allowed.end()) return number;
    std::string todo = "it must be one of";
    for (const int one : allowed) todo += ' ' + std::to_string(one);
    refuse(place.at(key, ""), *expression, Value{static_cast<std::int64_t>(number)}, todo);
  }

  static constexpr std::size_t most_constant_bytes = 64 << 10;  // CUDA and HIP alike

  const JsonCursor& document_;
  const Problem& problem_;
  const Shape& shape_;
  std::span<const NamedValue> tunables_;
  std::vector<JsonCursor> arguments_;
};

}  // namespace

void check_shapes(const JsonCursor& document, const Problem& problem) {
  const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
  bool any_valid = false;
  for (const Shape& shape : problem.shapes) {
    const ShapeCheck check(document, problem, shape, tunables);
    if (!check.run()) continue;
    any_valid = true;
    check.run_valid();
  }
  if (!any_valid)
    document.at("valid", "")
        .refuse("rejects the default configuration for every shape",
                "change the predicate, the shapes or the default");
}

}  // namespace kernelsearch::detail
