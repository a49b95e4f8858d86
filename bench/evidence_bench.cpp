// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In which order moves are proposed on kernels whose best move was measured (docs/benchmarks/systems.md).
//
//     evidence_bench                     the table, from bench/evidence/kernels.json
//     evidence_bench --record FILE       writes that file: compiles the kernels and reads their machine code;
//                                        needs objdump, nvcc and nvdisasm, and no GPU
//
// The kernels are those that the proofs of data/transformations/proofs change. A kernel's best move is the
// transformation with the largest measured speedup there (proof.json); kernels that none makes 10 % faster
// are left out, and so are those whose proofs were measured on different shapes of one problem and disagree.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "kernelsearch/evaluator/code_inspected.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/evaluator/gpu/sass.hpp"
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"
#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "support/recorded_kernels.hpp"
#include "support/transformation_proofs.hpp"

using namespace kernelsearch;
using namespace recorded_kernels;
namespace fs = std::filesystem;

namespace {

namespace fs = std::filesystem;

constexpr double least_gain = 1.1, alike = 0.95;  // what is within 5 % of the best is a best move too

/// The kernels with their best moves, without features.
std::vector<Recorded> labelled(const std::vector<proofs::Proof>& all) {
  std::map<std::string, const proofs::Proof*> by_name;
  for (const proofs::Proof& proof : all) by_name[proof.name] = &proof;
  std::map<std::string, Recorded> kernels;
  const auto speedup = [](const proofs::Proof& proof) {
    return proof.content.at("measured").at("speedup").get<double>();
  };
  for (const proofs::Proof& proof : all) {
    const std::string problem = proof.content.at("problem");
    Recorded& one = kernels[proof.before.empty() ? fs::path(problem).filename().string() : proof.before];
    one.name = proof.before.empty() ? fs::path(problem).filename().string() : proof.before;
    one.problem = problem;
    one.backend = std::string(to_string(proof.problem.backend));
    one.gain = std::max(one.gain, speedup(proof));
    one.present.clear();
    for (std::string at = proof.before; !at.empty(); at = by_name.at(at)->before)
      one.present.insert(one.present.begin(), by_name.at(at)->transformation);
  }
  std::vector<Recorded> result;
  for (auto& [name, one] : kernels) {
    if (one.gain < least_gain) continue;
    for (const proofs::Proof& proof : all) {
      const std::string parent =
          proof.before.empty() ? fs::path(proof.content.at("problem").get<std::string>()).filename().string()
                               : proof.before;
      if (parent == name && speedup(proof) >= alike * one.gain) one.best.push_back(proof.transformation);
    }
    result.push_back(one);
  }
  return result;
}

Features inspected(const Problem& problem, const Candidate& candidate) {
  Features features;
  const auto take = [&](auto staged, const std::string& name) {
    if (!staged.artifact)
      throw std::runtime_error(name + " could not be compiled: " + staged.evaluation.reason);
    for (const auto& [feature, value] : staged.evaluation.features)
      if (feature.starts_with("code.") || feature.starts_with("sass.")) features.set(feature, value);
  };
  if (problem.backend == Backend::host) {
    CodeInspected<HostEvaluator, Candidate, HostCodeInspector> evaluator{HostEvaluator(problem),
                                                                         HostCodeInspector()};
    take(evaluator.build(candidate, {}), problem.name);
  } else {
    // A library launches its kernels by itself, so all of its code counts.
    GpuOptions options;
    options.build_for = "NVIDIA H200 sm_90, driver 13000";
    Staged<GpuArtifact> staged = GpuEvaluator(problem, options).build(candidate, {});
    if (staged.artifact)
      for (const auto& [feature, value] : sass_features(read_sass(*staged.artifact->image)))
        staged.evaluation.features.set(feature, value);
    take(std::move(staged), problem.name);
  }
  return features;
}

void record(const char* file) {
  const std::vector<proofs::Proof> all = proofs::read_proofs(source);
  Json kernels = Json::array();
  for (const Recorded& one : labelled(all)) {
    std::fprintf(stderr, "%s\n", one.name.c_str());
    Features features;
    const proofs::Proof* made = nullptr;
    for (const proofs::Proof& proof : all)
      if (proof.name == one.name) made = &proof;
    if (made != nullptr) {
      features = inspected(made->problem, made->candidate());
    } else {
      const Problem problem = one.read();
      features = inspected(problem, problem.default_candidate());
    }
    Json seen = Json::object();
    for (const auto& [name, value] : features) seen[name] = value;
    kernels.push_back({{"kernel", one.name},
                       {"problem", one.problem},
                       {"backend", one.backend},
                       {"present", one.present},
                       {"best", one.best},
                       {"gain", one.gain},
                       {"features", seen}});
  }
  std::ofstream out(file);
  out << "{\"schema\": 1, \"kernels\": [";
  for (std::size_t i = 0; i < kernels.size(); ++i) out << (i == 0 ? "\n" : ",\n") << kernels[i].dump();
  out << "\n]}\n";
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void band_table(const std::vector<Recorded>& kernels, std::size_t shown) {
  std::size_t held = 0, by_name = 0, labelled_kernels = 0;
  fmt::print(
      "\n| kernel | strategies of the best move | KernelBand by evidence | by the alphabet |\n"
      "|---|---|---|---|\n");
  for (const Recorded& kernel : kernels) {
    std::vector<std::string> best;
    for (const std::string& one : kernel.best)
      for (const std::string& strategy : strategies_of(one)) best.push_back(strategy);
    if (best.empty()) continue;  // such as refactor, which no strategy is
    ++labelled_kernels;
    const auto first = band_proposed(kernel, true, shown), named = band_proposed(kernel, false, shown);
    held += holds_one(first, best);
    by_name += holds_one(named, best);
    fmt::print("| {} | {} | {}{} | {}{} |\n", kernel.name, joined_names(best),
               holds_one(first, best) ? "**yes**: " : "", joined_names(first),
               holds_one(named, best) ? "**yes**: " : "", joined_names(named));
  }
  fmt::print(
      "\nThe first three strategies hold the best move's: by evidence {} of {} ({:.0f} %), by the "
      "alphabet {} ({:.0f} %).\n",
      held, labelled_kernels, 100.0 * static_cast<double>(held) / static_cast<double>(labelled_kernels),
      by_name, 100.0 * static_cast<double>(by_name) / static_cast<double>(labelled_kernels));
}

void table() {
  constexpr std::size_t shown = 3;
  std::map<Order, std::size_t> held;
  const std::vector<Recorded> kernels = read_kernels();
  fmt::print(
      "| kernel | best move, measured | gain | by evidence | by the axis | by the alphabet |\n"
      "|---|---|--:|---|---|---|\n");
  for (const Recorded& kernel : kernels) {
    std::string cells;
    for (const Order order : {Order::evidence, Order::axis, Order::alphabet}) {
      const std::vector<std::string> first = proposed(kernel, order, shown);
      const bool holds = holds_one(first, kernel.best);
      held[order] += holds;
      cells += fmt::format(" {}{} |", holds ? "**yes**: " : "", joined_names(first));
    }
    fmt::print("| {} | {} | {:.2f} |{}\n", kernel.name, joined_names(kernel.best), kernel.gain, cells);
  }
  const auto share = [&](Order order) {
    return fmt::format("{} of {} ({:.0f} %)", held[order], kernels.size(),
                       100.0 * static_cast<double>(held[order]) / static_cast<double>(kernels.size()));
  };
  fmt::print(
      "\nThe first three hold the best move: by evidence {}, by the axis alone {}, by the alphabet {}.\n",
      share(Order::evidence), share(Order::axis), share(Order::alphabet));
  band_table(kernels, shown);
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::string(arguments[1]) == "--record")
    record(arguments[2]);
  else if (count == 1)
    table();
  else
    return std::fputs("evidence_bench [--record FILE]\n", stderr), 2;
}
