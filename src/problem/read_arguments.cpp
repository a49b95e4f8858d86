// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "metric.hpp"
#include "problem_parts.hpp"

namespace kernelsearch::detail {
namespace {

constexpr const char* fill_keys[] = {"init",  "low",   "high", "mean", "deviation", "edge",
                                     "exact", "total", "skew", "file", "tensor",    "quantised"};

double finite(const JsonCursor& place, std::string_view todo) {
  const double value = place.number(todo);
  if (!std::isfinite(value)) place.refuse("is not finite", todo);
  return value;
}

/// Where a range is not given: [-1, 1) for floats, small whole numbers otherwise, so that sums do not
/// overflow.
void default_range(Argument& argument) {
  argument.low = -1.0;
  argument.high = 1.0;
  if (argument.initialisation == Initialisation::normal) {
    argument.low = 0.0;
  } else if (argument.type == ElementType::f4e2m1) {
    argument.low = -6.0;  // few values are smaller
    argument.high = 6.0;
  } else if (!is_floating(argument.type)) {
    const bool is_signed = is_signed_integer(argument.type), four = is_packed(argument.type);
    argument.low = is_signed ? (four ? -8.0 : -64.0) : 0.0;
    argument.high = is_signed ? (four ? 8.0 : 64.0) : (four ? 16.0 : 128.0);
  }
  if (argument.type == ElementType::boolean) argument.high = 2.0;
}

/// A number, or an expression over the shape's variables.
void read_bound(const JsonCursor& place, const Scope& scope, double& number,
                std::optional<Expression>& expression) {
  if (place.kind() == JsonNode::Kind::string)
    expression = read_expression(place, scope.variables, "shape variables");
  else
    number = finite(place, "give a number, or an expression over shape variables");
}

/// The values that the edge flavour has instead of the range's ends.
void read_edge(const JsonCursor& place, Argument& argument, bool drawn) {
  if (!drawn && argument.initialisation != Initialisation::sorted)
    place.refuse("gives edge values to an array that is not drawn",
                 "they are of \"uniform\", \"normal\", \"ill_conditioned\" and \"sorted\": remove it");
  constexpr const char* todo = "list numbers of the argument's range; [] for none";
  argument.edge.emplace();
  for (const JsonCursor& item : place.items(todo)) {
    const double value = finite(item, todo);
    std::byte stored[8];
    store_element(argument.type, value, stored);
    if (!is_floating(argument.type) && load_element(argument.type, stored) != value)
      item.refuse("is not a value of " + std::string(to_string(argument.type)), todo);
    const bool normal = argument.initialisation == Initialisation::normal;
    if (!normal && ((!argument.low_expression && value < argument.low) ||
                    (!argument.high_expression && value > argument.high)))
      item.refuse("is an edge value outside of the range",
                  "\"low\" and \"high\" say where the kernel is defined");
    argument.edge->push_back(value);
  }
}

/// Why the distribution is what the algorithm depends on.
void read_exact(const JsonCursor& place, Argument& argument) {
  constexpr const char* todo = "say why, e.g. \"the sampler's bins are made for uniform keys\"";
  if (!is_drawn(argument.initialisation) && argument.initialisation != Initialisation::sorted)
    place.refuse("keeps a distribution that is not varied", "remove it");
  argument.exact = place.string(todo);
  if (argument.exact.find_first_not_of(' ') == std::string::npos) place.refuse("gives no reason", todo);
}

/// The keys of `offsets`.
void read_offsets(const JsonCursor& place, Argument& argument, const Scope& scope) {
  const bool offsets = argument.initialisation == Initialisation::offsets;
  for (const char* key : {"total", "skew"})
    if (const auto found = place.find(key); found && !offsets)
      found->refuse("belongs to offsets", "add \"init\": \"offsets\", or remove it");
  if (!offsets) return;
  if (is_floating(argument.type) || argument.type == ElementType::boolean)
    place.refuse("has offsets that are not integers", std::string(to_string(argument.type)),
                 "use i32 or i64");
  argument.total =
      read_expression(place.at("total", "give the number of entries, the last offset, e.g. \"nnz\""),
                      scope.variables, "shape variables");
  if (const auto skew = place.find("skew")) {
    argument.skew = finite(*skew, "give a number from 0 to 8");
    if (argument.skew < 0 || argument.skew > 8)
      skew->refuse("is not a skew", "0 is rows of equal length; 1 is already strongly uneven; at most 8");
  }
}

void read_contents(const JsonCursor& place, Argument& argument, const std::filesystem::path& folder,
                   std::span<const Shape> shapes) {
  const bool from_file = argument.initialisation == Initialisation::file;
  const auto file = place.find("file");
  if (file && !from_file) file->refuse("names a file that is not used", "add \"init\": \"file\"");
  if (const auto tensor = place.find("tensor"); tensor && !from_file)
    tensor->refuse("names a tensor of no file", "add \"init\": \"file\" and \"file\"");
  if (!from_file) return;
  const JsonCursor given = place.at("file", "name a file of the problem's folder, raw, .npy or .safetensors");
  argument.files = read_data_files(given, folder, shapes);
  std::string wanted;
  if (const auto tensor = place.find("tensor")) {
    wanted = tensor->string("name a tensor of the .safetensors file");
    if (std::none_of(argument.files.begin(), argument.files.end(), is_safetensors))
      tensor->refuse("names a tensor of a file that has none", "remove it: it is for .safetensors files");
  }
  check_elements(given, argument, wanted, argument.files);
}

/// {"struct": "Particle", "fields": [{"name": "x", "type": "f32"}, ...]}
StructType read_struct(const JsonCursor& place) {
  constexpr const char* todo =
      "write {\"struct\": \"Particle\", \"fields\": [{\"name\": \"x\", \"type\": \"f32\"}]}";
  constexpr std::int64_t most_fields = 1024;  // ggml's largest block has 273
  place.only({"struct", "fields"});
  StructType type;
  const JsonCursor name = place.at("struct", todo);
  type.name = name.string(todo);
  check_name(name, type.name, "a struct");
  for (const JsonCursor& item : place.at("fields", todo).items(todo)) {
    item.only({"name", "type", "count", "low", "high"});
    const JsonCursor called = item.at("name", todo);
    Argument field;
    field.name = called.string(todo);
    if (const std::size_t bracket = field.name.find('['); bracket > 0 && bracket < field.name.size())
      called.refuse("has a size in the name of a field", '"' + field.name + '"',
                    "write {\"name\": \"" + field.name.substr(0, bracket) +
                        "\", \"type\": ..., \"count\": ...} for a field that is an array");
    check_name(called, field.name, "a field");
    for (const StructField& other : type.fields)
      if (other.name.substr(0, other.name.find('[')) == field.name)
        called.refuse("is the name of two fields", "give each its own name");
    field.type = item.at("type", todo).choice<ElementType>("element type");
    if (is_of_arrays_only(field.type))
      item.at("type", "")
          .refuse("is a type that fields of structs cannot have",
                  field.type == ElementType::c64 ? "use two fields of f32" : "use u8 for its bytes");
    default_range(field);
    if (const auto low = item.find("low")) field.low = finite(*low, "give a number");
    if (const auto high = item.find("high")) field.high = finite(*high, "give a number");
    if (!(field.low < field.high))
      item.refuse("has an empty range",
                  "low " + to_string(Value{field.low}) + ", high " + to_string(Value{field.high}),
                  "give low < high");
    const auto count = item.find("count");
    if (!count) {
      type.fields.push_back({field.name, field.type, field.low, field.high});
      continue;
    }
    constexpr const char* many = "give the number of its elements, from 1 to 1024";
    const std::int64_t elements = count->integer(many);
    if (elements < 1 || elements > most_fields) count->refuse("is not a number of elements", many);
    // Each element is a field of its own: drawn, compared and named by itself.
    for (std::int64_t i = 0; i < elements; ++i)
      type.fields.push_back({field.name + "[" + std::to_string(i) + "]", field.type, field.low, field.high});
  }
  if (type.fields.empty()) place.refuse("is a struct without fields", todo);
  if (static_cast<std::int64_t>(type.fields.size()) > most_fields)
    place.refuse("is a struct of over 1024 fields, elements of arrays among them", "split it");
  return type;
}

void read_type(const JsonCursor& place, Argument& argument) {
  if (place.kind() == JsonNode::Kind::object) {
    argument.structure = read_struct(place);
    argument.type = ElementType::u8;
  } else {
    argument.type = place.choice<ElementType>("element type");
    argument.complex = argument.type == ElementType::c64;
    if (argument.complex) argument.type = ElementType::f32;
  }
}

/// Ways of filling that mean nothing for elements that share a byte, or for pairs.
void check_fill_of_type(const JsonCursor& init, const Argument& argument) {
  const Initialisation how = argument.initialisation;
  const bool counts = how == Initialisation::arange || how == Initialisation::permutation ||
                      how == Initialisation::sorted || how == Initialisation::offsets;
  if (argument.complex && (counts || how == Initialisation::ones))
    init.refuse("is not an initialisation of c64",
                "use uniform, normal, zeros, ill_conditioned, file or generator");
  if (is_packed(argument.type) && (counts || how == Initialisation::ill_conditioned))
    init.refuse("is not an initialisation of " + argument.type_text(),
                "use uniform, normal, zeros, ones, file or generator");
}

/// {"scale": "a_scale", "of": "a_floats", "columns": "k", "block": [1, 128]}
void read_quantised(const JsonCursor& place, Argument& argument, const Scope& scope) {
  constexpr const char* todo = "write {\"scale\": \"NAME\", \"columns\": \"k\", \"block\": [1, 128]}";
  place.only({"scale", "of", "columns", "block"});
  if (!is_small_float(argument.type) && argument.type != ElementType::i4 &&
      argument.type != ElementType::u4 && argument.type != ElementType::i8 &&
      argument.type != ElementType::u8)
    place.refuse("quantises to a type of many bits", argument.type_text(),
                 "use f8e4m3, f8e5m2, f4e2m1, i4, u4, i8 or u8");
  if (argument.initialisation != Initialisation::uniform && argument.initialisation != Initialisation::normal)
    place.refuse("quantises what is not drawn",
                 "use \"init\": \"uniform\" or \"normal\", which draw the floats");
  if (argument.role != Role::in || argument.edge || !argument.symbol.empty())
    place.refuse("quantises what is not a plain input", argument.name,
                 "use \"role\": \"in\" without \"edge\"");
  Quantised& made = argument.quantised.emplace();
  made.scale = place.at("scale", todo).string("name the argument that gets the scales");
  if (const auto of = place.find("of")) made.of = of->string("name the argument that holds the floats");
  if (const auto columns = place.find("columns"))
    made.columns = read_expression(*columns, scope.variables, "shape variables");
  const auto block = place.find("block");
  if (!block) return;
  const std::vector<JsonCursor> sides = block->items("give rows and columns of a block, e.g. [1, 128]");
  if (sides.size() != 2) block->refuse("is not a block", "give its rows and columns, e.g. [1, 128]");
  if (!made.columns)
    block->refuse("is a block of an array without rows", "give \"columns\", the elements of a row");
  for (const JsonCursor& side : sides)
    made.block.push_back(read_expression(side, scope.variables, "shape variables"));
}

/// That the arrays are there which belong to a quantised one, and that nothing else fills them.
void check_quantised(const std::vector<JsonCursor>& items, std::vector<Argument>& arguments) {
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    if (!arguments[a].quantised) continue;
    const JsonCursor place = items[a].at("quantised", "");
    const auto named = [&](const char* key, const std::string& name) -> std::pair<std::size_t, JsonCursor> {
      for (std::size_t i = 0; i < arguments.size(); ++i)
        if (arguments[i].name == name && i != a) {
          if (arguments[i].is_array && arguments[i].role == Role::in && is_floating(arguments[i].type) &&
              !arguments[i].structure && !arguments[i].complex && !is_packed(arguments[i].type))
            return {i, place.at(key, "")};
          place.at(key, "").refuse("is not an input of floats", name,
                                   "name an array that is an input of f32, f16 or the like");
        }
      place.at(key, "").refuse("names no argument", name, "name another array of the problem");
    };
    const auto [scale, scale_place] = named("scale", arguments[a].quantised->scale);
    if (!arguments[scale].scale_of.empty())
      scale_place.refuse("gets the scales of two arrays", arguments[scale].name, "give each its own");
    for (const char* key : fill_keys)
      if (const auto fill = items[scale].find(key))
        fill->refuse("fills an array that gets scales",
                     "remove it: they come from the floats of " + arguments[a].name);
    arguments[scale].scale_of = arguments[a].name;
    if (arguments[a].quantised->of.empty()) continue;
    const auto [of, of_place] = named("of", arguments[a].quantised->of);
    for (const char* key : {"low", "high", "mean", "deviation", "edge", "exact", "init"})
      if (const auto fill = items[a].find(key))
        fill->refuse("says how floats are drawn that another argument holds",
                     "move it to " + arguments[of].name);
    if (!arguments[of].floats_of.empty())
      of_place.refuse("names floats that are quantised twice", arguments[of].name, "give each array its own");
    if (of == scale || arguments[of].quantised || !arguments[of].scale_of.empty() ||
        (arguments[of].initialisation != Initialisation::uniform &&
         arguments[of].initialisation != Initialisation::normal))
      of_place.refuse("is not an array of floats that are drawn", arguments[of].name,
                      "name one of \"init\": \"uniform\" or \"normal\"");
    arguments[of].floats_of = arguments[a].name;
  }
}

void read_fill(const JsonCursor& place, Argument& argument, const Scope& scope,
               const std::filesystem::path& folder, std::span<const Shape> shapes, bool generator) {
  const auto init = place.find("init");
  if (init) argument.initialisation = init->choice<Initialisation>("initialisation");
  if (argument.initialisation == Initialisation::generator && !generator)
    init->refuse("names a generator that the problem has not",
                 "add \"generator\": {\"source\": \"inputs.cpp\"} to the problem");
  if (init) check_fill_of_type(*init, argument);
  default_range(argument);
  if (place.find("quantised") && argument.initialisation == Initialisation::uniform) {
    argument.low = -1.0;  // of the floats
    argument.high = 1.0;
  }
  const bool normal = argument.initialisation == Initialisation::normal;
  const bool drawn = is_drawn(argument.initialisation);
  const bool ranged =
      !argument.structure && !normal && (drawn || argument.initialisation == Initialisation::sorted);
  if (argument.structure && init && argument.initialisation != Initialisation::uniform &&
      argument.initialisation != Initialisation::zeros && argument.initialisation != Initialisation::file &&
      argument.initialisation != Initialisation::generator)
    init->refuse("is not an initialisation of structs", "use uniform, zeros, file or generator");
  for (const char* key : {"low", "high"}) {
    const auto bound = place.find(key);
    if (!bound) continue;
    if (!ranged)
      bound->refuse("is a bound that this initialisation has not",
                    argument.structure ? "each field of a struct has its own \"low\" and \"high\""
                    : normal           ? "a normal distribution has \"mean\" and \"deviation\""
                                       : "remove it, or use \"init\": \"uniform\"");
    if (*key == 'l')
      read_bound(*bound, scope, argument.low, argument.low_expression);
    else
      read_bound(*bound, scope, argument.high, argument.high_expression);
  }
  for (const char* key : {"mean", "deviation"}) {
    const auto parameter = place.find(key);
    if (!parameter) continue;
    if (!normal)
      parameter->refuse("belongs to a normal distribution", "add \"init\": \"normal\", or use low and high");
    (*key == 'm' ? argument.low : argument.high) = finite(*parameter, "give a number");
    if (*key == 'd' && argument.high < 0) parameter->refuse("is a negative deviation", "give a number >= 0");
  }
  if (ranged && !argument.low_expression && !argument.high_expression && !(argument.low < argument.high))
    place.refuse("has an empty range",
                 "low " + to_string(Value{argument.low}) + ", high " + to_string(Value{argument.high}),
                 "give low < high");
  if (const auto edge = place.find("edge")) {
    if (argument.structure) edge->refuse("gives edge values to structs", "remove it");
    read_edge(*edge, argument, drawn);
  }
  if (const auto exact = place.find("exact")) read_exact(*exact, argument);
  if (const auto quantised = place.find("quantised")) read_quantised(*quantised, argument, scope);
  read_offsets(place, argument, scope);
  read_contents(place, argument, folder, shapes);
}

std::optional<Role> read_role(const JsonCursor& argument) {
  const auto role = argument.find("role");
  if (!role) return std::nullopt;
  return role->choice<Role>("role");
}

/// Outputs and workspaces hold nothing of ours before a call.
void refuse_fill(const JsonCursor& place, const char* what, const char* todo) {
  for (const char* key : fill_keys)
    if (const auto fill = place.find(key)) fill->refuse(what, todo);
}

void read_symbol(const JsonCursor& place, Argument& argument, const Scope& scope) {
  argument.symbol = place.string("name the __constant__ variable of the kernel");
  if (scope.backend != Backend::cuda && scope.backend != Backend::hip)
    place.refuse("is a __constant__ variable, which only cuda and hip kernels have",
                 "remove it: the array is a parameter then");
  check_name(place, argument.symbol, "a __constant__ variable");
  if (argument.role != Role::in)
    place.refuse("makes an array constant that is not an input", "constant memory is read only: remove it");
  if (std::find(scope.tunables.begin(), scope.tunables.end(), argument.symbol) != scope.tunables.end())
    place.refuse("is the name of a symbol and of a tunable",
                 "tunables are macros in the kernel and would replace it: rename one");
}

/// `"check": false`: an output that is the kernel's own word, which no other output may be.
void read_check(const JsonCursor& place, const JsonCursor& argument_place, Argument& argument,
                const Scope& scope) {
  if (place.boolean("write false, or remove it: outputs are checked")) return;
  if (!is_single_number(argument))
    place.refuse("leaves something unchecked that is not an output of one number", argument.name,
                 "it is for a number that the kernel says of itself: \"role\": \"out\", \"size\": 1 and a "
                 "type such as i32 or f64; everything else is checked");
  if (argument.name == "time")
    argument_place.at("name", "").refuse("is a metric with the name of the time of a call", "rename it");
  if (scope.backend == Backend::external)
    place.refuse("is for kernels that we call ourselves", "backend external",
                 "return the number among the \"features\" of the program's answer");
  if (const auto tolerance = argument_place.find("tolerance"))
    tolerance->refuse("is a tolerance for an output that is not checked", "remove it, or \"check\": false");
  argument.tolerance = unchecked_tolerance();
}

void read_array(const JsonCursor& place, const JsonCursor& size, Argument& argument, const Scope& scope,
                const std::filesystem::path& folder, std::span<const Shape> shapes, bool generator) {
  argument.is_array = true;
  argument.role = read_role(place).value_or(Role::in);
  if (argument.role == Role::workspace && scope.on_host())
    place.at("role", "")
        .refuse("is scratch memory of device kernels",
                "allocate it in the kernel, or use an input with \"init\": \"zeros\"");
  if (argument.role == Role::in || argument.role == Role::workspace) {
    argument.size = read_expression(size, scope.both, "shape variables and tunables");
  } else {
    for (const std::string& name : scope.tunables)
      if (size.kind() == JsonNode::Kind::string) {
        std::string error;
        const auto expression = Expression::try_parse(size.node().string, error);
        if (expression && std::find(expression->names().begin(), expression->names().end(), name) !=
                              expression->names().end())
          size.refuse("makes the size of an output depend on a tunable",
                      "the reference has no tunables: only inputs and workspaces may do so");
      }
    argument.size = read_expression(size, scope.variables, "shape variables");
  }
  if (const auto value = place.find("value"))
    value->refuse("is a value for an array",
                  "use \"init\" to say how it is filled, or remove \"size\" to make it a scalar");
  if (argument.role == Role::out)
    refuse_fill(place, "fills an output",
                "outputs are poisoned before each call; if the kernel reads it, use \"role\": \"inout\"");
  if (argument.role == Role::workspace)
    refuse_fill(
        place, "fills a workspace",
        "workspaces are undefined before each call; a step {\"zero\": NAME} of the launch sets one to 0");
  read_fill(place, argument, scope, folder, shapes, generator);
  if (const auto tolerance = place.find("tolerance")) {
    if (argument.role == Role::in)
      tolerance->refuse("is a tolerance for an input", "inputs are not compared: remove it");
    if (argument.role == Role::workspace)
      tolerance->refuse("is a tolerance for a workspace", "workspaces are not compared: remove it");
    if (argument.structure)
      tolerance->refuse("is one tolerance for the fields of a struct",
                        "each field has that of its type: use \"tolerances\" of the problem");
    argument.tolerance = read_tolerance(*tolerance, argument.named_type());
  }
  if (const auto check = place.find("check")) read_check(*check, place, argument, scope);
  const bool own_conversion = is_small_float(argument.type) || is_packed(argument.type);
  if (own_conversion && argument.is_output() &&
      (scope.backend == Backend::opencl || scope.backend == Backend::vulkan))
    place.at("type", "")
        .refuse("is a type that outputs of opencl and vulkan kernels cannot have",
                "write f32 or u8 instead; inputs may have it");
  if (const auto symbol = place.find("symbol")) read_symbol(*symbol, argument, scope);
}

void read_scalar(const JsonCursor& place, Argument& argument, std::span<const std::string> variables) {
  const auto refuse = [&](const char* key) {
    if (const auto found = place.find(key))
      found->refuse("means nothing for a scalar",
                    "give the argument a \"size\" to make it an array, or a \"value\"");
  };
  for (const char* key : fill_keys) refuse(key);
  for (const char* key : {"tolerance", "check", "symbol"}) refuse(key);
  if (argument.structure)
    place.at("type", "").refuse("is a struct by value", "give the argument a \"size\" to make it an array");
  if (is_of_arrays_only(argument.named_type()))
    place.at("type", "")
        .refuse("is a type that only arrays have", "use f32, or give the argument a \"size\"");
  const Role role = read_role(place).value_or(Role::in);
  if (role == Role::workspace)
    place.refuse("is a workspace without a size", argument.name, "give its number of elements as \"size\"");
  if (role != Role::in)
    place.at("role", "")
        .refuse("makes a scalar an output", "scalars are passed by value: use an array of \"size\": \"1\"");
  if (const auto value = place.find("value")) {
    argument.value = read_expression(*value, variables, "shape variables");
    return;
  }
  if (std::find(variables.begin(), variables.end(), argument.name) != variables.end()) return;
  const std::string nearest = nearest_name(argument.name, variables);
  place.refuse("is a scalar without a value", argument.name,
               "name a shape variable after it, give it a \"value\", or a \"size\" to make it an array" +
                   (nearest.empty() ? std::string() : "; did you mean " + nearest + '?'));
}

void read_map(const JsonCursor& place, const JsonCursor& map, Argument& argument, const Scope& scope) {
  const auto refuse = [&](const char* key) {
    if (const auto found = place.find(key))
      found->refuse("means nothing for a tensor map",
                    "it belongs to the array that the map describes: remove it");
  };
  for (const char* key : {"type", "size", "role", "value", "tolerance", "check", "symbol"}) refuse(key);
  for (const char* key : fill_keys) refuse(key);
  argument.tensor_map = read_tensor_map(map, scope);
}

/// A number, or {"absolute": ..., "relative": ...}: how far off the elements may be that are outside of the
/// bounds.
void read_cap(const JsonCursor& place, Tolerance& tolerance) {
  constexpr const char* todo = "give a number, or {\"absolute\": 1, \"relative\": 0.5}";
  const auto bound = [](const JsonCursor& one) {
    const double value = finite(one, "give a number >= 0");
    if (value < 0) one.refuse("is a negative cap", "give a number >= 0");
    return value;
  };
  if (place.kind() != JsonNode::Kind::object) {
    tolerance.cap_absolute = bound(place);
  } else {
    place.only({"absolute", "relative"});
    if (const auto absolute = place.find("absolute")) tolerance.cap_absolute = bound(*absolute);
    if (const auto relative = place.find("relative")) tolerance.cap_relative = bound(*relative);
    if (!tolerance.cap_absolute && !tolerance.cap_relative) place.refuse("caps nothing", todo);
  }
  const Tolerance cap = cap_of(tolerance);
  if (cap.absolute <= tolerance.absolute && cap.relative <= tolerance.relative)
    place.refuse("is a cap that is not wider than the tolerance",
                 to_string(Value{cap.absolute}) + " + " + to_string(Value{cap.relative}) +
                     " |expected|, and the tolerance is " + to_string(Value{tolerance.absolute}) + " + " +
                     to_string(Value{tolerance.relative}) + " |expected|",
                 "it is for the elements outside of the tolerance: give a wider one, or remove it");
}

}  // namespace

Tolerance read_tolerance(const JsonCursor& place, ElementType type) {
  place.only({"absolute", "relative", "matched_ratio", "error_cap", "infinities"});
  Tolerance tolerance = default_tolerance(type);
  for (const char* key : {"absolute", "relative"}) {
    const auto bound = place.find(key);
    if (!bound) continue;
    const double value = finite(*bound, "give a number >= 0");
    if (value < 0) bound->refuse("is a negative tolerance", "give a number >= 0");
    (*key == 'a' ? tolerance.absolute : tolerance.relative) = value;
  }
  if (const auto ratio = place.find("matched_ratio")) {
    constexpr const char* share =
        "give the share of the elements that must be within the bounds, e.g. 0.99; 1 is all";
    tolerance.matched_ratio = finite(*ratio, share);
    if (!(tolerance.matched_ratio > 0 && tolerance.matched_ratio <= 1))
      ratio->refuse("is not a share", share);
  }
  if (const auto cap = place.find("error_cap")) read_cap(*cap, tolerance);
  if (const auto where = place.find("infinities")) {
    if (!is_floating(type)) where->refuse("is about infinities, which integers do not have", "remove it");
    tolerance.infinities = where->choice<Infinities>("rule");
  }
  return tolerance;
}

std::vector<std::pair<ElementType, Tolerance>> read_tolerances(const JsonCursor& place) {
  constexpr const char* todo = "write {\"f32\": {\"absolute\": 1e-4, \"relative\": 1e-4}}";
  place.only(enum_names<ElementType>);
  std::vector<std::pair<ElementType, Tolerance>> tolerances;
  for (const auto& [key, member] : place.members(todo)) {
    const ElementType type = *element_type_from(key);
    tolerances.emplace_back(type, read_tolerance(member, type));
  }
  return tolerances;
}

std::vector<Argument> read_arguments(const JsonCursor& place, const Scope& scope,
                                     const std::filesystem::path& folder, std::span<const Shape> shapes,
                                     bool generator) {
  constexpr const char* todo = "list the parameters of the function in their order";
  std::vector<Argument> arguments;
  bool output = false;
  const std::vector<JsonCursor> items = place.items(todo);
  for (const JsonCursor& item : items) {
    item.only({"name",   "type",      "size",  "role",      "init",       "low",    "high",
               "mean",   "deviation", "edge",  "exact",     "total",      "skew",   "file",
               "tensor", "quantised", "value", "tolerance", "tensor_map", "symbol", "check"});
    Argument argument;
    const JsonCursor name = item.at("name", "name the argument as in the function's signature");
    argument.name = name.string("name the argument as in the function's signature");
    check_name(name, argument.name, "an argument");
    for (const Argument& other : arguments)
      if (other.name == argument.name) name.refuse("is the name of two arguments", "give each its own name");
    if (std::find(scope.tunables.begin(), scope.tunables.end(), argument.name) != scope.tunables.end())
      name.refuse("is the name of an argument and of a tunable",
                  "tunables are macros in the kernel and would replace it: rename one");
    const auto map = item.find("tensor_map");
    if (!map) read_type(item.at("type", "give its element type, e.g. \"f32\""), argument);
    if (map)
      read_map(item, *map, argument, scope);
    else if (const auto size = item.find("size"))
      read_array(item, *size, argument, scope, folder, shapes, generator);
    else
      read_scalar(item, argument, scope.variables);
    for (const Argument& other : arguments)
      if (!argument.symbol.empty() && other.symbol == argument.symbol)
        item.at("symbol", "").refuse("is the symbol of two arguments", "give each its own variable");
    output = output || (argument.is_output() && !is_unchecked(argument));
    arguments.push_back(std::move(argument));
  }
  check_tensor_maps(items, arguments);
  check_quantised(items, arguments);
  if (!output)
    place.refuse("has no output that is checked", std::to_string(arguments.size()) + " arguments",
                 "give at least one array \"role\": \"out\" or \"inout\", without \"check\": false");
  return arguments;
}

}  // namespace kernelsearch::detail
