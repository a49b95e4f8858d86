// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/agent_team.hpp"

#include <algorithm>
#include <utility>

#include "kernelsearch/agents/grounded_plan.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "prompt_builder.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t most_code = 1 << 19;

Generation<Candidate> with_rationale(Generation<Candidate> generation, std::string rationale) {
  generation.rationale = std::move(rationale);
  return generation;
}

}  // namespace

AgentTeam::AgentTeam(AnyChatModel model, Problem problem, AgentTeamOptions options)
    : options_(std::move(options)),
      builder_(std::make_shared<const detail::PromptBuilder>(std::move(model), std::move(problem),
                                                             options_.common)) {}

Generation<Candidate> AgentTeam::generate(const Move& move, const History<Candidate>& history) const {
  if (move.kind == MoveKind::root) return builder_->root();
  const auto started = builder_->start(move, history);
  if (!started) return started.error().generation();
  const detail::PromptBuilder::Start& start = *started;
  if (move.kind == MoveKind::debug) {
    // What is repaired goes on carrying out the plan that it failed at.
    const std::string& carried = start.parent().outcome.rationale;
    PromptValues values = builder_->values(move, start, history, WindowKind::debug);
    if (!carried.empty()) values["plan"] = quoted(carried, "text", most_code);
    return with_rationale(builder_->ask_for_kernel(options_.debugger, "debug", values, move, start, history),
                          carried);
  }

  const ReplyExpectation wanted = builder_->expectation(start, history);
  GroundedPlan plan;
  PromptValues planning = builder_->values(move, start, history, WindowKind::plan);
  planning["several_regions"] = options_.several_regions ? "yes" : "";
  const auto planned =
      builder_->ask(options_.planner, "plan", planning, move, [&](const std::string& text, bool cut) {
        plan = read_plan(text, cut, wanted);
        if (plan.judgement.ok() && plan.parts.size() > 1 && !options_.several_regions)
          plan.judgement = {
              ReplyFault::wrong_region,
              "The plan changes several regions: choose one, and leave the others as they are."};
        return detail::Judged{plan.judgement, nullptr, true};
      });
  if (!planned) return planned.error().generation();

  PromptValues values = builder_->values(move, start, history, WindowKind::code);
  const auto label = [this](KernelRegion region) {
    return std::string(builder_->language()) + ' ' + std::string(to_string(region));
  };
  const Regions& regions = start.kernel().regions;
  for (const GroundedPlan::Part& part : plan.parts)
    (values["skeleton"] += values["skeleton"].empty() ? "" : "\n\n") +=
        quoted(with_anchors(text_of(regions, part.region), part.spans), label(part.region), most_code);
  // The plan is a reply: quoted like all that others wrote.
  values["instructions"] = quoted(plan.instructions, "text", most_code);
  const auto planned_region = [&plan](KernelRegion region) {
    return std::any_of(plan.parts.begin(), plan.parts.end(),
                       [region](const GroundedPlan::Part& part) { return part.region == region; });
  };
  for (const KernelRegion region : regions_in_code)
    if (const std::string& text = text_of(regions, region); !planned_region(region) && !text.empty())
      (values["rest"] += values["rest"].empty() ? "" : "\n\n") += quoted(text, label(region), most_code);
  std::optional<Kernel> kernel;
  const auto coded =
      builder_->ask(options_.coder, "code", values, move, [&](const std::string& text, bool cut) {
        ReplyCode code = read_filled_plan(text, cut, plan, wanted);
        kernel = std::move(code.kernel);
        return detail::Judged{std::move(code.judgement), kernel ? &*kernel : nullptr};
      });
  // A plan stays with its trial though nobody could carry it out: the planner is told of it.
  return with_rationale(
      coded ? detail::PromptBuilder::candidate(*std::move(kernel), start) : coded.error().generation(),
      plan.instructions);
}

const std::vector<Strategy>& AgentTeam::strategies() const noexcept {
  return builder_->strategies();
}

}  // namespace kernelsearch
