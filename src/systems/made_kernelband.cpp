// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "kernelsearch/systems/kernelband.hpp"
#include "made_kernel_systems.hpp"

/// KernelBand by name: its variants, and options for all that differs between them.
namespace kernelsearch::systems::made {
namespace {

/// The names that options have for the values of an enumeration, in its order.
constexpr std::array<std::string_view, 3> band_priors{"explore", "constant", "pooled"};
constexpr std::array<std::string_view, 2> band_kernels{"compatible", "softmax"};
constexpr std::array<std::string_view, 2> band_placings{"nearest", "chosen"};
constexpr std::array<std::string_view, 2> band_rooms{"speed", "fastest"};
constexpr std::array<std::string_view, 3> band_strategies{"all", "published", "model_chooses"};
constexpr std::array<std::string_view, 3> band_features{"v1", "v2", "all"};
constexpr std::array<std::string_view, 6> band_ablations{"none",    "clusters",      "heads",
                                                         "profile", "model_chooses", "search_agent"};

template <class Enum, std::size_t n>
std::string band_name(Enum value, const std::array<std::string_view, n>& names) {
  return std::string(names[static_cast<std::size_t>(value)]);
}
template <class Enum, std::size_t n>
Enum band_value(const std::string& name, const std::array<std::string_view, n>& names) {
  return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}

constexpr std::array<std::string_view, 3> band_warm_ups{"none", "measured", "synthetic"};

struct BandSources {
  const char *ours, *v1, *v2;
};
constexpr const char* band_lost = "ours: the number is not in the text that we have of the paper";
constexpr const char* band_bench = "bench/regret_bench, docs/moves.md";

/// An option whose standard value in each variant is what `value` finds in its settings.
template <class Find>
SystemOption band_option(const char* name, const char* summary, BandSources sources, Find value,
                         double least = -std::numeric_limits<double>::infinity(),
                         double most = std::numeric_limits<double>::infinity()) {
  return {name,
          value(KernelBandSettings{}),
          summary,
          sources.ours,
          least,
          most,
          {},
          {{"v1", value(KernelBandSettings::v1()), sources.v1},
           {"v2", value(KernelBandSettings::v2()), sources.v2}}};
}
template <std::size_t n>
SystemOption band_choice(SystemOption option, const std::array<std::string_view, n>& names) {
  option.choices.assign(names.begin(), names.end());
  return option;
}

using Settings = const KernelBandSettings&;

}  // namespace

std::vector<SystemVariant> kernelband_variants() {
  return {
      {"ours",
       "the version that does best in our figures: kernels judged by how far they lag behind the best, heads "
       "that learn from each pull, failures repaired",
       "docs/benchmarks/systems.md, docs/moves.md"},
      {"v1", "the paper: three-term UCB over clusters and the authors' six strategies", "arXiv 2511.18868 v1",
       true},
      {"v2", "the authors' code: mask by the hardware's signature, softmax within a cluster, no heads",
       "the authors' code of version 2", true}};
}

std::vector<SystemOption> kernelband_options() {
  const char* const v1_four = "KernelBand v1, section 4.4";
  const char* const v2_code = "KernelBand v2, code";
  const char* const none_in_v2 = "KernelBand v2 has no heads";
  const auto count = [](auto member) {
    return [member](Settings s) { return Value(whole(s.search.*member)); };
  };
  const auto number = [](auto member) { return [member](Settings s) { return Value(s.search.*member); }; };
  using Search = HierarchicalUcbOptions;
  return {
      band_choice(
          band_option("strategies",
                      "strategies that the bandit chooses from: all that fit, the authors' six (on hosts "
                      "their counterparts), or none: the model chooses",
                      {"docs/benchmarks/systems.md", "KernelBand v1: six, named in v2's code", v2_code},
                      [](Settings s) { return Value(band_name(s.strategies, band_strategies)); }),
          band_strategies),
      band_choice(band_option("features",
                              "what clusters and heads see: a version's vectors, or all that was measured",
                              {"as v1", "KernelBand v1, sections 4.2 and 4.3", v2_code},
                              [](Settings s) { return Value(band_name(s.features, band_features)); }),
                  band_features),
      band_choice(band_option("without", "what is switched off, to see what it is worth",
                              {"ablations as the papers name them", "ablations as the papers name them",
                               "ablations as the papers name them"},
                              [](Settings s) { return Value(band_name(s.without, band_ablations)); }),
                  band_ablations),
      band_option("clusters", "clusters of kernels, at most",
                  {"as v1", "KernelBand v1, section 4.3", v2_code}, count(&Search::clusters), 1, 1000),
      band_option("recluster_every", "trials between two clusterings", {"as v2", band_lost, v2_code},
                  count(&Search::recluster_every), 1, 1e6),
      band_option("recluster_doubled", "also when the right kernels have doubled",
                  {"as v1", "KernelBand v1, section 4.3", "ours; the code of v2: false"},
                  [](Settings s) { return Value(s.search.recluster_doubled); }),
      band_option("kernels_per_cluster", "right kernels for each cluster that the first clustering waits for",
                  {"as v2", "ours; KernelBand v1 says no number", v2_code},
                  count(&Search::kernels_per_cluster), 1, 1e6),
      band_choice(band_option("placing",
                              "the cluster of a new right kernel until the next clustering: of the nearest "
                              "center, or the one "
                              "that was chosen, its parent's",
                              {"as v1", "KernelBand v1, section 4.3", "as v1; the code of v2: chosen"},
                              [](Settings s) { return Value(band_name(s.search.placing, band_placings)); }),
                  band_placings),
      band_option(
          "rebuilt",
          "after clustering anew statistics are computed again from all pulls; if not, rewards stay with "
          "the number of a cluster",
          {"ours", "ours; KernelBand v1 does not say", "ours; the code of v2: false"},
          [](Settings s) { return Value(s.search.rebuilt); }),
      band_option("subsample", "share of the kernels that k-means++ seeds from",
                  {"as v1", "KernelBand v1, section 4.3", "as v1"}, number(&Search::subsample), 0, 1),
      band_option("exploration", "c in sqrt(c ln t / n)",
                  {band_bench, v1_four, "KernelBand v2, code: 2 sqrt(ln t / n)"},
                  number(&Search::exploration), 0, 1000),
      band_choice(
          band_option(
              "prior",
              "how an arm that was pulled little is judged: explore, as infinitely good; constant, as "
              "prior_pulls pulls of prior_mean; pooled, of the strategy's mean over all clusters",
              {band_bench, "KernelBand v1, section 4.4: each arm once first", v2_code},
              [](Settings s) { return Value(band_name(s.search.prior, band_priors)); }),
          band_priors),
      band_option("prior_mean", "of constant and pooled priors", {band_bench, "not used", v2_code},
                  number(&Search::prior_mean), -1, 1),
      band_option("prior_pulls", "of constant and pooled priors", {band_bench, "not used", v2_code},
                  number(&Search::prior_pulls), 0, 1e6),
      band_option("alpha", "weight of the compatibility heads; 0: none", {band_bench, band_lost, none_in_v2},
                  number(&Search::alpha), 0, 1000),
      band_option(
          "buffer", "pulls that a head gathers before it learns from them",
          {band_bench, band_lost, none_in_v2},
          [](Settings s) { return Value(whole(s.search.head.capacity)); }, 1, 1e6),
      band_option(
          "learning_rate", "of the heads", {band_bench, band_lost, none_in_v2},
          [](Settings s) { return Value(s.search.head.learning_rate); }, 0, 1000),
      band_option(
          "l2", "penalty on the heads' weights", {band_bench, band_lost, none_in_v2},
          [](Settings s) { return Value(s.search.head.l2); }, 0, 1000),
      band_choice(
          band_option(
              "warm_up",
              "moves that heads are warmed up with where no earlier run gives any: none; measured, on other "
              "problems (data/moves); synthetic, 1000 pairs of a random phase",
              {"ours: docs/benchmarks/systems.md", "KernelBand v1, section 4.2", none_in_v2},
              [](Settings s) { return Value(band_name(s.warm_up, band_warm_ups)); }),
          band_warm_ups),
      band_option("warm_up_epochs", "passes over the moves of earlier runs that heads are warmed up with",
                  {"ours", "ours; KernelBand v1, section 4.2 says no number", none_in_v2},
                  count(&Search::warm_up_epochs), 0, 1000),
      band_option("example_pulls", "pulls that the mean reward of these moves counts for in pooled priors",
                  {band_bench, "KernelBand v1: they warm up the heads alone", none_in_v2},
                  number(&Search::example_pulls), 0, 1e6),
      band_choice(
          band_option(
              "kernel",
              "which kernel of a cluster is rewritten: the one that the head likes best, or one drawn by "
              "the softmax of the room that is left",
              {"as v1", v1_four, v2_code},
              [](Settings s) { return Value(band_name(s.search.kernel, band_kernels)); }),
          band_kernels),
      band_option("temperature", "of that softmax",
                  {"as v2", "not used", "KernelBand v2, code: 1, on percentages"},
                  number(&Search::temperature), 1e-6, 1e6),
      band_choice(
          band_option(
              "unknown_room",
              "that softmax where the target was not measured: by speed, or the fastest kernel is taken",
              {"ours", "not used", "ours; the code of v2: fastest"},
              [](Settings s) { return Value(band_name(s.search.unknown_room, band_rooms)); }),
          band_rooms),
      band_option("lag", "weight of ln(T(kernel) / T(best)), taken from the score; 0: none",
                  {band_bench, "KernelBand v1 has none", "KernelBand v2 has none"}, number(&Search::lag), 0,
                  1000),
      band_option("evidence",
                  "weight of what a kernel shows for a strategy, in the score of an arm that was never "
                  "pulled; each pull makes it less; 0: none",
                  {"ours: docs/benchmarks/systems.md", "KernelBand v1 has none", "KernelBand v2 has none"},
                  number(&Search::evidence), 0, 1000),
      band_option("frontier", "how many of the fastest kernels may be rewritten; 0: all",
                  {band_bench, "KernelBand v1: all", "KernelBand v2: all"}, count(&Search::frontier), 0, 1e6),
      band_option("mask", "strategies whose target is saturated on a cluster's representative are left out",
                  {"ours: no gain was shown", "KernelBand v1 has none", v2_code},
                  [](Settings s) { return Value(s.mask); }),
      band_option("saturated", "per cent of a target from which on it masks", {"as v2", "not used", v2_code},
                  number(&Search::saturated), 0, 1000),
      band_option(
          "mask_reach",
          "if all strategies are masked, the one is left whose target is used least, of those less than "
          "this many per cent above saturated; if there are none, the first",
          {"ours", "not used", "ours; the code of v2: 1"}, number(&Search::mask_reach), 0, 1000),
      band_option(
          "failure", "reward of a kernel that fails", {"as v1", "KernelBand v1, section 3.2", v2_code},
          [](Settings s) { return Value(s.search.reward.failure); }, -1, 1),
      band_option(
          "floor", "least reward of a right kernel", {"as v1", "KernelBand v1, equation 3", v2_code},
          [](Settings s) { return Value(s.search.reward.floor); }, -1, 1),
      band_option(
          "failures", "tries in a row without a kernel after which a strategy is given up on a kernel",
          {"ours: as STARK's, a model may answer otherwise", "ours", "ours"},
          [](Settings s) { return whole(s.search.limits.max_failures); }, 1, 1e6),
      repairs_option(KernelBandSettings{}.repairs,
                     {{"v1", whole(0), "KernelBand has none"}, {"v2", whole(0), "KernelBand has none"}})};
}

bool kernelband_learns(const SystemOptions& given) {
  const std::string without = given.text("without");
  const bool heads = without != "heads" && without != "profile" && without != "search_agent";
  return heads && given.number("alpha") > 0 && given.count("warm_up_epochs") > 0;
}

SystemSearch kernelband(SystemSetup setup) {
  const SystemOptions& given = setup.options;
  KernelBandSettings settings;
  settings.strategies = band_value<KernelBandStrategies>(given.text("strategies"), band_strategies);
  settings.features = band_value<KernelBandFeatures>(given.text("features"), band_features);
  settings.without = band_value<KernelBandAblation>(given.text("without"), band_ablations);
  settings.warm_up = band_value<KernelBandWarmUp>(given.text("warm_up"), band_warm_ups);
  settings.mask = given.flag("mask");
  settings.repairs = given.count("repairs");
  HierarchicalUcbOptions& search = settings.search;
  search.seed = setup.seed;
  search.clusters = given.count("clusters");
  search.recluster_every = given.count("recluster_every");
  search.recluster_doubled = given.flag("recluster_doubled");
  search.kernels_per_cluster = given.count("kernels_per_cluster");
  search.placing = band_value<KernelPlacing>(given.text("placing"), band_placings);
  search.rebuilt = given.flag("rebuilt");
  search.subsample = given.number("subsample");
  search.exploration = given.number("exploration");
  search.prior = band_value<ArmPrior>(given.text("prior"), band_priors);
  search.prior_mean = given.number("prior_mean");
  search.prior_pulls = given.number("prior_pulls");
  search.alpha = given.number("alpha");
  search.head = {given.number("learning_rate"), given.number("l2"), given.count("buffer")};
  search.warm_up_epochs = given.count("warm_up_epochs");
  search.example_pulls = given.number("example_pulls");
  search.kernel = band_value<KernelChoice>(given.text("kernel"), band_kernels);
  search.temperature = given.number("temperature");
  search.unknown_room = band_value<UnknownRoom>(given.text("unknown_room"), band_rooms);
  search.lag = given.number("lag");
  search.frontier = given.count("frontier");
  search.saturated = given.number("saturated");
  search.mask_reach = given.number("mask_reach");
  search.reward = {given.number("failure"), given.number("floor")};
  search.limits.max_failures = given.count("failures");
  search.examples = setup.examples;
  search.evidence = given.number("evidence");
  settings.rewriter.common = agent_options(setup);
  settings.rewriter.common.evidence = search.evidence > 0.0;
  return search_of_kernels(kernelband_parts(std::move(setup.model), setup.problem, std::move(settings)),
                           setup);
}

}  // namespace kernelsearch::systems::made
