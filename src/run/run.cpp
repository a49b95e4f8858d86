// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run.hpp"

#include <utility>

#include "run_search.hpp"

namespace kernelsearch {

RunSession::RunSession(RunStore& store, RunId run, AnyEvaluator evaluator, const RunPlan& plan)
    : search_(plan.policy == "submit" ? detail::search_submits(store, run, std::move(evaluator), plan)
                                      : detail::search_configs(store, run, std::move(evaluator), plan)) {}
RunSession::~RunSession() = default;
RunSession::RunSession(RunSession&&) noexcept = default;
RunSession& RunSession::operator=(RunSession&&) noexcept = default;

StepReport RunSession::step(const StepLimit& limit, const ToolCall& call) {
  return search_->step(limit, call);
}
std::optional<TrialId> RunSession::submit(const Submission& submission, const ToolCall& call) {
  return search_->submit(submission, call);
}
std::optional<Move> RunSession::suggestion() {
  return search_->suggestion();
}
void RunSession::decline(const std::string& reason, const ToolCall& call) {
  search_->decline(reason, call);
}
bool RunSession::spent() const noexcept {
  return search_->spent;
}
const Problem& RunSession::problem() const noexcept {
  return search_->problem;
}

}  // namespace kernelsearch
