// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Regret of KernelBand's variants on kernels whose moves were measured, with and without warm-up, as a
// Markdown table (docs/benchmarks/systems.md).
//
//     prior_bench [SEEDS]
//
// A problem of data/moves is a graph of its recorded kernels. A strategy that was measured to gain on a
// kernel does so in 85 % of tries and leads to the kernel that its proof leads to; every other strategy gives
// a wrong kernel in 40 % of tries, else one that is 0 to 3 % slower. The corpus of a problem has the moves of
// the others alone, and the products of matrices in half and single precision count as one problem.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/flat_ucb.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/systems/kernelband.hpp"
#include "kernelsearch/systems/measured_moves.hpp"
#include "support/recorded_kernels.hpp"

using namespace kernelsearch;

namespace {

constexpr std::array<std::size_t, 3> horizons{10, 20, 50};
constexpr double success = 0.85;  // PEAK, section 5.2: models succeed in 83 to 93 % of tries
constexpr double wrong = 0.4, slower = 0.03;

struct Graph {
  std::string name;
  std::string root;
  Problem problem;
  std::vector<MeasuredMove> moves, others;  ///< of the problem, and of all others of the backend
  std::map<std::string, Features> features;
};

std::string family_of(const std::string& problem) {
  return problem.find("matmul") != std::string::npos ? "matmul" : problem;
}

/// The problems with at least one gain from their own kernel.
std::vector<Graph> graphs() {
  std::map<std::string, recorded_kernels::Recorded> recorded;
  for (recorded_kernels::Recorded& one : recorded_kernels::read_kernels()) recorded.emplace(one.name, one);
  std::vector<Graph> result;
  for (const char* backend : {"cuda", "host"}) {
    const std::vector<MeasuredMove> all = measured_moves(backend);
    std::set<std::string> done;
    for (const MeasuredMove& first : all) {
      if (!done.insert(first.problem).second) continue;
      Graph graph;
      graph.name = first.problem;
      for (const MeasuredMove& move : all) {
        if (move.problem == first.problem) graph.moves.push_back(move);
        if (family_of(move.problem) != family_of(first.problem)) graph.others.push_back(move);
      }
      graph.root = recorded.contains(first.problem) ? first.problem : first.problem + " 1";
      bool gains = false;
      for (const MeasuredMove& move : graph.moves) {
        gains |= move.kernel == graph.root && move.example.reward > 0;
        graph.features[move.kernel] = move.example.features;
        if (const auto known = recorded.find(move.kernel); known != recorded.end())
          graph.features[move.kernel] = known->second.features;
      }
      if (!gains) continue;
      // The skill's runs name problems of bench/; what is asked of a problem here is its backend and its
      // traits.
      graph.problem.name = first.problem;
      graph.problem.backend = std::string(backend) == "host" ? Backend::host : Backend::cuda;
      if (const auto known = recorded.find(graph.root); known != recorded.end())
        graph.problem = known->second.read();
      result.push_back(std::move(graph));
    }
  }
  return result;
}

using Maker = std::function<AnyPolicy<Move>(const Graph&, std::uint64_t seed)>;

systems::KernelBandSettings settled(systems::KernelBandSettings settings, const Graph& graph,
                                    std::uint64_t seed, systems::KernelBandWarmUp warm_up, bool evidence) {
  settings.search.seed = seed;
  settings.warm_up = warm_up;
  if (warm_up == systems::KernelBandWarmUp::measured) {
    settings.warm_up = systems::KernelBandWarmUp::none;
    for (const MeasuredMove& move : graph.others) settings.search.examples.push_back(move.example);
  }
  if (!evidence) settings.search.evidence = 0.0;
  settings.rewriter.common.device = {90, {"avx512", "avx2", "fma"}};
  return systems::kernelband_settled(std::move(settings), graph.problem);
}

Maker band(systems::KernelBandSettings (*variant)(), systems::KernelBandWarmUp warm_up, bool evidence) {
  return [=](const Graph& graph, std::uint64_t seed) {
    return AnyPolicy<Move>(HierarchicalUcb(settled(variant(), graph, seed, warm_up, evidence).search));
  };
}

systems::KernelBandSettings ours() {
  return {};
}

systems::KernelBandSettings ours_once() {
  systems::KernelBandSettings settings;
  settings.search.warm_up_epochs = 1;
  return settings;
}

struct Row {
  const char* name;
  Maker make;
};

std::vector<Row> rows() {
  using enum systems::KernelBandWarmUp;
  using Band = systems::KernelBandSettings;
  return {{"flat UCB (UCB1), all strategies",
           [](const Graph& graph, std::uint64_t seed) {
             return AnyPolicy<Move>(FlatUcb(
                 {.strategies = settled({}, graph, seed, none, false).search.strategies, .seed = seed}));
           }},
          {"v1, no warm-up", band(Band::v1, none, false)},
          {"v1, the paper's synthetic pairs", band(Band::v1, synthetic, false)},
          {"v1, measured moves", band(Band::v1, measured, false)},
          {"v2", band(Band::v2, none, false)},
          {"ours, no warm-up, no evidence", band(ours, none, false)},
          {"ours, synthetic pairs, no evidence", band(ours, synthetic, false)},
          {"ours, measured moves, no evidence", band(ours, measured, false)},
          {"ours, measured moves in one pass, no evidence", band(ours_once, measured, false)},
          {"ours, no warm-up, evidence", band(ours, none, true)},
          {"ours, synthetic pairs, evidence", band(ours, synthetic, true)},
          {"ours, measured moves in one pass, evidence", band(ours_once, measured, true)},
          {"ours, measured moves, evidence", band(ours, measured, true)}};
}

/// The least time that measured moves lead to, from 1 at the root.
double optimum(const Graph& graph, const std::string& kernel, std::set<std::string> seen = {}) {
  double best = 1.0;
  if (!seen.insert(kernel).second) return best;
  for (const MeasuredMove& move : graph.moves)
    if (move.kernel == kernel)
      best = std::min(best, (move.becomes.empty() ? 1.0 : optimum(graph, move.becomes, seen)) / move.gain);
  return best;
}

std::array<double, 3> regret(const Row& row, const Graph& graph, std::uint64_t seed) {
  struct State {
    std::string kernel;
    double time = 1.0;
  };
  Rng rng = Rng::stream(seed, "prior_bench");
  AnyPolicy<Move> policy = row.make(graph, seed);
  std::map<std::uint64_t, State> states;
  const double least = optimum(graph, graph.root);
  double best = 1.0, sum = 0.0;
  std::array<double, 3> at{};
  for (std::uint64_t t = 0; t <= horizons.back(); ++t) {
    const std::vector<Move> asked = policy.ask(1);
    if (!asked.empty()) {
      Observation<Move> told{asked.front(), {}};
      told.outcome.id = TrialId{t};
      told.outcome.origin = Origin{ProposalId{t}, 0, 1};
      told.outcome.parents = asked.front().parents;
      State state{graph.root, 1.0};
      bool right = true;
      if (!asked.front().parents.empty()) {
        state = states.at(number(asked.front().parents.front()));
        const MeasuredMove* known = nullptr;
        for (const MeasuredMove& move : graph.moves)
          if (move.kernel == state.kernel && move.example.strategy == asked.front().strategy() &&
              move.gain > 1 && (known == nullptr || move.gain > known->gain))
            known = &move;
        if (known != nullptr && rng.chance(success)) {
          state.time /= known->gain;
          state.kernel = known->becomes.empty() ? state.kernel + " done" : known->becomes;
        } else {
          right = !rng.chance(wrong);
          state.time *= 1 + rng.uniform(0.0, slower);
        }
      }
      states[t] = state;
      if (right) {
        told.outcome.objective = state.time;
        told.outcome.evaluation = Evaluation::succeeded(state.time);
        if (const auto seen = graph.features.find(state.kernel); seen != graph.features.end())
          told.outcome.evaluation.features = seen->second;
        best = std::min(best, state.time);
      } else {
        told.outcome.objective = std::numeric_limits<double>::infinity();
        told.outcome.evaluation = Evaluation::failed(Verdict::wrong_result, "scripted");
      }
      policy.tell(std::span<const Observation<Move>>(&told, 1));
    }
    if (t == 0) continue;
    sum += std::log(best / least);
    for (std::size_t h = 0; h < horizons.size(); ++h)
      if (t == horizons[h]) at[h] = sum / static_cast<double>(t);
  }
  return at;
}

}  // namespace

int main(int count, char** arguments) {
  const std::uint64_t seeds = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100;
  const std::vector<Graph> all = graphs();
  std::size_t host = 0;
  for (const Graph& graph : all) host += graph.problem.backend == Backend::host ? 1 : 0;
  fmt::print("{} problems, {} of them on hosts; {} seeds each.\n\n", all.size(), host, seeds);
  fmt::print("| policy | T = 10 | T = 20 | T = 50 |\n|---|--:|--:|--:|\n");
  for (const Row& row : rows()) {
    fmt::print("| {} |", row.name);
    std::array<std::vector<double>, 3> means;  // by seed, over the problems
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      std::array<double, 3> sum{};
      for (const Graph& graph : all) {
        const std::array<double, 3> one = regret(row, graph, seed);
        for (std::size_t h = 0; h < 3; ++h) sum[h] += one[h] / static_cast<double>(all.size());
      }
      for (std::size_t h = 0; h < 3; ++h) means[h].push_back(sum[h]);
    }
    for (const std::vector<double>& values : means) {
      double mean = 0, squares = 0;
      const auto n = static_cast<double>(values.size());
      for (const double value : values) mean += value / n;
      for (const double value : values) squares += (value - mean) * (value - mean) / n;
      fmt::print(" {:.3f} ± {:.3f} |", mean, 1.96 * std::sqrt(squares / n));
    }
    fmt::print("\n");
  }
}
