// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/policy/registry.hpp"

/// How an entry is made of a policy's options and their rows, for policies of the registry and of plug-ins.
namespace kernelsearch::detail {

/// Whether some tunable has a default that is not just its first value. Spaces of recordings declare none,
/// and beginning with all first values, the smallest ones, is worse there than beginning anywhere.
inline bool default_first(const PolicySetup& setup) {
  const auto tunables = setup.space.tunables();
  return setup.try_default && std::any_of(tunables.begin(), tunables.end(),
                                          [](const Tunable& tunable) { return tunable.default_index != 0; });
}

/// What a policy is made with by name, before options are given.
template <class Options>
Options standard_options(const PolicySetup& setup) {
  Options options;
  if constexpr (requires { options.seed; }) options.seed = setup.seed;
  if constexpr (requires { options.default_first; }) options.default_first = default_first(setup);
  if constexpr (requires { options.earlier; }) options.earlier = setup.earlier;
  if constexpr (requires { options.budget; }) options.budget = setup.budget;
  if constexpr (requires { options.objectives; }) options.objectives = setup.objectives;
  return options;
}

/// Writes the values over what the entry's options are.
inline void write_options(const ConfigPolicyEntry& entry, void* options, const PolicyOptionValues& given) {
  for (const auto& [name, value] : given) {
    const PolicyOption& row = *value_or_raise(entry.try_find(name));
    row.write(options, value_or_raise(row.try_value(entry.name, value)));
  }
}

/// The entry of a policy that `Standard` gives the options of, and `Make` makes of a setup and them.
template <auto Standard, auto Make>
constexpr ConfigPolicyEntry policy_entry(std::string_view name, std::string_view summary,
                                         std::span<const PolicyOption> options) {
  return {name, summary, options,
          [](const ConfigPolicyEntry& entry, const PolicySetup& setup, const PolicyOptionValues& given) {
            auto its = Standard(setup);
            write_options(entry, &its, given);
            return Make(setup, std::move(its));
          },
          [](const ConfigPolicyEntry& entry, const PolicySetup& setup, const PolicyOptionValues& given) {
            auto its = Standard(setup);
            write_options(entry, &its, given);
            PolicyOptionValues values;
            for (const PolicyOption& row : entry.options) values.emplace_back(row.name, *row.read(&its));
            return values;
          }};
}

}  // namespace kernelsearch::detail
