// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include "kernelsearch/agents/agent_options.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

namespace detail {
class PromptBuilder;
}

struct LlmRewriterOptions {
  AgentOptions common = {};
  /// KernelBand asks at temperature 1 (arXiv 2511.18868, section 5.1).
  AgentRole rewriter{.name = "rewriter", .temperature = 1.0};
  AgentRole debugger{.name = "debugger", .temperature = 1.0};
  WindowKind window = WindowKind::alone;  ///< which other kernels it is shown
};

/// Has a language model apply one strategy to one kernel, as KernelBand does: one question for each proposal,
/// and one more where the reply cannot be used. The kernel's function keeps its signature; the reply may
/// declare tunables. A move without a strategy lets the model choose one; debug moves show it how the kernel
/// failed. It may be called from several threads at once; copies share the prompts.
class LlmRewriter {
 public:
  using Candidate = kernelsearch::Candidate;

  LlmRewriter(AnyChatModel model, Problem problem, LlmRewriterOptions options = {});

  [[nodiscard]] Generation<Candidate> generate(const Move& move, const History<Candidate>& history) const;

  /// The strategies that its moves may name: give their names to the policy.
  [[nodiscard]] const std::vector<Strategy>& strategies() const noexcept;

 private:
  LlmRewriterOptions options_;
  std::shared_ptr<const detail::PromptBuilder> builder_;
};

}  // namespace kernelsearch
