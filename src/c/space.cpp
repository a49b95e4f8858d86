// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <nlohmann/json.hpp>

#include "handles.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/t1.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch::c {
namespace {

/// Adds what `make` makes of the name; the builder stays as it was where that fails.
template <class Make>
ks_status add(ks_builder* builder, const char* name, Make&& make) {
  return guarded([&] {
    checked(builder);
    const Working working(builder->busy);
    builder->tunables.push_back(make(std::string(text_of(name, "name"))));
  });
}

Tunable& named(ks_builder& builder, const char* name) {
  const std::string_view wanted = text_of(name, "name");
  std::vector<std::string> names;
  for (Tunable& tunable : builder.tunables) {
    if (tunable.name == wanted) return tunable;
    names.push_back(tunable.name);
  }
  const std::string nearest = nearest_name(wanted, names);
  refuse(KS_UNKNOWN_NAME, "there is no tunable of that name", wanted,
         nearest.empty() ? "add it first" : "did you mean " + nearest + "?");
}

const Tunable& tunable_at(const Space& space, std::size_t tunable) {
  if (tunable >= space.size())
    refuse(KS_BAD_ARGUMENT, "there is no such tunable", std::to_string(tunable),
           "the space has " + std::to_string(space.size()) + ", from 0");
  return space.tunable(tunable);
}

/// The value of a tunable in a configuration that is as it should be.
const Value& value_at(const ks_space* space, const std::uint32_t* config, std::size_t length,
                      std::size_t tunable) {
  const Space& in = checked(space).space;
  const Tunable& of = tunable_at(in, tunable);
  return of.values[read_config(in, config, length).indices[tunable]];
}

BigCount rank_of(const Space& space, std::string_view digits) {
  const auto wrong = [&](const char* what) {
    refuse(KS_BAD_ARGUMENT, what, digits.substr(0, 80),
           "give digits of a number below " + space.count().to_string());
  };
  BigCount rank;
  if (digits.empty()) wrong("a rank is missing");
  for (const char c : digits) {
    if (c < '0' || c > '9') wrong("a rank is not a number");
    rank *= BigCount(10);
    rank += BigCount(static_cast<std::uint64_t>(c - '0'));
    if (rank >= space.count()) wrong("a rank is too large");  // here, or a long text would take long
  }
  return rank;
}

ks_kind kind_of_values(const Tunable& tunable) {
  // Values of several kinds are names, whatever they look like.
  for (const Value& value : tunable.values)
    if (value.index() != tunable.values.front().index()) return KS_KIND_TEXT;
  return static_cast<ks_kind>(tunable.values.front().index());
}

}  // namespace
}  // namespace kernelsearch::c

using namespace kernelsearch;     // NOLINT: the functions below are at global scope
using namespace kernelsearch::c;  // NOLINT

static_assert(KS_KIND_BOOLEAN == 0 && KS_KIND_INTEGER == 1 && KS_KIND_REAL == 2 && KS_KIND_TEXT == 3 &&
                  KS_KIND_ORDER == 4 && std::variant_size_v<Value> == 5,
              "ks_kind counts as Value does");

ks_status ks_builder_new(ks_builder** out) {
  return guarded([&] { give(out, [] { return std::make_unique<ks_builder>(); }); });
}
ks_status ks_builder_free(ks_builder* builder) {
  return freed(builder);
}

ks_status ks_builder_add_integers(ks_builder* builder, const char* name, const int64_t* values,
                                  size_t count) {
  return add(builder, name, [&](std::string of) {
    needed(values, "values");
    return Tunable::of(std::move(of), {values, values + count});
  });
}
ks_status ks_builder_add_range(ks_builder* builder, const char* name, int64_t first, int64_t last,
                               int64_t step) {
  return add(builder, name,
             [&](std::string of) { return Tunable::integer(std::move(of), first, last, step); });
}
ks_status ks_builder_add_powers_of_two(ks_builder* builder, const char* name, int64_t first, int64_t last) {
  return add(builder, name,
             [&](std::string of) { return Tunable::power_of_two(std::move(of), first, last); });
}
ks_status ks_builder_add_reals(ks_builder* builder, const char* name, const double* values, size_t count) {
  return add(builder, name, [&](std::string of) {
    return Tunable::floating(std::move(of), {needed(values, "values"), count});
  });
}
ks_status ks_builder_add_texts(ks_builder* builder, const char* name, const char* const* values,
                               size_t count) {
  return add(builder, name, [&](std::string of) {
    needed(values, "values");
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.emplace_back(text_of(values[i], "one of the values"));
    return Tunable::categorical(std::move(of), texts);
  });
}
ks_status ks_builder_add_boolean(ks_builder* builder, const char* name) {
  return add(builder, name, [](std::string of) { return Tunable::boolean(std::move(of)); });
}
ks_status ks_builder_add_orders(ks_builder* builder, const char* name, size_t n) {
  return add(builder, name, [&](std::string of) { return Tunable::permutation(std::move(of), n); });
}

ks_status ks_builder_set_default(ks_builder* builder, const char* name, size_t position) {
  return guarded([&] {
    checked(builder);
    const Working working(builder->busy);
    Tunable& tunable = named(*builder, name);
    if (position >= tunable.values.size())
      refuse(KS_BAD_ARGUMENT, "a tunable has no value at that position",
             tunable.name + " at " + std::to_string(position),
             "it has " + std::to_string(tunable.values.size()) + " values, from position 0");
    tunable.default_index = position;
  });
}
ks_status ks_builder_set_condition(ks_builder* builder, const char* name, const char* expression) {
  return guarded([&] {
    checked(builder);
    const Working working(builder->busy);
    Tunable& tunable = named(*builder, name);
    tunable = tunable.when(text_of(expression, "expression"));
  });
}
ks_status ks_builder_require(ks_builder* builder, const char* expression) {
  return guarded([&] {
    checked(builder);
    const Working working(builder->busy);
    builder->constraints.emplace_back(text_of(expression, "expression"));
  });
}
ks_status ks_builder_build(ks_builder* builder, ks_space** out) {
  return guarded([&] {
    checked(builder);
    const Working working(builder->busy);
    give(out,
         [&] { return std::make_unique<ks_space>(Space::build(builder->tunables, builder->constraints)); });
  });
}

ks_status ks_space_parse(const char* json, ks_space** out) {
  return guarded([&] {
    give(out, [&] { return std::make_unique<ks_space>(parse_space(text_of(json, "json"), "space")); });
  });
}
ks_status ks_space_of_problem(const ks_problem* problem, ks_space** out) {
  return guarded(
      [&] { give(out, [&] { return std::make_unique<ks_space>(checked(problem).problem.kernel.space); }); });
}
ks_status ks_space_read_t1(const char* file, ks_space** out) {
  return guarded([&] {
    give(out, [&] {
      return std::make_unique<ks_space>(read_t1(std::filesystem::path(text_of(file, "file"))).space);
    });
  });
}
ks_status ks_space_free(ks_space* space) {
  return freed(space);
}

ks_status ks_space_size(const ks_space* space, size_t* size) {
  return guarded([&] { *needed(size, "size") = checked(space).space.size(); });
}
ks_status ks_space_count(const ks_space* space, char* text, size_t capacity, size_t* needed_bytes) {
  return guarded([&] { write_text(checked(space).space.count().to_string(), text, capacity, needed_bytes); });
}
ks_status ks_space_find(const ks_space* space, const char* name, size_t* tunable) {
  return guarded([&] {
    const Space& in = checked(space).space;
    const std::string_view wanted = text_of(name, "name");
    const auto found = in.find(wanted);
    if (!found) {
      std::vector<std::string> names;
      for (const Tunable& one : in.tunables()) names.push_back(one.name);
      const std::string nearest = nearest_name(wanted, names);
      refuse(KS_UNKNOWN_NAME, "there is no tunable of that name", wanted,
             nearest.empty() ? "ks_space_name() tells the names" : "did you mean " + nearest + "?");
    }
    *needed(tunable, "tunable") = *found;
  });
}
ks_status ks_space_name(const ks_space* space, size_t tunable, char* text, size_t capacity,
                        size_t* needed_bytes) {
  return guarded(
      [&] { write_text(tunable_at(checked(space).space, tunable).name, text, capacity, needed_bytes); });
}
ks_status ks_space_kind(const ks_space* space, size_t tunable, ks_kind* kind) {
  return guarded([&] { *needed(kind, "kind") = kind_of_values(tunable_at(checked(space).space, tunable)); });
}
ks_status ks_space_values(const ks_space* space, size_t tunable, size_t* count) {
  return guarded([&] { *needed(count, "count") = tunable_at(checked(space).space, tunable).values.size(); });
}

ks_status ks_space_default(const ks_space* space, uint32_t* config, size_t length) {
  return guarded([&] { write_config(checked(space).space.default_config(), config, length); });
}
ks_status ks_space_contains(const ks_space* space, const uint32_t* config, size_t length, int* contains) {
  return guarded([&] {
    const Space& in = checked(space).space;
    *needed(contains, "contains") = in.contains(read_config(in, config, length)) ? 1 : 0;
  });
}
ks_status ks_space_unrank(const ks_space* space, const char* rank, uint32_t* config, size_t length) {
  return guarded([&] {
    const Space& in = checked(space).space;
    write_config(in.unrank(rank_of(in, text_of(rank, "rank"))), config, length);
  });
}
ks_status ks_space_rank(const ks_space* space, const uint32_t* config, size_t length, char* text,
                        size_t capacity, size_t* needed_bytes) {
  return guarded([&] {
    const Space& in = checked(space).space;
    write_text(in.rank(read_config(in, config, length)).to_string(), text, capacity, needed_bytes);
  });
}
ks_status ks_space_encode(const ks_space* space, const uint32_t* config, size_t length, char* json,
                          size_t capacity, size_t* needed_bytes) {
  return guarded([&] {
    const Space& in = checked(space).space;
    const Config of = read_config(in, config, length);
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < in.size(); ++i) object[in.tunable(i).name] = value_to_json(in.value(of, i));
    write_text(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace), json, capacity,
               needed_bytes);
  });
}
ks_status ks_space_decode(const ks_space* space, const char* json, uint32_t* config, size_t length) {
  return guarded([&] {
    const Space& in = checked(space).space;
    const std::string_view text = text_of(json, "json");
    const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
    if (!object.is_object())
      refuse(KS_CONFIG_ERROR, "a configuration is not a JSON object", text.substr(0, 200),
             "write {\"NAME\": value, ...}");
    Config made;
    for (const Tunable& tunable : in.tunables()) {
      const auto value = object.find(tunable.name);
      if (value == object.end())
        refuse(KS_UNKNOWN_NAME, "a configuration lacks a tunable", tunable.name,
               "give a value of every tunable");
      const auto position = tunable.position(value_from_json(*value));
      if (!position)
        refuse(KS_CONFIG_ERROR, "a tunable has no such value", tunable.name + " = " + value->dump(),
               "give one of its values");
      made.indices.push_back(static_cast<std::uint32_t>(*position));
    }
    for (const auto& [name, value] : object.items())
      if (!in.find(name)) refuse(KS_UNKNOWN_NAME, "there is no tunable of that name", name, "leave it out");
    write_config(made, config, length);
  });
}

ks_status ks_space_boolean(const ks_space* space, const uint32_t* config, size_t length, size_t tunable,
                           int* value) {
  return guarded([&] {
    const Value& of = value_at(space, config, length, tunable);
    write_boolean(of, space->space.tunable(tunable).name, value);
  });
}
ks_status ks_space_integer(const ks_space* space, const uint32_t* config, size_t length, size_t tunable,
                           int64_t* value) {
  return guarded([&] {
    const Value& of = value_at(space, config, length, tunable);
    write_integer(of, space->space.tunable(tunable).name, value);
  });
}
ks_status ks_space_real(const ks_space* space, const uint32_t* config, size_t length, size_t tunable,
                        double* value) {
  return guarded([&] {
    const Value& of = value_at(space, config, length, tunable);
    write_real(of, space->space.tunable(tunable).name, value);
  });
}
ks_status ks_space_text(const ks_space* space, const uint32_t* config, size_t length, size_t tunable,
                        char* text, size_t capacity, size_t* needed_bytes) {
  return guarded([&] {
    const Value& of = value_at(space, config, length, tunable);
    const Tunable& from = space->space.tunable(tunable);
    const bool number_among_names =
        kind_of_values(from) == KS_KIND_TEXT && !std::holds_alternative<std::string>(of);
    write_text(number_among_names ? to_string(of) : text_value(of, from.name), text, capacity, needed_bytes);
  });
}
ks_status ks_space_order(const ks_space* space, const uint32_t* config, size_t length, size_t tunable,
                         int64_t* items, size_t capacity, size_t* count) {
  return guarded([&] {
    const Value& of = value_at(space, config, length, tunable);
    write_items(order_value(of, space->space.tunable(tunable).name), items, capacity, count);
  });
}
