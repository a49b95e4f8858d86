// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "changed_settings.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"

namespace kernelsearch::detail {
namespace {

std::string values_text(const Tunable& tunable) {
  std::string text;
  for (std::size_t i = 0; i < tunable.values.size() && i < 32; ++i)
    text += (i == 0 ? "" : ", ") + to_string(tunable.values[i]);
  return tunable.values.size() > 32 ? text + ", ..." : text;
}

bool same_value(const Value& a, const Value& b) {
  if (a == b) return true;
  const auto numeric = [](const Value& v) {
    return std::holds_alternative<std::int64_t>(v) || std::holds_alternative<double>(v);
  };
  return numeric(a) && numeric(b) && to_number(a) == to_number(b);
}

}  // namespace

Config changed_settings(const Space& space, Config config, const std::vector<NamedValue>& settings) {
  std::vector<std::string> names;
  for (const Tunable& tunable : space.tunables()) names.push_back(tunable.name);
  for (const auto& [name, value] : settings) {
    const std::optional<std::size_t> at = space.find(name);
    if (!at) {
      const std::string nearest = nearest_name(name, names);
      raise<ConfigError>("there is no such tunable", name,
                         nearest.empty() ? "see the problem's tunables" : "did you mean " + nearest + "?");
    }
    const Tunable& tunable = space.tunable(*at);
    const auto found = std::find_if(tunable.values.begin(), tunable.values.end(),
                                    [&wanted = value](const Value& one) { return same_value(one, wanted); });
    if (found == tunable.values.end())
      raise<ConfigError>("no such value of " + name, to_string(value), "give one of " + values_text(tunable));
    config.indices[*at] = static_cast<std::uint32_t>(found - tunable.values.begin());
  }
  if (space.contains(config)) return config;
  std::string rules;
  for (const Constraint& constraint : space.constraints())
    rules += (rules.empty() ? "" : "; ") + std::string(constraint.text());
  raise<ConfigError>("the settings break a constraint", space.key(config),
                     rules.empty() ? "choose others" : "keep to: " + rules);
}

}  // namespace kernelsearch::detail
