// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelsearch/space/impl/level_nodes_impl.hpp"

namespace kernelsearch::detail {

/// Rows of words of one width, each kept once and numbered in order of arrival.
class WordRows {
 public:
  explicit WordRows(std::size_t width) : width_(width) { slots_.assign(64, none); }

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] const Word* row(std::size_t i) const noexcept { return words_.data() + i * width_; }

  /// The number of `row`, which is added if it is new.
  std::uint32_t number(std::span<const Word> row, std::uint64_t hash) {
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at] != none; at = (at + 1) & (slots_.size() - 1)) {
      if (hashes_[slots_[at]] == hash &&
          std::equal(row.begin(), row.end(), words_.data() + slots_[at] * width_))
        return slots_[at];
    }
    slots_[at] = static_cast<std::uint32_t>(count_);
    hashes_.push_back(hash);
    words_.insert(words_.end(), row.begin(), row.end());
    if (2 * ++count_ > slots_.size()) grow();
    return static_cast<std::uint32_t>(count_ - 1);
  }

 private:
  void grow() {
    slots_.assign(slots_.size() * 4, none);
    for (std::uint32_t i = 0; i < count_; ++i) {
      std::size_t at = hashes_[i] & (slots_.size() - 1);
      while (slots_[at] != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }

  std::size_t width_;
  std::size_t count_ = 0;
  std::vector<Word> words_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> slots_;
};

/// Follows all partial combinations of a group level by level. Combinations that allow the same
/// continuations, as far as the values still to be read tell, are one state.
class GroupWalk {
 public:
  GroupWalk(const Formulas& formulas, const LevelNodes& levels, const std::vector<std::uint32_t>& order,
            const std::vector<std::vector<std::uint32_t>>& domains, std::size_t max_states)
      : formulas_(formulas),
        nodes_(levels.nodes),
        levels_(levels),
        order_(order),
        domains_(domains),
        max_states_(max_states) {}

  /// False where more than `max_states` states would be needed, or work in proportion.
  bool run(Layers& layers) {
    WordRows states(0);
    states.number({}, 0);
    slots_ = {};
    std::size_t total = 0;
    for (std::uint32_t level = 0; level < order_.size(); ++level) {
      prepare(level);
      WordRows next(new_slots_.size());
      Layers::Layer layer;
      layer.begin.reserve(states.size() + 1);
      for (std::size_t state = 0; state < states.size(); ++state) {
        expand(level, states.row(state), next, layer);
        layer.begin.push_back(static_cast<std::uint32_t>(layer.value.size()));
        if (total + next.size() > max_states_ || layer.value.size() > 8 * max_states_) return false;
        if (work_ > 200 * static_cast<std::uint64_t>(max_states_)) return false;  // a minute for ten million
      }
      total += next.size();
      layers.layers.push_back(std::move(layer));
      states = std::move(next);
      slots_ = std::move(new_slots_);
    }
    return true;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// What a state remembers: the position of a tunable (the first of those that look alike from here on), or
  /// the value of a node.
  struct Slot {
    std::uint32_t level = none;  // of the tunable
    std::uint32_t node = none;
    std::vector<std::uint32_t> representative;  // position -> position
  };
  /// Where an operand that an earlier level determined comes from.
  struct Input {
    std::uint32_t target;  // register
    std::uint32_t slot;
    const Word* table;  // of a leaf; null for a node's value
  };
  struct Step {
    FormulaOp op;
    bool real_operands;
    bool wide;
    std::uint32_t a, b, c;  // registers
    std::uint32_t target;
    const Word* table;
    std::size_t width;
    Word* out;
  };
  /// A check whose outcome for all positions is remembered by the values it reads from the state.
  struct Memo {
    std::vector<Step> steps;
    std::vector<Input> inputs;
    std::uint32_t root;
    std::unordered_map<std::uint64_t, std::vector<std::pair<std::vector<Word>, std::vector<std::uint64_t>>>>
        known;
  };
  struct Gather {
    std::uint32_t target;
    const Word* table;
  };

  std::uint32_t slot_of_level(std::uint32_t level) const {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].level == level) return i;
    }
    return none;
  }
  std::uint32_t slot_of_node(std::uint32_t node) const {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].node == node) return i;
    }
    return none;
  }

  std::uint32_t new_register() {
    registers_.push_back({});
    return static_cast<std::uint32_t>(registers_.size() - 1);
  }

  /// Makes the register of a node available at `level`, adding to `steps` and `inputs` what it takes.
  std::uint32_t place(std::uint32_t index, std::uint32_t level,
                      std::unordered_map<std::uint32_t, std::uint32_t>& placed, std::vector<Step>& steps,
                      std::vector<Input>& inputs, bool compact) {
    const auto known = placed.find(index);
    if (known != placed.end()) return known->second;
    const LevelNode& node = nodes_[index];
    const std::uint32_t target = new_register();
    placed.emplace(index, target);
    if (node.op == FormulaOp::constant) {
      registers_[target] = {node.table, false};
    } else if (node.op == FormulaOp::leaf && node.level == level) {
      registers_[target] = {node.table, true};
      if (compact) gathers_.push_back({target, node.table});
    } else if (node.level < level) {
      const bool leaf = node.op == FormulaOp::leaf;
      inputs.push_back(
          {target, leaf ? slot_of_level(node.level) : slot_of_node(index), leaf ? node.table : nullptr});
    } else {
      Step step{node.op, node.real_operands, true, 0, 0, 0, target, node.table, node.width, nullptr};
      std::uint32_t* operands[] = {&step.a, &step.b, &step.c};
      step.b = none;
      for (std::size_t i = 0; i < node.args.size(); ++i)
        *operands[i] = place(node.args[i], level, placed, steps, inputs, compact);
      buffers_.emplace_back(size_);
      step.out = buffers_.back().data();
      registers_[target] = {step.out, true};
      steps.push_back(step);
    }
    return target;
  }

  void run_steps(const std::vector<Step>& steps, std::size_t n, const std::uint32_t* positions) {
    for (const Step& step : steps) {
      if (step.op == FormulaOp::table) {
        const WordColumn state = registers_[step.a];
        for (std::size_t i = 0; i < n; ++i) {
          step.out[i] = step.table[static_cast<std::size_t>(state.data[state.wide ? i : 0]) * step.width +
                                   positions[i]];
        }
      } else if (step.op == FormulaOp::select) {
        apply_select(n, step.out, registers_[step.a], registers_[step.b], registers_[step.c]);
      } else if (step.b == none) {
        apply(step.op, step.real_operands, n, step.out, registers_[step.a]);
      } else {
        apply(step.op, step.real_operands, n, step.out, registers_[step.a], registers_[step.b]);
      }
    }
  }

  void prepare(std::uint32_t level) {
    size_ = domains_[order_[level]].size();
    registers_.clear();
    buffers_.clear();
    buffers_.reserve(nodes_.size() * (levels_.checks[level].size() + 1) + 1);
    memos_.clear();
    steps_.clear();
    inputs_.clear();
    gathers_.clear();
    check_registers_.clear();
    all_.resize(size_);
    for (std::uint32_t i = 0; i < size_; ++i) all_[i] = i;
    lay_out(level);

    // Remembering outcomes pays where the domain is large; three values are few enough to repeat.
    constexpr std::size_t large = 16, few = 3;
    std::vector<std::uint32_t> direct;
    for (const std::uint32_t check : levels_.checks[level]) {
      bool remembered = false;
      if (size_ >= large && nodes_[check].op != FormulaOp::table) {
        Memo memo;
        std::unordered_map<std::uint32_t, std::uint32_t> placed;
        memo.root = place(check, level, placed, memo.steps, memo.inputs, false);
        remembered = memo.inputs.size() <= few;
        if (remembered) memos_.push_back(std::move(memo));
      }
      if (!remembered) direct.push_back(check);
    }
    std::unordered_map<std::uint32_t, std::uint32_t> placed;
    for (const std::uint32_t check : direct)
      check_registers_.push_back(place(check, level, placed, steps_, inputs_, true));
    outputs_.clear();
    for (std::size_t i = carried_; i < new_slots_.size(); ++i) {
      outputs_.push_back(new_slots_[i].node == none
                             ? none
                             : place(new_slots_[i].node, level, placed, steps_, inputs_, true));
    }
    gathered_.assign(gathers_.size(), std::vector<Word>(size_));
    key_.resize(new_slots_.size());
    test_positions_.resize(formulas_.tunable_count());
  }

  /// Decides what the states after `level` remember: first what is carried over, then what is new.
  void lay_out(std::uint32_t level) {
    new_slots_.clear();
    carry_from_.clear();
    const auto add_tunable = [&](std::uint32_t l) {
      std::vector<const LevelNode*> leaves;
      for (const LevelNode& node : nodes_) {
        if (node.op == FormulaOp::leaf && node.level == l && node.last_use > level) leaves.push_back(&node);
      }
      if (leaves.empty()) return false;
      Slot slot;
      slot.level = l;
      const std::size_t n = domains_[order_[l]].size();
      WordRows rows(leaves.size());
      std::vector<std::uint32_t> first;
      std::vector<Word> row(leaves.size());
      for (std::uint32_t at = 0; at < n; ++at) {
        std::uint64_t hash = 0;
        for (std::size_t i = 0; i < leaves.size(); ++i) {
          row[i] = leaves[i]->table[at];
          hash = mix(hash, static_cast<std::uint64_t>(row[i]));
        }
        const std::uint32_t number = rows.number(row, hash);
        if (number == first.size()) first.push_back(at);
        slot.representative.push_back(first[number]);
      }
      new_slots_.push_back(std::move(slot));
      return true;
    };
    for (std::uint32_t l = 0; l < level; ++l) {
      const std::uint32_t from = slot_of_level(l);
      if (from != none && add_tunable(l)) carry_from_.push_back(from);
    }
    const auto remembered = [&](const LevelNode& node) {
      return node.op != FormulaOp::leaf && node.op != FormulaOp::constant && node.level <= level &&
             node.last_use > level;
    };
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (!remembered(nodes_[i]) || nodes_[i].level == level) continue;
      carry_from_.push_back(slot_of_node(i));
      new_slots_.push_back({none, i, {}});
    }
    carried_ = new_slots_.size();
    add_tunable(level);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (remembered(nodes_[i]) && nodes_[i].level == level) new_slots_.push_back({none, i, {}});
    }
  }

  void load(const std::vector<Input>& inputs, const Word* state) {
    for (const Input& input : inputs) {
      registers_[input.target] = {
          input.table != nullptr ? input.table + state[input.slot] : state + input.slot, false};
    }
  }

  const std::vector<std::uint64_t>& outcome(Memo& memo, const Word* state) {
    load(memo.inputs, state);
    memo_key_.clear();
    std::uint64_t hash = 0;
    for (const Input& input : memo.inputs) {
      memo_key_.push_back(*registers_[input.target].data);
      hash = mix(hash, static_cast<std::uint64_t>(memo_key_.back()));
    }
    auto& bucket = memo.known[hash];
    for (const auto& [key, bits] : bucket) {
      if (key == memo_key_) return bits;
    }
    work_ += size_;
    run_steps(memo.steps, size_, all_.data());
    std::vector<std::uint64_t> bits((size_ + 63) / 64, 0);
    const WordColumn column = registers_[memo.root];
    for (std::size_t i = 0; i < size_; ++i) bits[i / 64] |= std::uint64_t{column.data[i] != 0} << (i % 64);
    bucket.emplace_back(memo_key_, std::move(bits));
    return bucket.back().second;
  }

  void expand(std::uint32_t level, const Word* state, WordRows& next, Layers::Layer& layer) {
    const std::uint32_t* positions = all_.data();
    std::size_t n = size_;
    if (!memos_.empty()) {
      allowed_.assign((size_ + 63) / 64, ~std::uint64_t{0});
      for (Memo& memo : memos_) {
        const std::vector<std::uint64_t>& bits = outcome(memo, state);
        for (std::size_t i = 0; i < allowed_.size(); ++i) allowed_[i] &= bits[i];
      }
      chosen_.clear();
      for (std::size_t i = 0; i < allowed_.size(); ++i) {
        for (std::uint64_t rest = allowed_[i]; rest != 0; rest &= rest - 1) {
          const std::size_t at = i * 64 + static_cast<std::size_t>(std::countr_zero(rest));
          if (at < size_) chosen_.push_back(static_cast<std::uint32_t>(at));
        }
      }
      if (chosen_.empty()) return;
      positions = chosen_.data();
      n = chosen_.size();
      for (std::size_t g = 0; g < gathers_.size(); ++g) {
        for (std::size_t i = 0; i < n; ++i) gathered_[g][i] = gathers_[g].table[positions[i]];
        registers_[gathers_[g].target] = {gathered_[g].data(), true};
      }
    }
    work_ += n;
    load(inputs_, state);
    run_steps(steps_, n, positions);

    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < carried_; ++i) {
      const Word word = state[carry_from_[i]];
      key_[i] =
          new_slots_[i].node == none ? new_slots_[i].representative[static_cast<std::size_t>(word)] : word;
      prefix = mix(prefix, static_cast<std::uint64_t>(key_[i]));
    }
    if (!levels_.tests[level].empty()) {
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].level != none)
          test_positions_[order_[slots_[i].level]] = static_cast<std::uint32_t>(state[i]);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      bool fine = true;
      for (const std::uint32_t check : check_registers_) {
        const WordColumn column = registers_[check];
        fine = fine && column.data[column.wide ? i : 0] != 0;
      }
      if (!fine) continue;
      for (const LevelTest& test : levels_.tests[level]) {
        test_positions_[order_[level]] = positions[i];
        fine = fine && test.relation->test(test_positions_);
      }
      if (!fine) continue;
      std::uint64_t hash = prefix;
      for (std::size_t o = 0; o < outputs_.size(); ++o) {
        const Word word = outputs_[o] == none ? new_slots_[carried_ + o].representative[positions[i]]
                                              : registers_[outputs_[o]].data[i];
        key_[carried_ + o] = word;
        hash = mix(hash, static_cast<std::uint64_t>(word));
      }
      layer.value.push_back(domains_[order_[level]][positions[i]]);
      layer.next.push_back(next.number(key_, hash));
    }
  }

  const Formulas& formulas_;
  const std::vector<LevelNode>& nodes_;
  const LevelNodes& levels_;
  const std::vector<std::uint32_t>& order_;
  const std::vector<std::vector<std::uint32_t>>& domains_;
  std::size_t max_states_;
  std::uint64_t work_ = 0;  // rows evaluated

  // of the level being expanded
  std::size_t size_ = 0;
  std::vector<Slot> slots_, new_slots_;
  std::size_t carried_ = 0;
  std::vector<std::uint32_t> carry_from_;
  std::vector<WordColumn> registers_;
  std::vector<std::vector<Word>> buffers_;
  std::vector<Memo> memos_;
  std::vector<Step> steps_;
  std::vector<Input> inputs_;
  std::vector<Gather> gathers_;
  std::vector<std::vector<Word>> gathered_;
  std::vector<std::uint32_t> check_registers_, outputs_;
  std::vector<std::uint32_t> all_, chosen_, test_positions_;
  std::vector<std::uint64_t> allowed_;
  std::vector<Word> key_, memo_key_;
};

}  // namespace kernelsearch::detail
