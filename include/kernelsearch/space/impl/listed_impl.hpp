// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/space/impl/nearest_config_impl.hpp"
#include "kernelsearch/space/impl/space_data.hpp"
#include "kernelsearch/space/impl/validate_impl.hpp"

namespace kernelsearch::detail {

/// Whether the values are those of one of `configs`, which are sorted.
inline Constraint membership(const std::vector<Tunable>& tunables,
                             std::shared_ptr<const std::vector<Config>> configs, std::string_view label) {
  std::vector<std::string> names;
  for (const Tunable& t : tunables) names.push_back(t.name);
  auto test = [tunables, configs = std::move(configs)](std::span<const Value> values) {
    Config config;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::optional<std::size_t> at = tunables[i].position(values[i]);
      if (!at) return false;
      config.indices.push_back(static_cast<std::uint32_t>(*at));
    }
    return std::binary_search(configs->begin(), configs->end(), config);
  };
  return Constraint(std::move(names), std::move(test), std::string(label));
}

/// The paths of sorted, distinct configurations through the tunables of `order`.
inline Layers layers_of(const std::vector<Config>& configs, const std::vector<std::uint32_t>& order) {
  Layers layers;
  layers.layers.resize(order.size());
  const auto close = [&](std::size_t level) {  // no more edges of the layer's last state
    Layers::Layer& layer = layers.layers[level];
    layer.begin.push_back(static_cast<std::uint32_t>(layer.value.size()));
  };
  const Config* before = nullptr;
  for (const Config& config : configs) {
    std::size_t common = 0;
    if (before != nullptr)
      while (config.indices[order[common]] == before->indices[order[common]]) ++common;
    for (std::size_t level = order.size(); before != nullptr && --level > common;) close(level);
    for (std::size_t level = common; level < order.size(); ++level) {
      Layers::Layer& layer = layers.layers[level];
      layer.value.push_back(config.indices[order[level]]);
      layer.next.push_back(level + 1 < order.size()
                               ? static_cast<std::uint32_t>(layers.layers[level + 1].begin.size() - 1)
                               : 0);
    }
    before = &config;
  }
  for (std::size_t level = 0; level < order.size(); ++level) close(level);
  return layers;
}

KERNELSEARCH_INLINE std::shared_ptr<const SpaceData> list_space(std::vector<Tunable> tunables,
                                                                std::vector<Config> configs,
                                                                std::vector<Constraint> constraints,
                                                                std::string_view label) {
  const std::clock_t start = std::clock();
  auto data = std::make_shared<SpaceData>();
  data->tunables = std::move(tunables);
  data->constraints = std::move(constraints);
  data->listed = true;
  if (const Result<void> fine = validate(*data); !fine) raise_config_error(fine.error());
  if (configs.empty()) raise<ConfigError>("a space was listed without configurations", "none", "list some");
  const std::size_t n = data->tunables.size();
  for (const Config& config : configs) {
    bool fits = config.indices.size() == n;
    for (std::size_t i = 0; fits && i < n; ++i) fits = config.indices[i] < data->tunables[i].values.size();
    if (!fits)
      raise<ConfigError>("a listed configuration does not fit the tunables",
                         std::to_string(config.indices.size()) + " positions",
                         "give each tunable the position of one of its values");
  }
  std::sort(configs.begin(), configs.end());
  configs.erase(std::unique(configs.begin(), configs.end()), configs.end());

  data->group_of.assign(n, Trie::none);
  data->level_of.assign(n, 0);
  data->usable.assign(n, {});
  data->fixed.indices.assign(n, 0);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < n; ++i) {
    std::vector<std::uint8_t> seen(data->tunables[i].values.size(), 0);
    for (const Config& config : configs) seen[config.indices[i]] = 1;
    for (std::uint32_t at = 0; at < seen.size(); ++at)
      if (seen[at] != 0) data->usable[i].push_back(at);
    if (data->usable[i].size() == 1) {
      data->fixed.indices[i] = data->usable[i][0];
    } else {
      data->group_of[i] = 0;
      data->level_of[i] = static_cast<std::uint32_t>(order.size());
      order.push_back(i);
    }
  }
  data->count = 1;
  if (!order.empty()) {
    data->tries.push_back(reduce(layers_of(configs, order), order));
    data->count = data->tries[0].count;
  }
  Config declared;
  for (const Tunable& t : data->tunables)
    declared.indices.push_back(static_cast<std::uint32_t>(t.default_index));
  data->default_config = nearest_config(*data, declared);
  if (BigCount(configs.size()) != data->raw_count)
    data->constraints.push_back(
        membership(data->tunables, std::make_shared<const std::vector<Config>>(std::move(configs)), label));
  data->build_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return data;
}

}  // namespace kernelsearch::detail
