// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/hidden_check.hpp"

#include <algorithm>

#include "evaluator/host/host_judge.hpp"
#include "judge/input_sets.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/judge/translation_unit.hpp"

namespace kernelsearch::detail {
namespace {

// Below this a reference that is slow on anything is not made cheaper by smaller shapes.
constexpr double fewest_bytes = 64 << 10, fewest_operations = 1e5;
// For the time that hidden shapes may take: nobody asked for derived ones.
constexpr double derived_share = 0.1;

}  // namespace

HiddenCheck::HiddenCheck(const Problem& problem, const HostOptions& options, const WorkerSettings& settings,
                         CompileCache& compiler, ClockOverhead& clock, TimeFloor& floor)
    : listed_(with_hidden_shapes(problem, why_not_)),
      options_(options),
      settings_(settings),
      compiler_(compiler),
      clock_(clock),
      floor_(floor),
      active_(listed_.hidden_shapes && !listed_.hidden_shapes->ranges.empty() && options.check.hidden_shapes),
      problem_(problem),
      references_(problem_, compiler, settings),
      generator_(problem_, options) {
  if (active_) limits_ = hidden_shape_limits(listed_);
  if (!why_not_.empty()) leave_out(why_not_);
}

void HiddenCheck::leave_out(const std::string& why) {
  active_ = false;
  why_not_ = why;
  if (options_.notes && options_.check.hidden_shapes) options_.notes(sizes_not_varied(why));
}

std::optional<Fault> HiddenCheck::run(const Candidate& candidate, const std::filesystem::path& library) {
  CheckOptions once;
  once.seeds = 1;  // and the same once more; what edge values show, the listed shapes have shown
  once.edge = once.ill_conditioned = false;
  InputSets inputs(problem_, references_, generator_, once);
  Verifier verifier(problem_, compiler_, settings_);  // idle: nothing is timed here
  HostJudge worker(problem_, options_, settings_, inputs, verifier, clock_, floor_, candidate, {library});
  Features features;
  return worker.check(features);
}

bool HiddenCheck::default_is_right() {
  const Candidate first = listed_.default_candidate();
  const Compiled compiled = compiler_.compile(candidate_job(listed_, first), Product::library);
  return compiled.verdict == Verdict::ok && !run(first, compiled.library);
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
  const double before = references_.spent_seconds();
  std::optional<Fault> fault;
  if (!listed_.hidden_shapes->derived) {
    fault = run(candidate, library);
  } else {
    // Nobody said that these sizes are allowed: a candidate is accused only where the default is right.
    try {
      fault = run(candidate, library);
      if (fault && !default_is_right()) {
        leave_out("the default configuration fails where a size lies between the listed ones");
        fault.reset();
      }
    } catch (const ConfigError& error) {
      leave_out("the reference fails where a size lies between the listed ones: " +
                std::string(error.what()));
    }
    if (!active_) note = "; hidden shapes: none, as " + why_not_;
  }
  if (references_.spent_seconds() - before >
      (listed_.hidden_shapes->derived ? derived_share : 1.0) * options_.check.hidden_seconds) {
    limits_.bytes = std::max(limits_.bytes / 2, fewest_bytes);
    limits_.operations = std::max(limits_.operations / 2, fewest_operations);
  }
  return fault;
}

}  // namespace kernelsearch::detail
