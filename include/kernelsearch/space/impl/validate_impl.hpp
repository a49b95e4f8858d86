// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/space/impl/space_data.hpp"
#include "kernelsearch/space/impl/steps_impl.hpp"

namespace kernelsearch::detail {

/// Whether the values are integers in strictly ascending order, which saves looking for repeated ones.
inline bool ascending_integers(const std::vector<Value>& values) noexcept {
  const std::int64_t* before = nullptr;
  for (const Value& value : values) {
    const auto* i = std::get_if<std::int64_t>(&value);
    if (i == nullptr || (before != nullptr && *before >= *i)) return false;
    before = i;
  }
  return true;
}

/// Whether a tunable of this kind may have `value`.
inline bool fits_kind(TunableKind kind, const Value& value) {
  switch (kind) {
    case TunableKind::power_of_two:
      return is_power_of_two(value);
    case TunableKind::integer:
      return std::holds_alternative<std::int64_t>(value);
    case TunableKind::floating:
    case TunableKind::boolean:
      return value.index() <= 2;
    case TunableKind::permutation:
      break;
    default:
      return !std::holds_alternative<Permutation>(value);
  }
  const auto* order = std::get_if<Permutation>(&value);
  if (order == nullptr) return false;
  Permutation sorted = *order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

[[nodiscard]] inline Result<void> validate_values(const Tunable& t) {
  if (t.values.empty()) return Fault{"a tunable has no values", t.name, "give it at least one"};
  if (t.default_index >= t.values.size()) {
    return Fault{"a default is not one of the tunable's values",
                 t.name + " at position " + std::to_string(t.default_index),
                 "use a position below " + std::to_string(t.values.size())};
  }
  for (const Value& value : t.values) {
    if (fits_kind(t.kind, value)) continue;
    return Fault{std::string("a value does not fit a tunable of kind ") + to_string(t.kind),
                 t.name + " = " + to_string(value), "use Tunable::of, which finds the kind"};
  }
  if (t.kind == TunableKind::permutation) {
    const std::size_t items = std::get<Permutation>(t.values[0]).size();
    for (const Value& value : t.values) {
      if (std::get<Permutation>(value).size() == items) continue;
      return Fault{"the orders of a tunable differ in length", t.name + " = " + to_string(value),
                   "list orders of the same items"};
    }
  }
  if (ascending_integers(t.values)) return {};
  std::unordered_set<std::string> seen;
  for (const Value& value : t.values) {
    if (seen.insert(to_string(value)).second) continue;
    return Fault{"a tunable lists a value twice", t.name + " = " + to_string(value), "list it once"};
  }
  return {};
}

/// The condition of a conditional tunable as a constraint: active, or at the default.
[[nodiscard]] inline Result<Constraint> condition_of(const Tunable& t) {
  std::vector<std::string> reads = t.active_if->names();
  if (std::find(reads.begin(), reads.end(), t.name) != reads.end()) {
    return Fault{"a tunable's condition reads the tunable itself",
                 t.name + " if `" + t.active_if->text() + "`", "let it read other tunables only"};
  }
  reads.push_back(t.name);
  return Constraint(
      std::move(reads),
      [condition = *t.active_if, pinned = t.values[t.default_index]](std::span<const Value> values) {
        return values.back() == pinned || condition.try_test(values.first(values.size() - 1)).value_or(false);
      },
      t.name + " is active if " + t.active_if->text());
}

/// Checks the tunables and fills in what follows from them alone.
[[nodiscard]] inline Result<void> validate(SpaceData& data) {
  data.raw_count = 1;
  for (std::size_t i = 0; i < data.tunables.size(); ++i) {
    const Tunable& t = data.tunables[i];
    if (t.name.empty()) return Fault{"a tunable has no name", "number " + std::to_string(i), "name it"};
    if (!data.by_name.emplace(t.name, i).second) {
      return Fault{"two tunables have the same name", t.name, "rename one"};
    }
    if (Result<void> fine = validate_values(t); !fine) return fine;
    data.raw_count *= t.values.size();
    if (!t.active_if) continue;
    Result<Constraint> condition = condition_of(t);
    if (!condition) return std::move(condition).error();
    data.conditions.push_back(*std::move(condition));
    data.conditional.push_back(static_cast<std::uint32_t>(i));
  }
  return {};
}

}  // namespace kernelsearch::detail
