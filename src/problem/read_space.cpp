// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/space/space.hpp"
#include "problem_parts.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::size_t most_values = 1 << 20;
constexpr const char* forms =
    "write a list of values, {\"range\": [from, to, step]}, {\"powers_of_two\": [first, last]}, "
    "{\"permutation\": n} or {\"values\": [...], \"default\": ..., \"if\": \"...\", \"role\": \"...\"}";

Permutation read_order(const JsonCursor& place) {
  Permutation order;
  for (const JsonCursor& item : place.items(forms))
    order.push_back(item.integer("an order lists 0, 1, ..., n-1"));
  Permutation sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<std::int64_t>(i))
      place.refuse("is not an order", "an order lists 0, 1, ..., n-1");
  return order;
}

/// Integers become floats where floats stand among them; any other mixture is refused.
void unify(const JsonCursor& place, std::vector<Value>& values) {
  const auto has = [&](std::size_t kind) {
    return std::any_of(values.begin(), values.end(),
                       [kind](const Value& value) { return value.index() == kind; });
  };
  if (has(1) && has(2))
    for (Value& value : values)
      if (value.index() == 1) value = to_number(value);
  for (const Value& value : values)
    if (value.index() != values.front().index())
      place.refuse("mixes kinds of values",
                   std::string(type_name(values.front())) + ' ' + to_string(values.front()) + " and " +
                       type_name(value) + ' ' + to_string(value),
                   "all values of a tunable are of one kind");
  std::vector<Value> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    place.refuse("lists a value twice", to_string(*twice), "list each value once");
}

std::vector<Value> read_list(const JsonCursor& place) {
  std::vector<Value> values;
  for (const JsonCursor& item : place.items(forms)) {
    if (item.kind() == JsonNode::Kind::array) {
      values.emplace_back(read_order(item));
      continue;
    }
    Value value = item.value("a value is a number, a bool, a string or an order such as [1, 0, 2]");
    if (const auto* text = std::get_if<std::string>(&value))
      for (const char c : *text)
        if (static_cast<unsigned char>(c) < 32)
          item.refuse("holds a control character", "values are one line of text");
    values.push_back(std::move(value));
  }
  return values;
}

std::vector<Value> read_powers(const JsonCursor& place) {
  constexpr const char* todo = "write [first, last], both powers of two, e.g. [16, 256]";
  const std::vector<JsonCursor> ends = place.items(todo);
  if (ends.size() != 2) place.refuse("is not a pair", todo);
  const std::int64_t first = ends[0].integer(todo);
  const std::int64_t last = ends[1].integer(todo);
  const auto power = [](std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; };
  if (!power(first) || !power(last) || first > last) place.refuse("are not ordered powers of two", todo);
  std::vector<Value> values;
  for (std::int64_t value = first;; value *= 2) {
    values.emplace_back(value);
    if (value == last) return values;
  }
}

std::vector<Value> read_orders(const JsonCursor& place) {
  const std::int64_t n = place.integer("give the number of things to put in order, 1 to 8");
  if (n < 1 || n > 8) place.refuse("is not a number from 1 to 8", "8 things have 40320 orders already");
  Permutation order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::vector<Value> values;
  do values.emplace_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  return values;
}

std::vector<Value> read_expression_list(const JsonCursor& place) {
  std::string error;
  const auto expression = Expression::try_parse(place.node().string, error);
  if (!expression) place.refuse("is not an expression", error, forms);
  if (!expression->names().empty())
    place.refuse("names something", expression->names().front(), "a list of values depends on nothing else");
  auto values = expression->try_evaluate_list({}, &error);
  if (!values) place.refuse("gives no list of values", error, forms);
  return *std::move(values);
}

std::size_t position(const JsonCursor& place, const Tunable& tunable) {
  const Value value = place.kind() == JsonNode::Kind::array ? Value{read_order(place)}
                                                            : place.value("give one of the tunable's values");
  if (const auto found = tunable.position(value)) return *found;
  std::string known;
  constexpr std::size_t shown = 12;
  for (std::size_t i = 0; i < std::min(shown, tunable.values.size()); ++i)
    (known += i == 0 ? "" : ", ") += to_string(tunable.values[i]);
  if (tunable.values.size() > shown) known += ", ...";
  place.refuse("is not a value of " + tunable.name, "its values are " + known);
}

TunableRole read_role(const JsonCursor& place, const Tunable& tunable) {
  const std::string todo = "write one of " + role_names();
  const std::string& text = place.string(todo);
  const std::optional<TunableRole> named = role_named(text);
  if (!named || *named == TunableRole::none) {
    std::vector<std::string> known;
    for (const TunableRole one : tunable_roles)
      if (one != TunableRole::none) known.emplace_back(to_string(one));
    const std::string nearest = nearest_name(text, known);
    place.refuse("is not a role", nearest.empty() ? todo : "did you mean " + nearest + "? " + todo);
  }
  const TunableRole role = *named;
  if (role != TunableRole::block_size && role != TunableRole::warps && role != TunableRole::threads)
    return role;
  const bool counts = (tunable.kind == TunableKind::integer || tunable.kind == TunableKind::power_of_two) &&
                      std::all_of(tunable.values.begin(), tunable.values.end(),
                                  [](const Value& value) { return to_number(value) > 0; });
  if (!counts) place.refuse("is a role of counts", "only a tunable of integers above 0 can have it");
  return role;
}

Tunable read_tunable(const JsonCursor& place, const std::string& name) {
  std::vector<Value> values = read_values(place);
  if (values.empty()) place.refuse("has no value", forms);
  if (values.size() > most_values)
    place.refuse("has too many values", std::to_string(values.size()),
                 "use at most 2^20, say by a larger step");
  unify(place, values);
  Tunable tunable = Tunable::of(name, std::move(values));
  if (place.kind() == JsonNode::Kind::object) {
    if (const auto value = place.find("default")) tunable.default_index = position(*value, tunable);
    if (const auto role = place.find("role")) tunable.role = read_role(*role, tunable);
  }
  return tunable;
}

std::string assignment(const Space& space, const Constraint& constraint, const Config& config) {
  std::string text;
  for (const std::string& name : constraint.names())
    if (const auto i = space.find(name))
      (text += text.empty() ? "" : ", ") += name + '=' + to_string(space.value(config, *i));
  return text;
}

Config declared_default(const Space& space) {
  Config config;
  for (const Tunable& tunable : space.tunables())
    config.indices.push_back(static_cast<std::uint32_t>(tunable.default_index));
  return config;
}

/// Names the constraint that the declared default breaks and a default that would do.
[[noreturn]] void refuse_default(const JsonCursor& place, const Space& space, const Config& config) {
  std::string broken = "a constraint";
  for (const Constraint& constraint : space.constraints()) {
    std::vector<Value> values;
    for (const std::string& name : constraint.names())
      values.push_back(space.value(config, *space.find(name)));
    if (constraint.holds(values)) continue;
    broken = constraint.text() + " with " + assignment(space, constraint, config);
    break;
  }
  std::string nearest;
  const Config& valid = space.default_config();
  for (std::size_t i = 0; i < space.size(); ++i)
    if (valid.indices[i] != config.indices[i])
      (nearest += nearest.empty() ? "" : ", ") +=
          space.tunable(i).name + '=' + to_string(space.value(valid, i));
  place.refuse("gives a default that breaks a constraint", broken,
               "the nearest that does not has " + nearest);
}

}  // namespace

std::vector<Value> read_range(const JsonCursor& place) {
  constexpr const char* todo = "write [from, to] or [from, to, step]; to itself is not reached";
  const std::vector<JsonCursor> parts = place.items(todo);
  if (parts.size() < 2 || parts.size() > 3) place.refuse("is not a range", todo);
  const bool real = std::any_of(parts.begin(), parts.end(),
                                [](const JsonCursor& part) { return part.kind() == JsonNode::Kind::real; });
  std::vector<Value> values;
  const auto check = [&](bool step_is_zero) {
    if (step_is_zero) place.refuse("has step 0", todo);
  };
  const auto check_count = [&](double count) {
    if (!(count >= 1)) place.refuse("is empty", todo);
    if (count > static_cast<double>(most_values)) place.refuse("has over 2^20 values", "use a larger step");
  };
  if (real) {
    const double from = parts[0].number(todo);
    const double to = parts[1].number(todo);
    const double step = parts.size() == 3 ? parts[2].number(todo) : 1.0;
    check(step == 0.0);
    // A last value that is `to` but for rounding does not count as below it.
    const double count = std::ceil((to - from) / step - 1e-9);
    check_count(count);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i)
      values.emplace_back(from + static_cast<double>(i) * step);
    return values;
  }
  const std::int64_t from = parts[0].integer(todo);
  const std::int64_t to = parts[1].integer(todo);
  const std::int64_t step = parts.size() == 3 ? parts[2].integer(todo) : 1;
  check(step == 0);
  check_count(std::ceil((static_cast<double>(to) - static_cast<double>(from)) / static_cast<double>(step)));
  __extension__ using Wide = __int128;
  for (Wide value = from; step > 0 ? value < to : value > to; value += step)
    values.emplace_back(static_cast<std::int64_t>(value));
  return values;
}

std::vector<Value> read_values(const JsonCursor& place) {
  if (place.kind() == JsonNode::Kind::array) return read_list(place);
  if (place.kind() == JsonNode::Kind::string) return read_expression_list(place);
  if (place.kind() != JsonNode::Kind::object) place.refuse("is not a list of values", forms);
  place.only({"values", "range", "powers_of_two", "permutation", "default", "if", "role"});
  int given = 0;
  for (const char* key : {"values", "range", "powers_of_two", "permutation"})
    given += place.find(key) ? 1 : 0;
  if (given != 1) place.refuse(given == 0 ? "lists no values" : "lists values in two ways", forms);
  if (const auto values = place.find("values")) {
    if (values->kind() == JsonNode::Kind::object) values->refuse("is not a list", forms);
    return read_values(*values);
  }
  if (const auto range = place.find("range")) return read_range(*range);
  if (const auto powers = place.find("powers_of_two")) return read_powers(*powers);
  return read_orders(place.at("permutation", forms));
}

Space read_space(const JsonCursor& document) {
  std::vector<Tunable> tunables;
  std::vector<std::string> names;
  std::vector<std::pair<std::size_t, JsonCursor>> conditions;
  bool declared = false;
  int warps = 0;
  if (const auto section = document.find("tunables")) {
    for (const auto& [name, member] : section->members("write {\"NAME\": [values], ...}")) {
      check_name(member, name, "a tunable");
      if (member.kind() == JsonNode::Kind::object) {
        declared = declared || member.find("default").has_value();
        if (const auto condition = member.find("if")) conditions.emplace_back(tunables.size(), *condition);
      }
      tunables.push_back(read_tunable(member, name));
      if (tunables.back().role == TunableRole::warps && warps++ > 0)
        member.refuse("is a second tunable of role warps", name,
                      "mark the one that counts the warps of a block");
      names.push_back(name);
    }
  }
  for (const auto& [i, place] : conditions) {
    std::vector<std::string> others = names;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    tunables[i].active_if = read_expression(place, others, "the other tunables");
  }
  std::vector<Constraint> constraints;
  if (const auto section = document.find("constraints"))
    for (const JsonCursor& item :
         section->items("list expressions over tunables, e.g. [\"TILE * UNROLL <= 32\"]"))
      constraints.emplace_back(read_expression(item, names, "tunables"));
  const auto section = document.find("default");
  if (section) {
    for (const auto& [name, member] : section->members("write {\"NAME\": value, ...}")) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) {
        const std::string nearest = nearest_name(name, names);
        member.refuse(
            "sets an unknown tunable", '"' + name + '"',
            nearest.empty() ? "declare it under \"tunables\"" : "did you mean \"" + nearest + "\"?");
      }
      Tunable& tunable = tunables[static_cast<std::size_t>(found - names.begin())];
      tunable.default_index = position(member, tunable);
      declared = true;
    }
  }
  const JsonCursor place = section ? *section : document.find("tunables").value_or(document);
  const auto build = [&] {
    return located(document.find("constraints").value_or(place), "make no space",
                   [&] { return Space::build(tunables, constraints); });
  };
  Space space = build();
  const Config config = declared_default(space);
  if (space.contains(config)) return space;
  if (declared) refuse_default(place, space, config);
  // Nothing was said about a default: the valid configuration nearest to the first values becomes it.
  for (std::size_t i = 0; i < tunables.size(); ++i)
    tunables[i].default_index = space.default_config().indices[i];
  return build();
}

}  // namespace kernelsearch::detail
