// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/model/feature_matrix.hpp"
#include "kernelsearch/model/tree_ensemble.hpp"
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

/// What a run begins with (pattern_search.py, InitialPopulationStrategy).
enum class HelionStart : std::uint8_t {
  random,  ///< the default and random configurations (FROM_RANDOM)
  best_known  ///< the best success from outside and the default; random where there is none (FROM_BEST_AVAILABLE)
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
  double min_improvement = 0.001;   ///< relative; less is not a gain
  std::size_t polish_rounds = 10;   ///< of descent over all single moves at the end of a run
  std::size_t trees = 100;
  /// Tunables of which every random mutant moves one; empty: those of role `block_size`.
  std::vector<std::string> block_sizes = {};
  std::string warps = {};  ///< the tunable that every random mutant moves; empty: the one of role `warps`
  /// Configurations that break a constraint are drawn and learned from as failures, without being proposed.
  /// As Helion does over a recorded space, and to its profit; false: only valid ones are considered.
  bool learn_violations = true;
  bool restart = true;  ///< begin another run when one ends; false: a single run, as shipped
  HelionStart start = HelionStart::random;  ///< of the first run; Helion's hybrid takes best_known
};

/// Where the search takes chance and its model from, in place of its own: for replays of Helion's own runs.
struct HelionSource {
  std::function<std::size_t(std::size_t)> below = nullptr;  ///< uniform in [0, n)
  std::function<double()> uniform = nullptr;                ///< uniform in [0, 1)
  /// The forest that learns these rows: a label and a weight for each.
  std::function<TreeEnsemble(const FeatureMatrix&, const std::vector<bool>&, std::span<const double>)> learn =
      nullptr;
};

/// The settings that did best on recorded spaces: small population, few copies, more patience.
[[nodiscard]] HelionLfboOptions helion_lfbo_small(std::uint64_t seed = 0);

/// The search of Helion 1.5.1 (pytorch/helion, surrogate_pattern_search.py): a random population, then copies
/// of its best that move to what a random forest takes for good, whole generations at a time, then a descent.
/// It is here to be compared with; `Lfbo` is the one to use.
///
/// Departures: with `restart`, runs follow one another until the space is exhausted, and what an earlier run
/// measured is not measured again; a population in which fewer configurations are valid than there are copies
/// is filled up with valid ones; nothing is measured twice: what is known already counts as measured. Timings
/// are taken for seconds where weights have an absolute floor. Otherwise it takes the steps of Helion's own
/// classes where it is given their chance and their forests (tests/fixtures/helion).
///
/// Foreign outcomes are learned from by every run, before its own, as what Helion's hybrid hands over
/// (seed_training_data).
class HelionLfbo {
 public:
  using Proposal = Config;

  explicit HelionLfbo(Space space, HelionLfboOptions options = {});
  /// The same with chance and model from `source`, all three of them.
  HelionLfbo(Space space, HelionSource source, HelionLfboOptions options);

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  enum class Stage : std::uint8_t { begin, initial, generation, polish, rest, done };
  struct Copy {
    Config incumbent;
    std::vector<Config> measured;  ///< of this generation
    std::size_t failures = 0;
    bool active = true;
  };
  struct Row {
    Config config;
    bool failed = false;  ///< stays a failure, whatever is told of it later
  };

  [[nodiscard]] std::size_t below(std::size_t n) { return source_.below ? source_.below(n) : rng_.below(n); }
  bool advance();
  void begin_run();
  void after_initial();
  void next_generation();
  void step_copies();
  bool next_polish_round();
  void fit();
  void submit(const Config& config);
  void learn_batch();
  [[nodiscard]] const Config& best() const;
  [[nodiscard]] bool admissible(const Config& config) const;
  [[nodiscard]] Config random_config();
  void shrink_blocks(Config& config);
  [[nodiscard]] std::vector<Config> random_mutants(const Config& base);
  [[nodiscard]] std::vector<Config> tree_mutants(const Config& base);
  [[nodiscard]] std::vector<Config> select(std::vector<Config> pool);
  [[nodiscard]] std::optional<Config> best_foreign() const;

  HelionLfboOptions options_;
  Encoding encoding_;
  Rng rng_;
  HelionSource source_;  ///< empty: rng_ and a forest of our own
  detail::Ledger ledger_;
  std::vector<std::size_t> blocks_;
  std::optional<std::size_t> warps_;

  Stage stage_ = Stage::begin;
  std::deque<Config> queue_;            ///< of the batch, not yet proposed
  std::vector<Config> batch_;           ///< the configurations that were submitted last, violations too
  std::vector<Config> population_;      ///< the best of the one before and what this generation looks at
  std::vector<Config> foreign_;         ///< what was told and not proposed, in that order
  std::size_t foreign_learned_ = 0;     ///< of them, by this run
  std::vector<Row> rows_;               ///< that this run learns from
  std::unordered_set<Config> visited_;  ///< of this run
  std::vector<Copy> copies_;
  std::optional<TreeEnsemble> model_;
  std::size_t generation_ = 0, polished_ = 0;
  Config polish_from_;
  std::size_t runs_ = 0, proposed_before_run_ = 0, idle_runs_ = 0;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/helion_lfbo_impl.hpp"
#endif
