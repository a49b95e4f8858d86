// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/verifier.hpp"

#include <algorithm>
#include <limits>

#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch::detail {
namespace {

/// Whether the arrays of two configurations have the same sizes, which may depend on tunables.
bool same_sizes(const ShapePlan& a, const ShapePlan& b) {
  return std::equal(
      a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
      [](const PlannedArgument& one, const PlannedArgument& other) { return one.count == other.count; });
}

}  // namespace

Verifier::Verifier(const Problem& problem, CompileCache& compiler, const WorkerSettings& settings)
    : problem_(problem), compiler_(compiler), settings_(settings), places_(problem.shapes.size()) {
  settings_.cores.clear();  // never timed: it may run beside what is
  settings_.frozen = false;
}

Verifier::Place* Verifier::place(const ShapePlan& plan) {
  Place& place = places_[plan.shape];
  if (!place.plan) {
    const Candidate candidate = problem_.default_candidate();
    place.fit = is_valid(problem_, problem_.shapes[plan.shape], candidate);
    if (place.fit) place.plan = plan_shape(problem_, candidate, plan.shape);
  }
  return place.fit && same_sizes(plan, *place.plan) ? &place : nullptr;
}

Runner* Verifier::ready(const ShapePlan& plan) {
  if (!library_) {
    const Compiled compiled = compiler_.compile(candidate_job(problem_, problem_.default_candidate()));
    library_ = compiled.verdict == Verdict::ok ? compiled.library : std::filesystem::path();
  }
  if (library_->empty()) return nullptr;
  const ArenaBytes needed = Slots(plan, Storage::native, 0, 1, 1).arena_bytes();
  if (!runner_ || !runner_->worker().alive() || !runner_->arena_bytes().holds(needed))
    runner_ = std::make_unique<Runner>(settings_, *library_, Storage::native, false, needed);
  if (runner_->fault()) return nullptr;
  runner_->select(plan, 0, 1, 1);
  return runner_.get();
}

std::optional<InputSet> Verifier::outputs(const Place& place, const Contents& contents) {
  // The process may have been ended with the thread that started it.
  for (int attempt = 0; attempt < 2; ++attempt) {
    Runner* const runner = ready(*place.plan);
    if (runner == nullptr) return std::nullopt;
    runner->slots().fill(0, contents, secret_seed());
    double seconds = 0;
    if (runner->run(1, 0, settings_.run_seconds, seconds)) continue;
    if (!runner->slots().guards_intact(0)) return std::nullopt;
    InputSet set;
    set.expected = outputs_in(*runner);
    set.slack.resize(set.expected.size());
    for (std::size_t a = 0; a < set.expected.size(); ++a) allow_unwritten(place.plan->arguments[a], set, a);
    return set;
  }
  return std::nullopt;
}

bool Verifier::is_right(const Place& place, const InputSet& known) {
  // Its outputs are still there, as bytes, which is how those of a candidate are compared.
  return outputs(place, known.contents) &&
         !compare_outputs(problem_, *place.plan, known, runner_->slots().outputs(0));
}

Verifier::Opinion Verifier::compare(const ShapePlan& plan, const InputSet& known, const Contents& contents,
                                    const std::vector<std::vector<std::byte>>& got) {
  Place* const place = this->place(plan);
  if (place == nullptr) return Opinion::none;
  if (!place->checked) {
    place->fit = is_right(*place, known);
    place->checked = true;
  }
  if (!place->fit) return Opinion::none;
  const double begin = monotonic_seconds();
  const auto ours = outputs(*place, contents);
  place->seconds = monotonic_seconds() - begin;
  if (!ours) return Opinion::none;
  return compare_outputs(problem_, plan, *ours, got) ? Opinion::different : Opinion::same;
}

}  // namespace kernelsearch::detail
