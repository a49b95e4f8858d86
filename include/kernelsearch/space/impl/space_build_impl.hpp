// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <ctime>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/space/impl/formula_reader_impl.hpp"
#include "kernelsearch/space/impl/group_walk_impl.hpp"
#include "kernelsearch/space/impl/nearest_config_impl.hpp"
#include "kernelsearch/space/impl/order_impl.hpp"
#include "kernelsearch/space/impl/space_data.hpp"
#include "kernelsearch/space/impl/validate_impl.hpp"

namespace kernelsearch::detail {

/// Builds a space: reads constraints into relations, narrows domains until nothing changes, then follows each
/// group of connected tunables.
class SpaceMaker {
 public:
  SpaceMaker(SpaceData& data, SpaceOptions options) : data_(data), options_(options) {}

  [[nodiscard]] Result<void> make() {
    if (Result<void> fine = validate(data_); !fine) return fine;
    for (const Tunable& t : data_.tunables) names_.push_back(t.name);
    if (Result<void> fine = read_names(constraint_count()); !fine) return fine;
    const bool possible = narrow_domains() && build_groups();
    if (entangled_) return *std::move(entangled_);
    if (!possible) return why_empty();
    choose_default();
    return {};
  }

  /// One trie for everything, assigned in the given order; for a space that is known to have configurations.
  std::optional<Trie> trie_in_order(const std::vector<std::uint32_t>& order) {
    if (!validate(data_)) return std::nullopt;
    for (const Tunable& t : data_.tunables) names_.push_back(t.name);
    if (!read_names(constraint_count())) return std::nullopt;
    std::vector<const Relation*> relations;
    if (!narrow_domains()) return std::nullopt;
    for (const Relation& relation : relations_) relations.push_back(&relation);
    const LevelNodes nodes(*formulas_, relations, order);
    Layers layers;
    if (!GroupWalk(*formulas_, nodes, order, domains_, options_.max_states).run(layers)) return std::nullopt;
    return reduce(layers, order);
  }

 private:
  using Domain = std::vector<std::uint32_t>;

  std::size_t tunable_count() const { return data_.tunables.size(); }
  std::size_t constraint_count() const { return data_.constraints.size() + data_.conditions.size(); }
  const Constraint& constraint(std::size_t i) const {
    return i < data_.constraints.size() ? data_.constraints[i]
                                        : data_.conditions[i - data_.constraints.size()];
  }

  /// What the first `count` constraints read, by tunable.
  [[nodiscard]] Result<void> read_names(std::size_t count) {
    reads_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      reads_.emplace_back();
      for (const std::string& name : constraint(i).names()) {
        const auto found = data_.by_name.find(name);
        if (found == data_.by_name.end()) return unknown_name(name, constraint(i));
        reads_.back().push_back(static_cast<std::uint32_t>(found->second));
      }
    }
    return {};
  }

  [[nodiscard]] Fault unknown_name(const std::string& name, const Constraint& constraint) const {
    const std::string near = nearest_name(name, names_);
    return {"a constraint reads an unknown tunable", "\"" + name + "\" in `" + constraint.text() + "`",
            near.empty() ? "declare it" : "did you mean \"" + near + "\"?"};
  }

  /// Turns the constraints into relations over the present domains; those over one tunable narrow the domains
  /// instead. `narrowed` tells whether they did; false where nothing is left.
  bool read_relations(bool& narrowed) {
    std::vector<std::size_t> sizes;
    for (const Domain& domain : domains_) sizes.push_back(domain.size());
    formulas_.emplace(std::move(sizes));
    relations_.clear();
    std::vector<std::vector<std::uint8_t>> kept(tunable_count());
    FormulaReader reader(*formulas_, data_.tunables, domains_);
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      const Constraint& given = constraint(i);
      if (i >= data_.constraints.size() && add_condition(reader, i - data_.constraints.size(), kept))
        continue;
      if (!given.expression()) {
        if (!add_test(function_test(given, reads_[i]), reads_[i], kept)) return false;
        continue;
      }
      for (const FormulaReader::Conjunct& part : reader.read(*given.expression(), reads_[i])) {
        const bool possible =
            part.root == Formulas::none
                ? add_test(part_test(*given.expression(), part.part, reads_[i]), reads_[i], kept)
                : add_formula(part.root, kept);
        if (!possible) return false;
      }
    }
    narrowed = false;
    return narrow(kept, narrowed);
  }

  /// Adds a formula that must not be 0, or applies it at once; false where it is always 0.
  bool add_formula(NodeId root, std::vector<std::vector<std::uint8_t>>& kept) {
    const FormulaNode& node = formulas_->node(root);
    if (node.op == FormulaOp::constant) return node.table[0] != 0;
    const auto same = [&](const Relation& relation) { return relation.root == root; };
    if (node.scope.size() == 1) {
      keep(kept[node.scope[0]], node.table);
    } else if (std::none_of(relations_.begin(), relations_.end(), same)) {
      Relation relation;
      relation.root = root;
      relation.scope = node.scope;
      relations_.push_back(std::move(relation));
    }
    return true;
  }

  /// The condition of a conditional tunable as a formula; false where it has none.
  bool add_condition(FormulaReader& reader, std::size_t i, std::vector<std::vector<std::uint8_t>>& kept) {
    const std::uint32_t tunable = data_.conditional[i];
    const Tunable& t = data_.tunables[tunable];
    std::vector<Word> pinned;
    for (const std::uint32_t at : domains_[tunable]) pinned.push_back(at == t.default_index ? 1 : 0);
    const NodeId active = reader.condition(*t.active_if, reads_[data_.constraints.size() + i]);
    if (active == Formulas::none || pinned.size() == 1) return false;
    return add_formula(
        formulas_->make(FormulaOp::logical_or, {active, formulas_->leaf(tunable, std::move(pinned), false)}),
        kept);
  }

  template <class T>
  static void keep(std::vector<std::uint8_t>& kept, const std::vector<T>& table) {
    if (kept.empty()) kept.assign(table.size(), 1);
    for (std::size_t at = 0; at < table.size(); ++at) {
      if (table[at] == 0) kept[at] = 0;
    }
  }

  bool narrow(const std::vector<std::vector<std::uint8_t>>& kept, bool& narrowed) {
    for (std::size_t v = 0; v < tunable_count(); ++v) {
      if (kept[v].empty() || std::find(kept[v].begin(), kept[v].end(), 0) == kept[v].end()) continue;
      Domain left;
      for (std::size_t at = 0; at < kept[v].size(); ++at) {
        if (kept[v][at] != 0) left.push_back(domains_[v][at]);
      }
      domains_[v] = std::move(left);
      narrowed = true;
      if (domains_[v].empty()) return false;
    }
    return true;
  }

  Relation::Test function_test(const Constraint& constraint, const std::vector<std::uint32_t>& reads) const {
    return [this, &constraint, reads](const std::vector<std::uint32_t>& at) {
      std::vector<Value> arguments;
      arguments.reserve(reads.size());
      for (const std::uint32_t v : reads) arguments.push_back(data_.tunables[v].values[domains_[v][at[v]]]);
      return constraint.holds(arguments);
    };
  }

  Relation::Test part_test(const Expression& expression, std::uint32_t part,
                           const std::vector<std::uint32_t>& reads) const {
    return [this, program = ExpressionPart(expression, part), reads](const std::vector<std::uint32_t>& at) {
      return program
          .test([&](std::uint32_t slot) -> const Value& {
            const std::uint32_t v = reads[slot];
            return data_.tunables[v].values[domains_[v][at[v]]];
          })
          .value_or(false);
    };
  }

  /// Adds a relation without a formula, or applies it at once where it reads at most one open tunable.
  bool add_test(Relation::Test test, const std::vector<std::uint32_t>& reads,
                std::vector<std::vector<std::uint8_t>>& kept) {
    Relation relation;
    for (const std::uint32_t v : reads) {
      if (domains_[v].size() > 1) relation.scope.push_back(v);
    }
    std::sort(relation.scope.begin(), relation.scope.end());
    relation.scope.erase(std::unique(relation.scope.begin(), relation.scope.end()), relation.scope.end());
    relation.test = std::move(test);
    std::vector<std::uint32_t> at(tunable_count(), 0);
    if (relation.scope.empty()) return relation.test(at);
    if (relation.scope.size() == 1) {
      const std::uint32_t v = relation.scope[0];
      std::vector<Word> table(domains_[v].size());
      for (std::size_t i = 0; i < table.size(); ++i) {
        at[v] = static_cast<std::uint32_t>(i);
        table[i] = relation.test(at) ? 1 : 0;
      }
      keep(kept[v], table);
    } else {
      relations_.push_back(std::move(relation));
    }
    return true;
  }

  /// Tabulates small relations and narrows domains to the values that each of them leaves.
  bool tabulate_relations(bool& narrowed) {
    // Tables up to this size stay; larger ones between two tunables are still worth a look at the values they
    // rule out.
    constexpr double most_cells_kept = 4096, most_cells_of_pair = 1 << 20, most_cells_in_all = 1 << 21;
    std::vector<Relation*> by_size;
    for (Relation& relation : relations_) by_size.push_back(&relation);
    std::stable_sort(by_size.begin(), by_size.end(), [&](const Relation* a, const Relation* b) {
      return combinations(*a, *formulas_) < combinations(*b, *formulas_);
    });
    double cells_in_all = 0;
    std::vector<std::vector<std::uint8_t>> kept(tunable_count()), marks;
    narrowed = false;
    for (Relation* relation : by_size) {
      const double cells = combinations(*relation, *formulas_);
      const double limit = relation->scope.size() == 2 && relation->root != Formulas::none
                               ? most_cells_of_pair
                               : most_cells_kept;
      if (cells > limit || (cells_in_all += cells) > most_cells_in_all) continue;
      tabulate(*relation, *formulas_, tunable_count());
      supported(*relation, *formulas_, marks);
      for (std::size_t i = 0; i < relation->scope.size(); ++i) keep(kept[relation->scope[i]], marks[i]);
      if (cells > most_cells_kept) relation->truth.clear();
    }
    rule_out(kept);
    std::erase_if(relations_, [](const Relation& relation) {
      return relation.density == 1.0 && !relation.truth.empty();
    });
    return narrow(kept, narrowed);
  }

  /// Looks at each large domain through each relation that is too large to tabulate.
  void rule_out(std::vector<std::vector<std::uint8_t>>& kept) const {
    constexpr double most_work = 1 << 19, most_work_in_all = 1 << 21;
    constexpr std::size_t large = 32;
    std::vector<const Relation*> pairs;
    for (const Relation& relation : relations_) {
      if (relation.scope.size() == 2 && !relation.truth.empty()) pairs.push_back(&relation);
    }
    double work = 0;
    std::vector<std::uint8_t> marks;
    for (const Relation& relation : relations_) {
      if (relation.root == Formulas::none || !relation.truth.empty() || relation.scope.size() == 2) continue;
      for (const std::uint32_t v : relation.scope) {
        if (domains_[v].size() < large || work > most_work_in_all) continue;
        const double done = possible(relation, *formulas_, v, pairs, most_work, marks);
        work += done;
        if (done > 0) keep(kept[v], marks);
      }
    }
  }

  bool narrow_domains() {
    domains_.clear();
    for (const Tunable& t : data_.tunables) {
      domains_.emplace_back(t.values.size());
      std::iota(domains_.back().begin(), domains_.back().end(), 0);
    }
    // Each round starts from what the last one left; it ends because domains only shrink.
    for (bool narrowed = true; narrowed;) {
      if (!read_relations(narrowed)) return false;
      if (!narrowed && !tabulate_relations(narrowed)) return false;
    }
    return true;
  }

  bool build_groups() {
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
      for (const std::uint32_t v : relation.scope) leader[find(v)] = find(relation.scope[0]);
    }
    data_.count = 1;
    for (std::uint32_t i = 0; i < tunable_count(); ++i) {
      if (domains_[i].size() == 1) {
        data_.fixed.indices[i] = domains_[i][0];
        data_.usable[i] = domains_[i];
      } else if (find(i) == i) {
        std::vector<std::uint32_t> group;
        std::vector<const Relation*> relations;
        for (std::uint32_t v = 0; v < tunable_count(); ++v) {
          if (domains_[v].size() > 1 && find(v) == i) group.push_back(v);
        }
        for (const Relation& relation : relations_) {
          if (find(relation.scope[0]) == i) relations.push_back(&relation);
        }
        if (!add_group(std::move(group), relations)) return false;
      }
    }
    return true;
  }

  bool add_group(std::vector<std::uint32_t> group, const std::vector<const Relation*>& relations) {
    const std::vector<std::uint32_t> order = GroupOrder(*formulas_, relations, std::move(group)).choose();
    const LevelNodes nodes(*formulas_, relations, order);
    Layers layers;
    if (!GroupWalk(*formulas_, nodes, order, domains_, options_.max_states).run(layers)) {
      if (searching_culprit_) return true;  // that many states are hardly all dead ends
      entangled_ = Fault{"the tunables are too entangled to build their space",
                         data_.tunables[order[0]].name + " and those connected to it",
                         "shorten value lists, simplify constraints or raise SpaceOptions::max_states"};
      return false;
    }
    Trie trie = reduce(layers, order);
    if (trie.node_count() == 0) return false;
    data_.count *= trie.count;
    for (std::uint32_t level = 0; level < trie.tunables.size(); ++level) {
      data_.group_of[trie.tunables[level]] = static_cast<std::uint32_t>(data_.tries.size());
      data_.level_of[trie.tunables[level]] = level;
    }
    note_usable(trie);
    data_.tries.push_back(std::move(trie));
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

  /// Which constraint leaves nothing.
  [[nodiscard]] Fault why_empty() {
    searching_culprit_ = true;
    std::size_t low = 0, high = constraint_count();  // the first `high` constraints leave nothing
    while (low + 1 < high) {
      const std::size_t middle = low + (high - low) / 2;
      (void)read_names(middle);  // all are known
      (narrow_domains() && build_groups() ? low : high) = middle;
    }
    return {"no configuration is valid",
            "`" + constraint(high - 1).text() + "` leaves none of those that the constraints before it allow",
            "relax it or add values"};
  }

  void choose_default() {
    Config declared;
    for (const Tunable& t : data_.tunables)
      declared.indices.push_back(static_cast<std::uint32_t>(t.default_index));
    data_.default_config = nearest_config(data_, declared);
  }

  SpaceData& data_;
  SpaceOptions options_;
  bool searching_culprit_ = false;
  std::optional<Fault> entangled_;  ///< a group has too many states to be built
  std::vector<std::string> names_;
  std::vector<Domain> domains_;
  std::vector<std::vector<std::uint32_t>> reads_;  // constraint -> the tunables of its slots
  std::optional<Formulas> formulas_;
  std::vector<Relation> relations_;
};

KERNELSEARCH_INLINE Result<std::shared_ptr<const SpaceData>> build_space(std::vector<Tunable> tunables,
                                                                         std::vector<Constraint> constraints,
                                                                         SpaceOptions options) {
  const std::clock_t start = std::clock();
  auto data = std::make_shared<SpaceData>();
  data->tunables = std::move(tunables);
  data->constraints = std::move(constraints);
  if (Result<void> made = SpaceMaker(*data, options).make(); !made) return std::move(made).error();
  data->build_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return std::shared_ptr<const SpaceData>(std::move(data));
}

KERNELSEARCH_INLINE std::optional<Trie> backward_trie(const SpaceData& data, std::size_t max_states) {
  SpaceData copy;
  copy.tunables = data.tunables;
  copy.constraints = data.constraints;
  std::vector<std::uint32_t> order(data.tunables.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return SpaceMaker(copy, SpaceOptions{max_states}).trie_in_order(order);
}

}  // namespace kernelsearch::detail
