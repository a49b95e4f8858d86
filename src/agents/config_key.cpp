// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/config_key.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace kernelsearch {
namespace {

/// Values may hold commas, so each is tried where its text fits.
bool match(const Space& space, std::string_view key, std::size_t i, Config& config) {
  if (i == space.size()) return key.empty();
  const bool last = i + 1 == space.size();
  for (std::size_t v = 0; v < space.tunable(i).values.size(); ++v) {
    const std::string text = to_string(space.tunable(i).values[v]);
    if (key.substr(0, text.size()) != text) continue;
    const std::string_view rest = key.substr(text.size());
    if (last ? !rest.empty() : rest.empty() || rest.front() != ',') continue;
    config.indices[i] = static_cast<std::uint32_t>(v);
    if (match(space, last ? rest : rest.substr(1), i + 1, config)) return true;
  }
  return false;
}

}  // namespace

std::optional<Config> config_of_key(const Space& space, std::string_view key) {
  Config config;
  config.indices.resize(space.size());
  if (!match(space, key, 0, config) || !space.contains(config)) return std::nullopt;
  return config;
}

}  // namespace kernelsearch
