// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/space/encoding.hpp"
#include "kernelsearch/space/impl/steps_impl.hpp"

namespace kernelsearch {
namespace detail {

/// Integers that are 0 or a power of two, with 0 for "automatic" (thread counts, split factors).
inline bool zero_or_power(const Tunable& tunable) {
  const bool has_zero =
      std::find(tunable.values.begin(), tunable.values.end(), Value{std::int64_t{0}}) != tunable.values.end();
  return has_zero && std::all_of(tunable.values.begin(), tunable.values.end(), [](const Value& value) {
           return value == Value{std::int64_t{0}} || is_power_of_two(value);
         });
}

}  // namespace detail

KERNELSEARCH_INLINE Encoding::Encoding(Space space) : space_(std::move(space)) {
  for (std::size_t t = 0; t < space_.size(); ++t) {
    const Tunable& tunable = space_.tunable(t);
    std::vector<double> table;
    const auto add = [&](std::string name) {
      names_.push_back(std::move(name));
      owners_.push_back(t);
    };
    const std::size_t first = names_.size();
    if (tunable.kind == TunableKind::categorical) {
      for (std::size_t i = 0; i < tunable.values.size(); ++i) {
        add(tunable.name + "=" + to_string(tunable.values[i]));
        for (std::size_t j = 0; j < tunable.values.size(); ++j) table.push_back(i == j ? 1.0 : 0.0);
      }
    } else if (tunable.kind == TunableKind::permutation) {
      const std::size_t items = std::get<Permutation>(tunable.values[0]).size();
      for (std::size_t i = 0; i < items; ++i) add(tunable.name + "[" + std::to_string(i) + "]");
      for (const Value& value : tunable.values) {
        for (const std::int64_t item : std::get<Permutation>(value))
          table.push_back(static_cast<double>(item));
      }
    } else {
      const bool power = tunable.kind == TunableKind::power_of_two;
      const bool automatic = tunable.kind == TunableKind::integer && detail::zero_or_power(tunable);
      add(power || automatic ? "log2(" + tunable.name + ")" : tunable.name);
      for (const Value& value : tunable.values) {
        const double number = to_number(value);
        if (automatic)
          table.push_back(number == 0.0 ? 0.0 : std::log2(number) + 1.0);
        else
          table.push_back(power ? std::log2(number) : number);
      }
    }
    widths_.push_back(names_.size() - first);
    tables_.push_back(std::move(table));
  }
}

KERNELSEARCH_INLINE std::size_t Encoding::tunable_of(std::size_t feature) const {
  if (feature >= owners_.size()) {
    detail::raise<ConfigError>("no such feature",
                               std::to_string(feature) + " of " + std::to_string(owners_.size()),
                               "use one below size()");
  }
  return owners_[feature];
}

KERNELSEARCH_INLINE void Encoding::encode(const Config& config, std::span<double> out) const {
  if (config.indices.size() != space_.size() || out.size() != size()) {
    detail::raise<ConfigError>("the configuration is one of another space",
                               std::to_string(config.indices.size()) + " tunables",
                               "use the space of the encoding and room for size() features");
  }
  double* to = out.data();
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    to = std::copy_n(tables_[t].begin() + static_cast<std::ptrdiff_t>(config.indices[t] * widths_[t]),
                     widths_[t], to);
  }
}

KERNELSEARCH_INLINE std::vector<double> Encoding::encode(const Config& config) const {
  std::vector<double> features(size());
  encode(config, features);
  return features;
}

KERNELSEARCH_INLINE std::vector<std::uint32_t> Encoding::steps(std::size_t tunable, std::uint32_t at,
                                                               std::size_t radius) const {
  const Tunable& t = space_.tunable(tunable);
  const auto usable = space_.usable(tunable);
  std::vector<std::uint32_t> found;
  const auto here =
      static_cast<std::size_t>(std::lower_bound(usable.begin(), usable.end(), at) - usable.begin());
  const bool present = here < usable.size() && usable[here] == at;
  for (std::size_t i = 0; i < usable.size(); ++i) {
    if (usable[i] == at) continue;
    // an unusable position lies between its neighbours: the one above is already one step away
    const std::size_t distance = i < here ? here - i : i - here + (present ? 0 : 1);
    bool near = distance <= radius;
    if (t.kind == TunableKind::categorical || t.kind == TunableKind::boolean) near = true;
    if (t.kind == TunableKind::permutation) {
      near =
          detail::one_swap(std::get<Permutation>(t.values[at]), std::get<Permutation>(t.values[usable[i]]));
    }
    if (near) found.push_back(usable[i]);
  }
  return found;
}

KERNELSEARCH_INLINE std::vector<Config> Encoding::neighbours(const Config& config, std::size_t radius) const {
  std::vector<Config> found;
  if (config.indices.size() != space_.size()) return found;
  Config next = config;
  for (std::size_t t = 0; t < space_.size(); ++t) {
    for (const std::uint32_t at : steps(t, config.indices[t], radius)) {
      next.indices[t] = at;
      if (space_.contains(next)) found.push_back(next);
    }
    next.indices[t] = config.indices[t];
  }
  return found;
}

KERNELSEARCH_INLINE std::uint32_t Encoding::mutate(std::size_t tunable, std::uint32_t a, std::uint32_t b,
                                                   std::uint32_t c, Rng& rng) const {
  if (b == c) return a;
  const auto usable = space_.usable(tunable);
  switch (space_.tunable(tunable).kind) {
    case TunableKind::boolean: {
      const auto other =
          std::find_if(usable.begin(), usable.end(), [&](std::uint32_t at) { return at != a; });
      return other == usable.end() ? a : *other;
    }
    case TunableKind::categorical:
      if (b == a || c == a) return b == a ? c : b;
      return rng.chance(0.5) ? b : c;
    case TunableKind::permutation:
      return usable[rng.below(usable.size())];
    default:
      break;
  }
  // The sign is that of the values, which a descending list turns round.
  const std::vector<Value>& values = space_.tunable(tunable).values;
  const bool up = to_number(values[b]) > to_number(values[c]);
  std::uint32_t best = a;
  for (const std::uint32_t at : usable) {
    const double value = to_number(values[at]);
    const bool beyond = up ? value > to_number(values[a]) : value < to_number(values[a]);
    const bool nearer = best == a || (up ? value < to_number(values[best]) : value > to_number(values[best]));
    if (beyond && nearer) best = at;
  }
  return best;
}

}  // namespace kernelsearch
