// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <ctime>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/space/impl/space_data.hpp"

namespace kernelsearch::detail {

/// One condition with the tunables it reads, ascending.
struct Relation {
  const Constraint* constraint = nullptr;
  std::vector<std::uint32_t> reads;  // in the constraint's own order
  std::vector<std::uint32_t> scope;  // those with more than one value left
  bool done = false;
};

class SpaceMaker {
 public:
  SpaceMaker(SpaceData& data, SpaceOptions options) : data_(data), options_(options) {}

  void make() {
    validate();
    prepare_relations(data_.constraints.size());
    if (!solve()) raise_empty();
    choose_default();
  }

 private:
  using Domain = std::vector<std::uint32_t>;

  std::size_t tunable_count() const { return data_.tunables.size(); }

  void validate() {
    data_.raw_count = 1;
    for (std::size_t i = 0; i < tunable_count(); ++i) {
      const Tunable& t = data_.tunables[i];
      if (t.name.empty())
        raise<ConfigError>("a tunable has no name", "number " + std::to_string(i), "name it");
      if (!data_.by_name.emplace(t.name, i).second) {
        raise<ConfigError>("two tunables have the same name", t.name, "rename one");
      }
      if (t.values.empty()) raise<ConfigError>("a tunable has no values", t.name, "give it at least one");
      if (t.default_index >= t.values.size()) {
        raise<ConfigError>("a default is none of the tunable's values",
                           t.name + " at position " + std::to_string(t.default_index),
                           "use a position below " + std::to_string(t.values.size()));
      }
      std::unordered_set<std::string> seen;
      for (const Value& value : t.values) {
        if (!seen.insert(to_string(value)).second) {
          raise<ConfigError>("a tunable lists a value twice", t.name + " = " + to_string(value),
                             "list it once");
        }
        const bool order = std::holds_alternative<Permutation>(value);
        if (order != (t.kind == TunableKind::permutation)) {
          raise<ConfigError>("only permutation tunables hold orders", t.name + " = " + to_string(value),
                             "use Tunable::of");
        }
      }
      data_.raw_count *= t.values.size();
      names_.push_back(t.name);
      if (t.active_if) {
        const Expression condition = *t.active_if;
        std::vector<std::string> reads = condition.names();
        reads.push_back(t.name);
        const Value pinned = t.values[t.default_index];
        data_.constraints.emplace_back(
            reads,
            [condition, pinned](std::span<const Value> values) {
              return condition.try_test(values.first(values.size() - 1)).value_or(false) ||
                     values.back() == pinned;
            },
            t.name + " is active if " + condition.text());
      }
    }
  }

  std::uint32_t index_of(const std::string& name, const Constraint& constraint) const {
    const auto found = data_.by_name.find(name);
    if (found != data_.by_name.end()) return static_cast<std::uint32_t>(found->second);
    const std::string near = nearest_name(name, names_);
    raise<ConfigError>("a constraint reads an unknown tunable",
                       "\"" + name + "\" in `" + constraint.text() + "`",
                       near.empty() ? "declare it" : "did you mean \"" + near + "\"?");
  }

  void prepare_relations(std::size_t count) {
    relations_.clear();
    domains_.clear();
    for (const Tunable& t : data_.tunables) {
      domains_.emplace_back(t.values.size());
      std::iota(domains_.back().begin(), domains_.back().end(), 0);
    }
    for (std::size_t i = 0; i < count; ++i) {
      Relation relation;
      relation.constraint = &data_.constraints[i];
      for (const std::string& name : relation.constraint->names()) {
        relation.reads.push_back(index_of(name, *relation.constraint));
      }
      relations_.push_back(std::move(relation));
    }
  }

  bool holds(const Relation& relation, const std::vector<std::uint32_t>& position) {
    arguments_.resize(relation.reads.size());
    for (std::size_t i = 0; i < relation.reads.size(); ++i) {
      arguments_[i] = data_.tunables[relation.reads[i]].values[position[relation.reads[i]]];
    }
    return relation.constraint->holds(arguments_);
  }

  bool filter_domains() {
    std::vector<std::uint32_t> position(tunable_count(), 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < tunable_count(); ++i) position[i] = domains_[i][0];
      for (Relation& relation : relations_) {
        if (relation.done) continue;
        relation.scope = relation.reads;
        std::sort(relation.scope.begin(), relation.scope.end());
        relation.scope.erase(std::unique(relation.scope.begin(), relation.scope.end()), relation.scope.end());
        std::erase_if(relation.scope, [&](std::uint32_t v) { return domains_[v].size() == 1; });
        if (relation.scope.size() > 1) continue;
        relation.done = true;
        if (relation.scope.empty()) {
          if (!holds(relation, position)) return false;
          continue;
        }
        Domain& domain = domains_[relation.scope[0]];
        std::erase_if(domain, [&](std::uint32_t at) {
          position[relation.scope[0]] = at;
          return !holds(relation, position);
        });
        if (domain.empty()) return false;
        position[relation.scope[0]] = domain[0];
        changed = changed || domain.size() == 1;
      }
    }
    return true;
  }

  bool solve() {
    if (!filter_domains()) return false;
    data_.tries.clear();
    data_.group_of.assign(tunable_count(), Trie::none);
    data_.level_of.assign(tunable_count(), 0);
    data_.usable.assign(tunable_count(), {});
    data_.fixed.indices.assign(tunable_count(), 0);
    std::vector<std::uint32_t> leader(tunable_count());
    std::iota(leader.begin(), leader.end(), 0);
    const auto find = [&](std::uint32_t v) {
      while (leader[v] != v) v = leader[v] = leader[leader[v]];
      return v;
    };
    for (const Relation& relation : relations_) {
      if (relation.done) continue;
      for (const std::uint32_t v : relation.scope) leader[find(v)] = find(relation.scope[0]);
    }
    data_.count = 1;
    for (std::uint32_t i = 0; i < tunable_count(); ++i) {
      if (domains_[i].size() == 1) {
        data_.fixed.indices[i] = domains_[i][0];
        data_.usable[i] = domains_[i];
      } else if (find(i) == i) {
        std::vector<std::uint32_t> group;
        for (std::uint32_t v = 0; v < tunable_count(); ++v) {
          if (domains_[v].size() > 1 && find(v) == i) group.push_back(v);
        }
        Trie trie = build_group(order_group(group));
        if (trie.node_count() == 0) return false;
        data_.count *= trie.count;
        for (std::uint32_t level = 0; level < trie.tunables.size(); ++level) {
          data_.group_of[trie.tunables[level]] = static_cast<std::uint32_t>(data_.tries.size());
          data_.level_of[trie.tunables[level]] = level;
        }
        note_usable(trie);
        data_.tries.push_back(std::move(trie));
      }
    }
    return true;
  }

  void note_usable(const Trie& trie) {
    std::vector<std::uint8_t> seen(trie.node_count(), 0);
    std::vector<std::uint32_t> layer{trie.root}, below;
    for (const std::uint32_t tunable : trie.tunables) {
      Domain& usable = data_.usable[tunable];
      for (const std::uint32_t node : layer) {
        for (std::uint32_t e = trie.begin[node]; e < trie.begin[node + 1]; ++e) {
          usable.push_back(trie.value[e]);
          if (seen[trie.child[e]] == 0) below.push_back(trie.child[e]);
          seen[trie.child[e]] = 1;
        }
      }
      std::sort(usable.begin(), usable.end());
      usable.erase(std::unique(usable.begin(), usable.end()), usable.end());
      layer.swap(below);
      below.clear();
    }
  }

  std::vector<std::uint32_t> order_group(std::vector<std::uint32_t> group) {
    std::vector<std::uint32_t> order;
    std::vector<bool> placed(tunable_count(), false);
    while (order.size() < group.size()) {
      // next: the tunable that keeps the fewest combinations of half-read tunables apart
      double best = 0;
      std::uint32_t choice = Trie::none;
      for (const std::uint32_t v : group) {
        if (placed[v]) continue;
        placed[v] = true;
        double states = 1;
        for (const std::uint32_t w : group) {
          if (placed[w] && open(w, placed)) states *= static_cast<double>(domains_[w].size());
        }
        placed[v] = false;
        if (choice == Trie::none || states < best) {
          best = states;
          choice = v;
        }
      }
      placed[choice] = true;
      order.push_back(choice);
    }
    return order;
  }

  bool open(std::uint32_t v, const std::vector<bool>& placed) const {
    for (const Relation& relation : relations_) {
      if (relation.done || std::find(relation.scope.begin(), relation.scope.end(), v) == relation.scope.end())
        continue;
      for (const std::uint32_t w : relation.scope) {
        if (!placed[w]) return true;
      }
    }
    return false;
  }

  Trie build_group(const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> level_of(tunable_count(), Trie::none);
    for (std::uint32_t level = 0; level < order.size(); ++level) level_of[order[level]] = level;
    // per level: relations complete there, and the tunables still needed below
    std::vector<std::vector<const Relation*>> checks(order.size());
    std::vector<std::uint32_t> last_need(order.size(), 0);
    for (const Relation& relation : relations_) {
      if (relation.done || level_of[relation.scope[0]] == Trie::none) continue;
      std::uint32_t last = 0;
      for (const std::uint32_t v : relation.scope) last = std::max(last, level_of[v]);
      checks[last].push_back(&relation);
      for (const std::uint32_t v : relation.scope)
        last_need[level_of[v]] = std::max(last_need[level_of[v]], last);
    }
    Layers layers;
    std::vector<std::uint32_t> position(tunable_count());
    for (std::size_t i = 0; i < tunable_count(); ++i) position[i] = domains_[i][0];
    std::vector<std::vector<std::uint32_t>> states{{}};  // positions of the needed levels
    std::vector<std::uint32_t> needed;
    std::size_t total = 0;
    for (std::uint32_t level = 0; level < order.size(); ++level) {
      std::vector<std::uint32_t> still;
      for (std::uint32_t l = 0; l <= level; ++l) {
        if (last_need[l] > level) still.push_back(l);
      }
      Layers::Layer layer;
      std::unordered_map<std::string, std::uint32_t> ids;
      std::vector<std::vector<std::uint32_t>> next;
      for (const std::vector<std::uint32_t>& state : states) {
        for (std::size_t i = 0; i < needed.size(); ++i) position[order[needed[i]]] = state[i];
        for (const std::uint32_t at : domains_[order[level]]) {
          position[order[level]] = at;
          if (!std::all_of(checks[level].begin(), checks[level].end(),
                           [&](const Relation* r) { return holds(*r, position); }))
            continue;
          std::vector<std::uint32_t> after;
          for (const std::uint32_t l : still) after.push_back(position[order[l]]);
          const std::string bytes(reinterpret_cast<const char*>(after.data()),
                                  after.size() * sizeof(std::uint32_t));
          const auto [slot, fresh] = ids.emplace(bytes, static_cast<std::uint32_t>(next.size()));
          if (fresh) next.push_back(std::move(after));
          layer.value.push_back(at);
          layer.next.push_back(slot->second);
        }
        layer.begin.push_back(static_cast<std::uint32_t>(layer.value.size()));
      }
      total += next.size();
      if (total > options_.max_states) {
        raise<ConfigError>("the tunables are too entangled to build their space",
                           data_.tunables[order[0]].name + " and those connected to it",
                           "shorten value lists, simplify constraints or raise SpaceOptions::max_states");
      }
      layers.layers.push_back(std::move(layer));
      states = std::move(next);
      needed = std::move(still);
    }
    return reduce(layers, order);
  }

  [[noreturn]] void raise_empty() {
    std::size_t low = 0, high = data_.constraints.size();  // the first `high` constraints leave nothing
    while (low + 1 < high) {
      const std::size_t middle = low + (high - low) / 2;
      prepare_relations(middle);
      (solve() ? low : high) = middle;
    }
    raise<ConfigError>("no configuration is valid",
                       "`" + data_.constraints[high - 1].text() +
                           "` leaves none of those that the constraints before it allow",
                       "relax it or add values");
  }

  void choose_default() {
    Config config = data_.fixed;
    for (const Trie& trie : data_.tries) nearest_in(trie, config);
    data_.default_config = std::move(config);
  }

  /// The combination nearest to the declared defaults: fewest tunables changed, then fewest positions moved.
  void nearest_in(const Trie& trie, Config& config) const {
    std::vector<std::uint32_t> level(trie.node_count(), 0);
    std::vector<std::uint64_t> cost(trie.node_count(), 0);
    const auto price = [&](std::uint32_t node_level, std::uint32_t at) -> std::uint64_t {
      const auto wish = static_cast<std::uint32_t>(data_.tunables[trie.tunables[node_level]].default_index);
      return at == wish ? 0 : (std::uint64_t{1} << 40) + (at > wish ? at - wish : wish - at);
    };
    level[0] = static_cast<std::uint32_t>(trie.tunables.size());
    for (std::uint32_t node = 1; node < trie.node_count(); ++node) {
      level[node] = level[trie.child[trie.begin[node]]] - 1;
      cost[node] = ~std::uint64_t{0};
      for (std::uint32_t e = trie.begin[node]; e < trie.begin[node + 1]; ++e) {
        cost[node] = std::min(cost[node], cost[trie.child[e]] + price(level[node], trie.value[e]));
      }
    }
    std::uint32_t node = trie.root;
    for (const std::uint32_t tunable : trie.tunables) {
      std::uint32_t e = trie.begin[node];
      while (cost[trie.child[e]] + price(level[node], trie.value[e]) != cost[node]) ++e;
      config.indices[tunable] = trie.value[e];
      node = trie.child[e];
    }
  }

  SpaceData& data_;
  SpaceOptions options_;
  std::vector<std::string> names_;
  std::vector<Domain> domains_;
  std::vector<Relation> relations_;
  std::vector<Value> arguments_;
};

KERNELSEARCH_INLINE std::shared_ptr<const SpaceData> build_space(std::vector<Tunable> tunables,
                                                                 std::vector<Constraint> constraints,
                                                                 SpaceOptions options) {
  const std::clock_t start = std::clock();
  auto data = std::make_shared<SpaceData>();
  data->tunables = std::move(tunables);
  data->constraints = std::move(constraints);
  SpaceMaker(*data, options).make();
  data->build_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return data;
}

}  // namespace kernelsearch::detail
