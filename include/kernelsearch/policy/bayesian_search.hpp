// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

struct BayesianSearchOptions {
  std::uint64_t seed = 0;
  bool default_first = false;      ///< propose the space's default configuration before anything else
  std::size_t first_points = 5;    ///< spread over the space before the model is asked
  double alignment_weight = 1.0;   ///< of alignment against distance when those are chosen
  double alignment_mean = 0.5;     ///< standard deviations that full alignment is expected to gain at first
  std::size_t pool = 3000;         ///< candidates the model is asked about; a smaller space is listed whole
  std::size_t model_points = 300;  ///< observations the model is refitted on: half the best, half the latest
  std::size_t fit_points = 200;    ///< of those, how many length scales are fitted on
  std::size_t refit_each = 60;     ///< up to that many observations the model is refitted after each
  double refit_growth = 1.25;      ///< afterwards whenever there are that many times more
  double perturbation = 0.3;       ///< standard deviation of the logarithms of length scales about the fit
  double failure_penalty = 0.8;    ///< share of the expected improvement that a sure failure loses
  std::vector<EarlierRun> earlier = {};
};

/// Bayesian optimisation with a Gaussian process over features of the values: the library's default. From a
/// few first points spread over the space, towards well aligned values, it proposes the configuration with
/// the largest expected improvement (Mockus, 1978; Jones, Schonlau and Welch, 1998), less where failures are
/// near. Times enter on a scale that is linear in the better half of what was seen and logarithmic in the
/// worse. One setting for every space; docs/policies.md explains the parts and docs/benchmarks.md what each
/// is worth.
///
/// Departures from the textbook: length scales are perturbed at random at each refit, so that a search that
/// the fit holds in one basin gets out; configurations in flight count as measured with just what is
/// predicted there (Ginsbourger, Le Riche and Carraro, 2010); and a pool of candidates stands for the space
/// where it is large. Earlier runs of the space enter as the mean function, and how far it is trusted is
/// learned.
class BayesianSearch {
 public:
  using Proposal = Config;

  explicit BayesianSearch(Space space, BayesianSearchOptions options = {});
  BayesianSearch(BayesianSearch&&) noexcept;
  BayesianSearch& operator=(BayesianSearch&&) noexcept;
  ~BayesianSearch();

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

  /// What was learned from each earlier run.
  [[nodiscard]] std::vector<LearnedFrom> learned() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/bayesian_search_impl.hpp"
#endif
