// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/impl/ledger.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

struct TpeOptions {
  std::uint64_t seed = 0;
  std::size_t initial = 10;     ///< random configurations first, the default leading them
  double good_share = 0.1;      ///< of the configurations known that count as good (Optuna's gamma)
  std::size_t most_good = 25;   ///< and at most so many
  std::size_t candidates = 24;  ///< drawn from the good, of which the most promising is proposed
  double prior_weight = 1.0;    ///< of the flat prior, in configurations
  double min_bandwidth = 0.5;   ///< of the kernels over positions, in positions
};

/// Tree-structured Parzen estimator (Bergstra et al., 2011) in its multivariate form (Falkner et al., 2018;
/// Optuna): splits what is known into few good configurations and the rest, draws candidates from a density
/// around the good ones, and proposes the one where that density most exceeds the density around the rest.
///
/// Departures: a kernel of a configuration is a product over all tunables of discrete kernels over the
/// positions of the usable values (Gaussian over positions, normalised by summing; categorical: mass on the
/// value, the remainder evenly), so that no mass falls between or beyond values; candidates that break a
/// constraint are drawn again; failures are bad, and so are proposals in flight until they are told
/// (the constant liar), which keeps parallel proposals apart; nothing is proposed twice. Bandwidths shrink
/// with the number of kernels as in Optuna: range * n^(-1 / (d + 4)) / 2, at least `min_bandwidth`.
class Tpe {
 public:
  using Proposal = Config;

  explicit Tpe(Space space, TpeOptions options = {});

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  /// A mixture of kernels around configurations, and a flat one.
  struct Density {
    std::vector<const Config*> centres;
    std::vector<std::vector<double>> kernel;  ///< of each free tunable, by distance of places
    std::vector<std::vector<double>> scale;   ///< what makes the kernel around each place sum to 1
    double flat = 0;                          ///< the density of the flat part
  };

  [[nodiscard]] std::optional<Config> next();
  [[nodiscard]] Density density(std::vector<const Config*> centres) const;
  [[nodiscard]] double value(const Density& density, const Config& config) const;
  [[nodiscard]] std::optional<Config> draw(const Density& density);

  Space space_;
  TpeOptions options_;
  Rng rng_;
  detail::Ledger ledger_;
  std::vector<std::size_t> free_;                  ///< tunables with more than one usable value
  std::vector<std::vector<std::uint32_t>> place_;  ///< of each, value -> its place among the usable ones
  std::size_t launched_ = 0;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/tpe_impl.hpp"
#endif
