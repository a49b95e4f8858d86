// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/move.hpp"
#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/space/space_builder.hpp"

/// Kernels whose "code" is a list of words, a scripted model that edits it, and a landscape that judges it.
namespace scripted {

using namespace kernelsearch;

/// The words of a kernel's device region: strategies applied, and "bug" where the model slipped.
inline std::set<std::string> words_of(const Candidate& candidate) {
  std::istringstream stream(candidate.kernel->regions.device);
  std::set<std::string> words;
  for (std::string word; stream >> word;) words.insert(word);
  return words;
}

inline Space block_space() {
  return SpaceBuilder()
      .add(Tunable::power_of_two("block", 1, 64))
      .add(Tunable::integer("unroll", 1, 4))
      .build();
}

inline Candidate kernel_with(const std::set<std::string>& words) {
  Regions regions;
  for (const std::string& word : words) regions.device += word + " ";
  const Space space = block_space();
  return {std::make_shared<const Kernel>(Kernel{regions, space}), space.default_config()};
}

/// A model that is asked to edit code. It answers from a script: every third rewrite carries a bug, every
/// seventh is prose. Debugging mends.
class ScriptedModel {
 public:
  Generation<Candidate> edit(const Move& move, const History<Candidate>& history) {
    if (move.kind == MoveKind::root) return Generation<Candidate>::one(kernel_with({}));
    const Trial<Candidate> parent = history.find(move.parents.front());
    if (!parent.candidate) return Generation<Candidate>::none("the parent has no code");
    std::set<std::string> words = words_of(*parent.candidate);
    switch (move.kind) {
      case MoveKind::debug:
        words.erase("bug");
        break;
      case MoveKind::ablate:
        for (const std::string& strategy : move.strategies) words.erase(strategy);
        break;
      case MoveKind::recombine:
        for (const TrialId other : move.parents)
          if (const auto trial = history.find(other); trial.candidate)
            words.merge(words_of(*trial.candidate));
        break;
      default:
        if (++*rewrites_ % 7 == 0) return Generation<Candidate>::none("the reply is prose");
        for (const std::string& strategy : move.strategies) words.insert(strategy);
        if (*rewrites_ % 3 == 0) words.insert("bug");
        if (move.kind == MoveKind::branch) words.insert("variant" + std::to_string(move.variant));
    }
    return Generation<Candidate>::one(kernel_with(words));
  }

 private:
  std::shared_ptr<int> rewrites_ = std::make_shared<int>(0);
};

/// A generator that asks the model for each move (KernelBand's rewriter, GEAK's reflecting writer).
struct ScriptedRewriter {
  using Candidate = kernelsearch::Candidate;
  ScriptedModel model;
  Generation<Candidate> generate(const Move& move, const History<Candidate>& history) {
    return model.edit(move, history);
  }
};

/// STARK's team: a planner names the change, a coder makes it, a debugger mends what failed.
struct ScriptedTeam {
  using Candidate = kernelsearch::Candidate;
  ScriptedModel coder;
  std::shared_ptr<int> plans = std::make_shared<int>(0);
  std::shared_ptr<int> repairs = std::make_shared<int>(0);
  Generation<Candidate> generate(const Move& move, const History<Candidate>& history) {
    static const std::vector<std::string> ideas{"tiling", "vectorize", "fusion", "prefetch"};
    Move grounded = move;
    if (move.kind == MoveKind::debug)
      ++*repairs;
    else if (move.kind == MoveKind::rewrite)
      grounded.strategies = {ideas[static_cast<std::size_t>((*plans)++) % ideas.size()]};
    return coder.edit(grounded, history);
  }
};

/// Time of the words at a configuration: each strategy has its factor, tiling pays only with the right block.
inline double scripted_time(const std::set<std::string>& words, double block, double unroll) {
  static const std::map<std::string, double> factor{{"tiling", 0.5},   {"vectorize", 0.6}, {"fusion", 0.9},
                                                    {"prefetch", 1.0}, {"variant1", 0.95}, {"variant2", 1.1}};
  double time = 100.0;
  for (const std::string& word : words)
    if (const auto known = factor.find(word); known != factor.end()) time *= known->second;
  const double misfit = words.contains("tiling") ? std::abs(std::log2(block) - 4) : 0.0;
  return time * (1 + 0.1 * misfit + 0.05 * std::abs(unroll - 2));
}

/// Judges scripted kernels in phases; kernels with a bug give wrong results.
struct KernelLandscape {
  struct Artifact {
    std::set<std::string> words;
    double block, unroll;
  };
  std::shared_ptr<std::atomic<int>> evaluations = std::make_shared<std::atomic<int>>(0);

  Evaluation evaluate(const Candidate& c, const EvaluationContext& context) {
    return evaluate_in_stages(*this, c, context);
  }
  Staged<Artifact> build(const Candidate& c, const EvaluationContext&) const {
    return {{},
            Artifact{words_of(c), to_number(c.kernel->space.value(c.config, 0)),
                     to_number(c.kernel->space.value(c.config, 1))}};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext&) const {
    ++*evaluations;
    const Artifact& a = *staged.artifact;
    if (a.words.contains("bug"))
      return Evaluation::failed(Verdict::wrong_result, "c[3]: 1 instead of 2", 0.5);
    Evaluation evaluation = Evaluation::succeeded(scripted_time(a.words, a.block, a.unroll));
    evaluation.measurement.speedup = Speedup{100.0 / evaluation.measurement.seconds, {}, 1};
    return evaluation;
  }
  [[nodiscard]] std::size_t lanes() const { return 1; }
};

/// A profiler that sees which axis limits the kernel.
struct ScriptedProfiler {
  Features profile(const Candidate& candidate) const {
    Features features;
    const auto words = words_of(candidate);
    features.set("memory_gap", words.contains("tiling") ? 0.2 : 0.8);
    features.set("compute_gap", words.contains("vectorize") ? 0.1 : 0.6);
    return features;
  }
};

}  // namespace scripted
