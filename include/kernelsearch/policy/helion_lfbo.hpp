// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/model/random_forest.hpp"
#include "kernelsearch/policy/impl/ledger.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/encoding.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Where proposals come from once there is a model.
enum class HelionProposals : std::uint8_t {
  tree,    ///< greedy walks along the path of the incumbent in one tree (LFBOTreeSearch, Helion's default)
  pattern  ///< random moves (LFBOPatternSearch)
};

/// The settings of Helion 1.5.1 at full effort.
struct HelionLfboOptions {
  std::uint64_t seed = 0;
  HelionProposals proposals = HelionProposals::tree;
  std::size_t initial = 100;        ///< configurations that a run begins with
  std::size_t copies = 5;           ///< the best of them, searched from in parallel
  std::size_t generations = 20;     ///< at most
  std::size_t neighbours = 0;       ///< proposals of each copy a generation; 0: 200 (tree), 300 (pattern)
  double fraction = 0.10;           ///< of them that are measured
  std::size_t radius = 2;           ///< of a move in the tree's walk, and of block sizes and warps
  double quantile = 0.1;            ///< of the times; at or under it a configuration counts as good
  std::size_t patience = 1;         ///< generations without gain that a copy survives
  double similarity_penalty = 1.0;  ///< for sharing leaves with what was selected already
  double min_improvement = 0.001;   ///< relative; less is no gain
  std::size_t polish_rounds = 10;   ///< of descent over all single moves at the end of a run
  std::size_t trees = 100;
  std::vector<std::string> block_sizes = {};  ///< tunables that every random mutant moves one of
  std::string warps = {};                     ///< the tunable that every random mutant moves; empty: none
  /// Configurations that break a constraint are drawn and learned from as failures, without being proposed.
  /// As Helion does over a recorded space, and to its profit; false: only valid ones are considered.
  bool learn_violations = true;
  bool restart = true;  ///< begin another run when one ends; false: a single run, as shipped
};

/// The settings that did best on recorded spaces: small population, few copies, more patience.
[[nodiscard]] HelionLfboOptions helion_lfbo_small(std::uint64_t seed = 0);

/// The search of Helion 1.5.1 (pytorch/helion, surrogate_pattern_search.py): a random population, then copies
/// of its best that move to what a random forest takes for good, whole generations at a time, then a descent.
/// It is here to be compared with; `Lfbo` is the one to use.
///
/// Departures: with `restart`, runs follow one another until the space is exhausted, and what an earlier run
/// measured is not measured again; a population in which fewer configurations are valid than there are copies
/// is filled up with valid ones; nothing is measured twice. Timings are taken for seconds where weights have
/// an absolute floor.
class HelionLfbo {
 public:
  using Proposal = Config;

  explicit HelionLfbo(Space space, HelionLfboOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  enum class Stage : std::uint8_t { begin, initial, generation, polish, rest, done };
  struct Copy {
    Config incumbent;
    std::vector<Config> measured;
    std::size_t failures = 0;
    bool active = true;
  };

  bool advance();
  void begin_run();
  void after_initial();
  void next_generation();
  void step_copies();
  bool next_polish_round();
  void fit();
  void submit(const Config& config);
  [[nodiscard]] bool admissible(const Config& config) const;
  [[nodiscard]] Config random_config();
  [[nodiscard]] std::vector<Config> random_mutants(const Config& base);
  [[nodiscard]] std::vector<Config> tree_mutants(const Config& base);
  [[nodiscard]] std::vector<Config> select(std::vector<Config> pool);
  void move(Config& config, std::size_t tunable, std::size_t radius);

  HelionLfboOptions options_;
  Encoding encoding_;
  Rng rng_;
  detail::Ledger ledger_;
  std::vector<std::size_t> blocks_;
  std::optional<std::size_t> warps_;

  Stage stage_ = Stage::begin;
  std::deque<Config> queue_;            ///< of the batch, not yet proposed
  std::vector<Config> waiting_;         ///< of the batch, whose outcomes are not all known
  std::vector<Config> trained_on_;      ///< of this run, violations too
  std::unordered_set<Config> visited_;  ///< of this run
  std::vector<Copy> copies_;
  std::optional<RandomForestClassifier> model_;
  std::size_t generation_ = 0, polished_ = 0;
  Config polish_from_;
  std::size_t proposed_before_run_ = 0, idle_runs_ = 0;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/helion_lfbo_impl.hpp"
#endif
