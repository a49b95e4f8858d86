// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "change_recorder.hpp"

#include <algorithm>
#include <utility>

#include "kernelsearch/agents/feedback.hpp"
#include "kernelsearch/agents/unified_diff.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/run/change_file.hpp"
#include "kernelsearch/run/change_recall.hpp"
#include "kernelsearch/store/json.hpp"
#include "kernelsearch/store/kernel_codec.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::size_t most_lines = 6;   // of a reason
constexpr std::size_t most_errors = 3;  // of a compiler

std::string by_strategies(const Move& move) {
  Move bare;
  bare.kind = MoveKind::rewrite;
  bare.strategies = move.strategies;
  return to_json_text(bare);
}

std::string first_lines(const std::string& text) {
  std::size_t end = 0;
  for (std::size_t line = 0; line < most_lines && end < text.size(); ++line)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end);
}

std::string diff_of(const Regions& before, const Regions& after) {
  std::string diff;
  for (const KernelRegion region : regions_in_code)
    diff += unified_diff(text_of(before, region), text_of(after, region), to_string(region));
  return diff;
}

/// The tunables whose values differ; those that only one of the kernels has count too.
std::string changed_values(const Candidate& before, const Candidate& after) {
  const Space& from = before.kernel->space;
  const Space& to = after.kernel->space;
  std::string text;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::string& name = to.tunable(i).name;
    const std::string now = to_string(to.value(after.config, i));
    const auto known = from.find(name);
    const std::string was = known ? to_string(from.value(before.config, *known)) : "none";
    if (was != now) text += name + ": " + was + " -> " + now + '\n';
  }
  return text;
}

}  // namespace

void AskedMoves::add(const Exchange& exchange) {
  Asked asked{exchange.prompt, exchange.template_hash, exchange.model, !exchange.error};
  const std::lock_guard lock(mutex_);
  asked_.insert_or_assign(
      exchange.move.parents.empty() ? by_strategies(exchange.move) : to_json_text(exchange.move),
      std::move(asked));
}

std::optional<AskedMoves::Asked> AskedMoves::find(const Move& move) const {
  const std::lock_guard lock(mutex_);
  auto found = asked_.find(to_json_text(move));
  if (found == asked_.end()) found = asked_.find(by_strategies(move));
  if (found == asked_.end()) return std::nullopt;
  return found->second;
}

std::string ChangeRecorder::id_of(TrialId trial) const {
  const RunInfo& info = source_.run.info;
  return sha256("kernelsearch change\n" + source_.run.started + '\n' + info.name + '\n' +
                info.problem_digest + '\n' + info.device + '\n' + std::to_string(info.seed) + '\n' +
                std::to_string(number(source_.run.id)) + '\n' + std::to_string(number(trial)));
}

void ChangeRecorder::judge(RememberedChange& change, const Outcome& parent, const Outcome& child) const {
  const Evaluation& evaluation = child.evaluation;
  change.verdict = evaluation.verdict;
  change.progress = std::clamp(evaluation.progress, 0.0, 1.0);
  change.reason = first_lines(evaluation.verdict == Verdict::build_failed
                                  ? compiler_errors(evaluation.reason, most_errors)
                                  : evaluation.reason);
  change.overrun = evaluation.overrun;
  change.effect = effect_of_change(parent, child);
}

void ChangeRecorder::on_trial(const Trial<Candidate>& trial, const Move& move, const Find& find) {
  if (trial.outcome.parents.empty()) return;
  const Trial<Candidate>* const parent = find(trial.outcome.parents.front());
  if (parent == nullptr || !parent->candidate) return;
  const auto asked = asked_->find(move);
  if (!trial.candidate && (!asked || !asked->answered)) return;

  RememberedChange change;
  change.id = id_of(trial.outcome.id);
  change.problem = source_.problem.name;
  change.problem_digest = source_.run.info.problem_digest;
  change.backend = to_string(source_.problem.backend);
  change.traits = source_.traits;
  change.device = source_.run.info.device;
  change.toolchain = source_.run.info.toolchain;
  change.system = source_.run.info.policy;
  change.kind = move.kind;
  change.strategies = move.strategies;
  if (asked) {
    change.prompt = asked->prompt;
    change.prompt_version = asked->prompt_version;
    change.model = asked->model;
  }
  change.limiter = limiter_of(source_.problem, parent->outcome.evaluation, source_.peaks);
  change.parent_kernel = kernel_digest(*parent->candidate->kernel);
  if (trial.candidate) {
    const Candidate before = tuned(*parent->candidate, parent->outcome.evaluation.tuned_key);
    const Candidate after = tuned(*trial.candidate, trial.outcome.evaluation.tuned_key);
    change.diff = diff_of(before.kernel->regions, after.kernel->regions);
    change.settings = changed_values(before, after);
    change.kernel = kernel_digest(*after.kernel);
    if (change.diff.empty() && change.settings.empty()) return;
  }
  judge(change, parent->outcome, trial.outcome);
  store_->put_change(without_secrets(std::move(change), source_.redactor));
}

void ChangeRecorder::on_revised(const Trial<Candidate>& trial, const Find& find) {
  std::optional<StoredChange> known = store_->change_of_id(id_of(trial.outcome.id));
  if (!known || trial.outcome.parents.empty()) return;
  const Trial<Candidate>* const parent = find(trial.outcome.parents.front());
  if (parent == nullptr) return;
  judge(known->change, parent->outcome, trial.outcome);
  store_->put_change(without_secrets(std::move(known->change), source_.redactor));
}

}  // namespace kernelsearch::detail
