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

/// The one who is to be asked in place of the default configuration takes at most this share of its time.
constexpr double witness_share = 0.7;
constexpr std::size_t most_witnesses = 2;

}  // namespace

Verifier::Verifier(const Problem& problem, CompileCache& compiler, const WorkerSettings& settings)
    : problem_(problem),
      compiler_(compiler),
      settings_(settings),
      default_(witness(problem.default_candidate(), std::numeric_limits<double>::infinity())),
      seconds_(problem.shapes.size()) {
  settings_.cores.clear();  // never timed: it may run next to what is
  settings_.frozen = false;
}

Verifier::Witness Verifier::witness(const Candidate& candidate, double seconds) const {
  return {candidate, seconds, {}, std::vector<Place>(problem_.shapes.size()), {}};
}

void Verifier::rest() noexcept {
  default_.runner.reset();
  for (Witness& one : faster_) one.runner.reset();
}

void Verifier::learn(const Candidate& candidate, const std::filesystem::path& library, double seconds) {
  if (candidate.kernel->regions != problem_.kernel.regions) return;
  if (library == library_of(default_)) {
    default_.seconds = std::min(default_.seconds, seconds);
    return;
  }
  const bool is_known =
      std::any_of(faster_.begin(), faster_.end(), [&](const Witness& one) { return one.library == library; });
  if (is_known || !(seconds < witness_share * default_.seconds)) return;
  Witness one = witness(candidate, seconds);
  one.library = library;
  faster_.insert(std::upper_bound(faster_.begin(), faster_.end(), seconds,
                                  [](double time, const Witness& other) { return time < other.seconds; }),
                 std::move(one));
  if (faster_.size() > most_witnesses) faster_.pop_back();
}

Verifier::Place* Verifier::place(Witness& witness, const ShapePlan& plan) {
  Place& place = witness.places[plan.shape];
  if (!place.plan) {
    place.fit = is_valid(problem_, problem_.shapes[plan.shape], witness.candidate);
    if (place.fit) place.plan = plan_shape(problem_, witness.candidate, plan.shape);
  }
  return place.fit && same_sizes(plan, *place.plan) ? &place : nullptr;
}

const std::filesystem::path& Verifier::library_of(Witness& witness) {
  if (!witness.library) {
    const Compiled compiled = compiler_.compile(candidate_job(problem_, witness.candidate));
    witness.library = compiled.verdict == Verdict::ok ? compiled.library : std::filesystem::path();
  }
  return *witness.library;
}

Runner* Verifier::ready(Witness& witness, const ShapePlan& plan) {
  const std::filesystem::path& library = library_of(witness);
  if (library.empty()) return nullptr;
  std::unique_ptr<Runner>& runner = witness.runner;
  const ArenaBytes needed = Slots(plan, Storage::native, 0, 1, 1).arena_bytes();
  if (!runner || !runner->worker().alive() || !runner->arena_bytes().holds(needed))
    runner = std::make_unique<Runner>(settings_, library, Storage::native, false, needed);
  if (runner->fault()) return nullptr;
  runner->select(plan, 0, 1, 1);
  return runner.get();
}

std::optional<InputSet> Verifier::outputs(Witness& witness, const Place& place, const Contents& contents) {
  // The process may have been ended with the thread that started it.
  for (int attempt = 0; attempt < 2; ++attempt) {
    Runner* const runner = ready(witness, *place.plan);
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

bool Verifier::is_right(Witness& witness, const Place& place, const InputSet& known) {
  // Its outputs are still there, as bytes, which is how those of a candidate are compared.
  return outputs(witness, place, known.contents) &&
         !compare_outputs(problem_, *place.plan, known, witness.runner->slots().outputs(0));
}

Verifier::Opinion Verifier::ask(Witness& witness, const ShapePlan& plan, const InputSet& known,
                                const Contents& contents, const std::vector<std::vector<std::byte>>& got) {
  Place* const place = this->place(witness, plan);
  if (place == nullptr) return Opinion::none;
  if (!place->checked) {
    place->fit = is_right(witness, *place, known);
    place->checked = true;
  }
  if (!place->fit) return Opinion::none;
  const double begin = monotonic_seconds();
  const auto ours = outputs(witness, *place, contents);
  seconds_[plan.shape] = monotonic_seconds() - begin;
  if (!ours) return Opinion::none;
  return compare_outputs(problem_, plan, *ours, got) ? Opinion::different : Opinion::same;
}

Verifier::Opinion Verifier::compare(const ShapePlan& plan, const InputSet& known, const Contents& contents,
                                    const std::vector<std::vector<std::byte>>& got,
                                    const std::filesystem::path& library) {
  for (Witness& one : faster_) {
    if (one.library == library) continue;
    if (const Opinion opinion = ask(one, plan, known, contents, got); opinion != Opinion::none)
      return opinion;
  }
  return ask(default_, plan, known, contents, got);
}

}  // namespace kernelsearch::detail
