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
  if (!started) return Generation<Candidate>::none(started.error());
  const detail::PromptBuilder::Start& start = *started;
  if (move.kind != MoveKind::debug)
    return builder_->ask_for_kernel(options_.optimizer, "optimize",
                                    builder_->values(move, start, history, WindowKind::leaders), move, start,
                                    history);
  PromptValues values = builder_->values(move, start, history, WindowKind::alone);
  std::string reflection;
  const auto reflected =
      builder_->ask(options_.reflector, "reflect", values, move, [&](const std::string& text, bool) {
        reflection = text;  // words, cut or not; that there are some is checked before
        return detail::Judged{};
      });
  if (!reflected) return Generation<Candidate>::none(reflected.error());
  values["reflection"] = quoted(reflection, "text", most_reflection);
  return builder_->ask_for_kernel(options_.generator, "debug", values, move, start, history);
}

const std::vector<Strategy>& ReflectionTeam::strategies() const noexcept {
  return builder_->strategies();
}

}  // namespace kernelsearch
