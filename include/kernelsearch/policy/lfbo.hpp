// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/model/feature_matrix.hpp"
#include "kernelsearch/model/random_forest.hpp"
#include "kernelsearch/policy/impl/aligned_points.hpp"
#include "kernelsearch/policy/impl/ledger.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/encoding.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Chosen by runs on eight recorded spaces, 8 to 60 repeats each; docs/benchmarks/learners.md says what else
/// was tried.
struct LfboOptions {
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> budget = {};  ///< trials; sets how many first points there are
  std::size_t initial = 0;  ///< first points; 0: an eleventh of the budget, from 6 to 16, else 12
  std::size_t trees = 60;
  double exploration = 1.0;      ///< deviations between trees that are added to what they promise
  double random_share = 0.1;     ///< of the proposals are random draws
  std::size_t stagnation = 100;  ///< outcomes without a new best that raise that share by 1
  double most_random = 0.5;      ///< but to no more than this
  std::size_t incumbents = 8;    ///< the best, around which proposals are looked for
  std::size_t crossovers = 100;  ///< candidates made of two of them
  std::size_t random_candidates = 400;
  double refit = 0.03;              ///< share of new outcomes after which the model is made anew
  double similarity_penalty = 0.1;  ///< for sharing all leaves with what is out; 1: from best to median
};

/// Likelihood-free search with a random forest: what Helion's LFBO does, with its known faults repaired. The
/// forest learns a graded utility of each outcome instead of a class of the best tenth (Song et al., 2022,
/// in the form of least squares), and the next proposal is, among neighbours and crossovers of several
/// incumbents and random draws, the one that promises most, disagreement between the trees counting for it.
///
/// What differs from Helion: a few first points that are spread out and aligned, by budget, instead of a
/// hundred random ones; guided from then on, no generations, refitted every few outcomes; a steady share of
/// random draws, larger when nothing improves, in place of copies that die and runs that end; labels follow
/// the latest measurements; failures are learned from as the worst that was seen; what is out keeps
/// similar proposals away; constraints are never left.
class Lfbo {
 public:
  using Proposal = Config;

  explicit Lfbo(Space space, LfboOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  struct Candidate {
    Config config;
    double score = 0;
  };

  [[nodiscard]] std::optional<Config> next();
  [[nodiscard]] std::optional<Config> promising();
  void fit();
  void gather();
  void add_neighbours(const Config& config);
  void add(const Config& config);
  void rank();
  void penalise(std::span<const std::uint32_t> leaves);
  void encode(const Config& config, std::span<double> row) const;

  LfboOptions options_;
  Encoding encoding_;
  detail::AlignedPoints points_;
  Rng rng_;
  detail::Ledger ledger_;
  std::vector<Config> first_;  ///< first points and ones from outside
  double best_ = std::numeric_limits<double>::infinity();
  std::size_t successes_ = 0;
  std::size_t since_best_ = 0;  ///< outcomes
  std::size_t changed_ = 0;     ///< outcomes since the model was made
  std::optional<RandomForestRegressor> model_;
  std::vector<Candidate> candidates_;
  std::unordered_set<Config> among_candidates_;
  std::vector<std::uint32_t> leaves_;  ///< of each candidate in each tree
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/lfbo_impl.hpp"
#endif
