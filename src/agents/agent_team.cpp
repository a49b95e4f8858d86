// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/agent_team.hpp"

#include <utility>

#include "kernelsearch/agents/grounded_plan.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "workshop.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t most_code = 1 << 19;

}  // namespace

AgentTeam::AgentTeam(AnyChatModel model, Problem problem, AgentTeamOptions options)
    : options_(std::move(options)),
      workshop_(
          std::make_shared<const detail::Workshop>(std::move(model), std::move(problem), options_.common)) {}

Generation<Candidate> AgentTeam::generate(const Move& move, const History<Candidate>& history) const {
  using Made = Generation<Candidate>;
  if (move.kind == MoveKind::root) return workshop_->root();
  const detail::Workshop::Start start = workshop_->start(move, history);
  if (!start.failure.empty()) return Made::none(start.failure);
  if (move.kind == MoveKind::debug)
    return workshop_->ask_for_kernel(options_.debugger, "debug",
                                     workshop_->values(move, start, history, WindowKind::debug), move, start,
                                     history);

  const ReplyExpectation wanted = workshop_->expectation(start, history);
  GroundedPlan plan;
  std::string failure =
      workshop_->ask(options_.planner, "plan", workshop_->values(move, start, history, WindowKind::plan),
                     move, [&](const std::string& text, bool cut) {
                       plan = read_plan(text, cut, wanted);
                       return detail::Judged{plan.judgement, nullptr};
                     });
  if (!failure.empty()) return Made::none(failure);

  PromptValues values = workshop_->values(move, start, history, WindowKind::code);
  const std::string label = std::string(workshop_->language()) + ' ' + plan.region;
  const Regions& regions = start.kernel().regions;
  values["region"] = plan.region;
  values["skeleton"] = quoted(with_anchors(*region_of(regions, plan.region), plan.spans), label, most_code);
  // The plan is a reply: quoted like all that others wrote.
  values["instructions"] = quoted(plan.instructions, "text", most_code);
  for (const std::string_view name : {"macros", "device", "host"})
    if (const std::string& text = *region_of(regions, name); name != plan.region && !text.empty())
      (values["rest"] += values["rest"].empty() ? "" : "\n\n") +=
          quoted(text, std::string(workshop_->language()) + ' ' + std::string(name), most_code);
  std::optional<Kernel> kernel;
  failure = workshop_->ask(options_.coder, "code", values, move, [&](const std::string& text, bool cut) {
    ReplyCode code = read_filled_plan(text, cut, plan, wanted);
    kernel = std::move(code.kernel);
    return detail::Judged{std::move(code.judgement), kernel ? &*kernel : nullptr};
  });
  if (!failure.empty()) return Made::none(failure);
  return detail::Workshop::candidate(*std::move(kernel), start);
}

const std::vector<Strategy>& AgentTeam::strategies() const noexcept {
  return workshop_->strategies();
}

}  // namespace kernelsearch
