// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/llm_rewriter.hpp"

#include <utility>

#include "workshop.hpp"

namespace kernelsearch {

LlmRewriter::LlmRewriter(AnyChatModel model, Problem problem, LlmRewriterOptions options)
    : options_(std::move(options)),
      workshop_(
          std::make_shared<const detail::Workshop>(std::move(model), std::move(problem), options_.common)) {}

Generation<Candidate> LlmRewriter::generate(const Move& move, const History<Candidate>& history) const {
  if (move.kind == MoveKind::root) return workshop_->root();
  const detail::Workshop::Start start = workshop_->start(move, history);
  if (!start.failure.empty()) return Generation<Candidate>::none(start.failure);
  const PromptValues values = workshop_->values(move, start, history, options_.window);
  const bool debug = move.kind == MoveKind::debug;
  return workshop_->ask_for_kernel(debug ? options_.debugger : options_.rewriter, debug ? "debug" : "rewrite",
                                   values, move, start, history);
}

const std::vector<Strategy>& LlmRewriter::strategies() const noexcept {
  return workshop_->strategies();
}

}  // namespace kernelsearch
