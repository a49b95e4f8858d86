// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/llm_rewriter.hpp"

#include <utility>

#include "prompt_builder.hpp"

namespace kernelsearch {

LlmRewriter::LlmRewriter(AnyChatModel model, Problem problem, LlmRewriterOptions options)
    : options_(std::move(options)),
      builder_(std::make_shared<const detail::PromptBuilder>(std::move(model), std::move(problem),
                                                             options_.common)) {}

Generation<Candidate> LlmRewriter::generate(const Move& move, const History<Candidate>& history) const {
  if (move.kind == MoveKind::root) return builder_->root();
  const auto started = builder_->start(move, history);
  if (!started) return started.error().generation();
  const detail::PromptBuilder::Start& start = *started;
  const PromptValues values = builder_->values(move, start, history, options_.window);
  const bool debug = move.kind == MoveKind::debug;
  return builder_->ask_for_kernel(debug ? options_.debugger : options_.rewriter, debug ? "debug" : "rewrite",
                                  values, move, start, history);
}

const std::vector<Strategy>& LlmRewriter::strategies() const noexcept {
  return builder_->strategies();
}

}  // namespace kernelsearch
