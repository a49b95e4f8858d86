// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/method_writer.hpp"

#include <algorithm>
#include <utility>

#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/retry_note.hpp"
#include "kernelsearch/agents/skill_texts.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "prompt_builder.hpp"

namespace kernelsearch {
namespace {

AgentOptions with_methods(AgentOptions common, const std::vector<Method>& methods) {
  if (!methods.empty()) common.strategies = strategies_of(methods);
  return common;
}

}  // namespace

namespace {

constexpr std::size_t most_siblings_text = 24'000;  // bytes: a fifth of a question

/// The branches of this iteration that were judged before: what came of each, and how its code differs from
/// the kernel that all are made from.
std::string siblings_text(const Move& move, std::uint32_t first, const detail::PromptBuilder::Start& start,
                          const History<Candidate>& history, std::string_view language) {
  std::string text;
  for (const TrialId id : history.children(start.parent().outcome.id)) {
    const Trial<Candidate> trial = history.find(id);
    const std::optional<Move>& made = trial.outcome.move;
    if (!trial.candidate || !made || made->kind != MoveKind::branch || made->strategies != move.strategies ||
        made->variant < first || made->variant >= move.variant)
      continue;
    std::string one = "## Branch " + std::to_string(made->variant - first + 1) + " (kernel " +
                      std::to_string(number(id)) + "): " + came_of(trial.outcome) + "\n\n" +
                      change_text(*trial.candidate, *start.parent().candidate, language) + '\n';
    if (text.size() + one.size() > most_siblings_text)
      one = one.substr(0, one.find('\n')) + " (its code is left out for length)\n\n";
    text += one;
  }
  return std::string(detail::trimmed(text));
}

}  // namespace

std::vector<Strategy> strategies_of(const std::vector<Method>& methods) {
  std::vector<Strategy> strategies;
  for (const Method& method : methods) {
    Strategy& strategy = strategies.emplace_back();
    strategy.name = method.id;
    strategy.description = method.description;
    strategy.target = to_string(method.axis);
  }
  return strategies;
}

MethodWriter::MethodWriter(AnyChatModel model, Problem problem, MethodWriterOptions options)
    : options_(std::move(options)),
      builder_(std::make_shared<const detail::PromptBuilder>(
          std::move(model), std::move(problem), with_methods(options_.common, options_.methods))) {}

Generation<Candidate> MethodWriter::generate(const Move& move, const History<Candidate>& history) const {
  if (move.kind == MoveKind::root) return builder_->root();
  const auto started = builder_->start(move, history);
  if (!started) return started.error().generation();
  const detail::PromptBuilder::Start& start = *started;
  PromptValues values = builder_->values(move, start, history, options_.window);
  for (const char* name : {"branch", "branches", "roofline", "methods", "again", "retry_form", "siblings"})
    values[name] = "";
  values["branches"] = std::to_string(options_.branches);
  std::uint32_t first = 0;
  if (const auto now = options_.journal ? options_.journal->last() : std::nullopt) {
    first = now->first_variant;
    values["roofline"] = clean_text(detail::trimmed(roofline_words(*now)));
    values["methods"] = clean_text(detail::trimmed(methods_words(*now, options_.methods)));
    for (const SkillIteration& before : options_.journal->iterations())
      for (const MethodVerdict& verdict : before.verdicts)
        if (const std::string& id = options_.methods[verdict.method].id;
            verdict.fate == MethodFate::implementation_failed &&
            std::find(move.strategies.begin(), move.strategies.end(), id) != move.strategies.end())
          values["again"] += "- " + clean_text(id) + ": " + clean_text(verdict.words) + '\n';
  } else {
    for (const Method& method : options_.methods)
      if (std::find(move.strategies.begin(), move.strategies.end(), method.id) != move.strategies.end())
        values["methods"] += "- " + clean_text(method.id) + ": " + clean_text(method.description) + '\n';
  }
  switch (move.kind) {
    case MoveKind::branch: {
      const std::uint32_t k = move.variant - std::min(first, move.variant) + 1;
      values["branch"] = std::to_string(k);
      if (k > options_.branches) values["branches"] = "";  // one more, for one that failed or was lost
      values["retry_form"] = retry_form;
      values["siblings"] = siblings_text(move, first, start, history, builder_->language());
      if (values["again"].empty())
        return builder_->ask_for_kernel(options_.writer, "branch", values, move, start, history);
      std::string note;
      Generation<Candidate> made = builder_->ask_for_kernel(
          options_.writer, "branch", values, move, start, history, true, [&note](const std::string& text) {
            const auto found = read_retry_note(text);
            if (found) note = *found;
            return found ? ReplyJudgement{}
                         : ReplyJudgement{ReplyFault::no_retry_note,
                                          "Methods that failed before are tried again. Say in a sentence, on "
                                          "a line of its own before the code, what you do differently: " +
                                              std::string(retry_form) + ": the sentence."};
          });
      if (!made.candidates.empty()) made.rationale = std::move(note);
      return made;
    }
    case MoveKind::ablate:
      return builder_->ask_for_kernel(options_.ablator, "ablation", values, move, start, history, false);
    case MoveKind::debug:
      return builder_->ask_for_kernel(options_.debugger, "debug", values, move, start, history);
    default:
      return builder_->ask_for_kernel(options_.writer, "rewrite", values, move, start, history);
  }
}

}  // namespace kernelsearch
