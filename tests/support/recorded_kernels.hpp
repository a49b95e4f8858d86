// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/systems/kernelband.hpp"
#include "kernelsearch/systems/peak.hpp"

/// bench/evidence/kernels.json: kernels whose best move was measured, with what their machine code shows.
namespace recorded_kernels {

using namespace kernelsearch;
using Json = nlohmann::ordered_json;

inline const std::filesystem::path source = KERNELSEARCH_SOURCE_DIR;

/// A kernel that proofs change, and the moves that gain most on it.
struct Recorded {
  std::string name, problem;
  std::string backend;
  std::vector<std::string> present;  ///< transformations that it has
  std::vector<std::string> best;
  double gain = 0;
  Features features;
  Problem read() const { return read_problem(source / problem); }
};

inline std::vector<Recorded> read_kernels() {
  std::ifstream in(source / "bench/evidence/kernels.json");
  std::vector<Recorded> kernels;
  const Json document = Json::parse(in);
  for (const Json& one : document.at("kernels")) {
    Recorded kernel{one.at("kernel"),
                    one.at("problem"),
                    one.at("backend"),
                    one.at("present"),
                    one.at("best"),
                    one.at("gain"),
                    {}};
    for (const auto& [name, value] : one.at("features").items()) kernel.features.set(name, value);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

/// The first moves that a policy proposes on a kernel where each is answered with "does not apply".
template <class Policy>
std::vector<std::string> first_moves(Policy policy, const Features& features, std::size_t count) {
  std::vector<std::string> names;
  for (std::uint64_t id = 0; names.size() < count; ++id) {
    const std::vector<Move> moves = policy.ask(1);
    if (moves.empty()) break;
    Observation<Move> told{moves.front(), {}};
    told.outcome.id = TrialId{id};
    told.outcome.parents = moves.front().parents;
    told.outcome.origin = Origin{ProposalId{id}, 0, 1};
    if (moves.front().kind == MoveKind::root) {
      told.outcome.evaluation = Evaluation::succeeded(1.0);
      told.outcome.evaluation.features = features;
      told.outcome.objective = 1.0;
    } else {
      names.emplace_back(moves.front().strategy());
      told.outcome.evaluation = Evaluation::failed(Verdict::not_applicable, "for the table");
      told.outcome.origin->count = 0;
    }
    policy.tell({&told, 1});
  }
  return names;
}

enum class Order { alphabet, axis, evidence };

/// The transformations that PEAK proposes first.
inline std::vector<std::string> proposed(const Recorded& kernel, Order order, std::size_t count) {
  systems::PeakSettings settings;
  settings.workflow.present = kernel.present;
  settings.evidence = order == Order::evidence;
  WorkflowOptions options = systems::peak_workflow(kernel.read(), settings);
  if (order == Order::alphabet) {
    std::sort(options.transformations.begin(), options.transformations.end());
    options.orders = {};
  }
  return first_moves(Workflow(std::move(options)), kernel.features, count);
}

/// KernelBand's strategies that a transformation is an application of.
inline std::vector<std::string> strategies_of(const std::string& transformation) {
  static const std::map<std::string, std::vector<std::string>> all{
      {"coalesce_accesses", {"access_layout"}},
      {"fast_math", {"strength_reduction"}},
      {"fused_reductions", {"fusion"}},
      {"grid_stride", {"work_per_thread", "grid_shape"}},
      {"hoist_invariants", {"aliasing"}},
      {"independent_accumulators", {"unrolling"}},
      {"inline_calls", {"inline_calls"}},
      {"large_shared_memory", {"pipelining"}},
      {"ldmatrix_mma", {"tensor_cores", "access_layout"}},
      {"loop_interchange", {"loop_order"}},
      {"loop_tiling", {"tiling"}},
      {"offset", {"access_layout"}},
      {"pipelining", {"pipelining"}},
      {"register_block", {"tiling"}},
      {"split_k", {"grid_shape"}},
      {"tb_tiling", {"tiling"}},
      {"tensor_core", {"tensor_cores"}},
      {"tensor_tiling", {"tiling"}},
      {"thread_chunk", {"vectorization"}},
      {"thread_tiling", {"tiling", "work_per_thread"}},
      {"tma_wgmma", {"tensor_cores"}},
      {"unroll_loops", {"unrolling"}},
      {"use_shared_memory", {"tiling"}},
      {"vector_access", {"vectorization"}},
      {"vectorize_accesses", {"vectorization"}},
      {"vectorize_loop", {"vectorization"}},
      {"warp_reduction", {"warp_primitives"}},
      {"warp_tiling", {"tiling"}}};
  const auto found = all.find(transformation);
  return found == all.end() ? std::vector<std::string>() : found->second;
}

/// The strategies that KernelBand's bandit proposes first, by evidence or in the order of their names.
inline std::vector<std::string> band_proposed(const Recorded& kernel, bool evidence, std::size_t count) {
  const Problem problem = kernel.read();
  systems::KernelBandSettings settings;
  settings.rewriter.common.device = {90, {"avx512", "avx2", "fma"}};
  if (!evidence) {
    settings.search.evidence = 0.0;
    settings.search.strategies = strategy_names(
        on_device(read_strategies(to_string(problem.backend)), settings.rewriter.common.device));
    std::sort(settings.search.strategies.begin(), settings.search.strategies.end());
  }
  return first_moves(HierarchicalUcb(systems::kernelband_settled(settings, problem).search), kernel.features,
                     count);
}

/// Whether one of the names is in the list.
inline bool holds_one(const std::vector<std::string>& list, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&list](const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  });
}

}  // namespace recorded_kernels
