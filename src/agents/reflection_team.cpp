// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/reflection_team.hpp"

#include <utility>

#include "kernelsearch/agents/quoted_text.hpp"
#include "prompt_builder.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t most_reflection = 6000;  // bytes

AgentOptions with_ancestors(AgentOptions options, std::size_t ancestors) {
  options.windows.leaders = ancestors;
  options.feedback.plans = false;  // what it keeps are analyses of parents
  return options;
}

}  // namespace

ReflectionTeam::ReflectionTeam(AnyChatModel model, Problem problem, ReflectionTeamOptions options)
    : options_(std::move(options)),
      builder_(std::make_shared<const detail::PromptBuilder>(
          std::move(model), std::move(problem), with_ancestors(options_.common, options_.ancestors))) {}

Generation<Candidate> ReflectionTeam::generate(const Move& move, const History<Candidate>& history) const {
  if (move.kind == MoveKind::root) return builder_->root();
  const auto started = builder_->start(move, history);
  if (!started) return started.error().generation();
  const detail::PromptBuilder::Start& start = *started;
  const bool mending = move.kind == MoveKind::debug;
  // What a right kernel was found to lack stays true; a failure is looked at again each time.
  const TrialId parent = start.parent().outcome.id;
  std::string reflection = mending ? std::string() : analysis_of(history, parent);
  PromptValues values;
  if (reflection.empty()) {
    values = builder_->values(move, start, history, WindowKind::alone);
    const auto reflected =
        builder_->ask(options_.reflector, "reflect", values, move, [&](const std::string& text, bool) {
          reflection = text;  // words, cut or not; that there are some is checked before
          return detail::Judged{{}, nullptr, true};
        });
    if (!reflected) return reflected.error().generation();
  }
  if (!mending) values = builder_->values(move, start, history, WindowKind::leaders);
  values["reflection"] = quoted(reflection, "text", most_reflection);
  Generation<Candidate> made =
      mending ? builder_->ask_for_kernel(options_.generator, "debug", values, move, start, history)
              : builder_->ask_for_kernel(options_.optimizer, "optimize", values, move, start, history);
  made.rationale = shortened(clean_text(reflection), most_reflection);
  return made;
}

const std::vector<Strategy>& ReflectionTeam::strategies() const noexcept {
  return builder_->strategies();
}

}  // namespace kernelsearch
