// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/hidden_check.hpp"

#include <algorithm>

#include "evaluator/host/host_worker.hpp"
#include "judge/input_sets.hpp"
#include "kernelsearch/core/rng.hpp"

namespace kernelsearch::detail {
namespace {

// Below this a reference that is slow on anything is not made cheaper by smaller shapes.
constexpr double fewest_bytes = 64 << 10, fewest_operations = 1e5;

}  // namespace

HiddenCheck::HiddenCheck(const Problem& problem, const HostOptions& options, const WorkerSettings& settings,
                         CompileCache& compiler, ClockOverhead& clock, TimeFloor& floor)
    : listed_(problem),
      options_(options),
      settings_(settings),
      clock_(clock),
      floor_(floor),
      active_(problem.hidden_shapes && options.check.hidden_shapes),
      problem_(problem),
      references_(problem_, compiler, settings),
      generator_(problem_, options) {
  if (active_) limits_ = hidden_shape_limits(problem);
}

std::optional<Fault> HiddenCheck::check(const Candidate& candidate, const std::filesystem::path& library,
                                        std::string& note) {
  if (!active_) return std::nullopt;
  Rng rng(secret_seed());
  problem_.shapes = draw_hidden_shapes(listed_, candidate, limits_, rng);
  if (problem_.shapes.empty()) {
    note = "; hidden shapes: none that `valid` accepts for it";
    return std::nullopt;
  }
  note = "; hidden shapes:";
  for (const Shape& shape : problem_.shapes) note += (note.back() == ':' ? " " : ", ") + shape.name.substr(7);
  CheckOptions once;
  once.seeds = 1;  // and the same once more; what edge values show, the listed shapes have shown
  once.edge = once.ill_conditioned = false;
  InputSets inputs(problem_, references_, generator_, once);
  const double before = references_.spent_seconds();
  HostWorker worker(problem_, options_, settings_, inputs, clock_, floor_, candidate, library);
  Features features;
  auto fault = worker.check(features);
  if (references_.spent_seconds() - before > options_.check.hidden_seconds) {
    limits_.bytes = std::max(limits_.bytes / 2, fewest_bytes);
    limits_.operations = std::max(limits_.operations / 2, fewest_operations);
  }
  return fault;
}

}  // namespace kernelsearch::detail
