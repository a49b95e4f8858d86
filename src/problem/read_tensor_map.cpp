// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "kernelsearch/core/nearest.hpp"
#include "problem_parts.hpp"

namespace kernelsearch::detail {
namespace {

constexpr const char* over = "shape variables and tunables";
constexpr std::size_t most_dimensions = 5;  // as cuTensorMapEncodeTiled

std::vector<Expression> read_dimensions(const JsonCursor& place, const Scope& scope) {
  constexpr const char* todo = "list one expression for each dimension, the innermost first";
  std::vector<Expression> dimensions;
  for (const JsonCursor& item : place.items(todo))
    dimensions.push_back(read_expression(item, scope.both, over));
  return dimensions;
}

}  // namespace

TensorMap read_tensor_map(const JsonCursor& place, const Scope& scope) {
  constexpr const char* todo =
      "write {\"array\": \"a\", \"sizes\": [\"k\", \"n\"], \"strides\": [\"2*k\"], \"box\": [\"BK\", "
      "\"BM\"]}";
  if (scope.backend != Backend::cuda)
    place.refuse("is a tensor map, which only cuda kernels have", "remove it, or use \"backend\": \"cuda\"");
  place.only({"array", "sizes", "strides", "box", "swizzle", "promotion"});
  TensorMap map;
  map.array = place.at("array", todo).string("name the array that the map describes");
  const JsonCursor sizes = place.at("sizes", todo);
  map.sizes = read_dimensions(sizes, scope);
  if (map.sizes.empty() || map.sizes.size() > most_dimensions)
    sizes.refuse("has no rank from 1 to 5", std::to_string(map.sizes.size()) + " sizes",
                 "list the elements of each dimension, the innermost first");
  const std::size_t rank = map.sizes.size();
  const auto check_count = [rank](const JsonCursor& list, std::size_t given, std::size_t wanted,
                                  const char* what) {
    if (given != wanted)
      list.refuse("has the wrong length", std::to_string(given) + " for " + std::to_string(rank) + " sizes",
                  what);
  };
  if (const auto strides = place.find("strides")) {
    map.strides = read_dimensions(*strides, scope);
    check_count(*strides, map.strides.size(), rank - 1,
                "list the bytes between elements of each dimension but the innermost");
  } else if (rank > 1) {
    place.refuse("lacks the key \"strides\"", std::to_string(rank) + " sizes",
                 "list the bytes between elements of each dimension but the innermost");
  }
  const JsonCursor box = place.at("box", todo);
  map.box = read_dimensions(box, scope);
  check_count(box, map.box.size(), rank, "list the elements of one copy in each dimension");
  if (const auto swizzle = place.find("swizzle")) map.swizzle = read_expression(*swizzle, scope.both, over);
  if (const auto promotion = place.find("promotion"))
    map.promotion = read_expression(*promotion, scope.both, over);
  return map;
}

void check_tensor_maps(std::span<const JsonCursor> places, std::span<const Argument> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].tensor_map) continue;
    const std::string& name = arguments[i].tensor_map->array;
    const JsonCursor place = places[i].at("tensor_map", "").at("array", "");
    std::vector<std::string> arrays;
    for (const Argument& argument : arguments)
      if (argument.is_array && argument.symbol.empty()) arrays.push_back(argument.name);
    if (std::find(arrays.begin(), arrays.end(), name) != arrays.end()) continue;
    const std::string nearest = nearest_name(name, arrays);
    place.refuse("names no array in device memory",
                 nearest.empty() ? "name an argument that has a \"size\" and no \"symbol\""
                                 : "did you mean \"" + nearest + "\"?");
  }
}

}  // namespace kernelsearch::detail
