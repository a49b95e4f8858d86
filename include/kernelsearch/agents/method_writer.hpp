// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernelsearch/agents/agent_options.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/policy/method.hpp"
#include "kernelsearch/policy/skill_journal.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

namespace detail {
class PromptBuilder;
}

/// The post and its scripts name no temperatures. Ours: branches are to differ, ablations are not.
struct MethodWriterOptions {
  AgentOptions common = {};  ///< its strategies are replaced by the methods
  std::vector<Method> methods = {};
  std::size_t branches = 4;                               ///< as RooflineBudgetOptions has it
  std::shared_ptr<const SkillJournal> journal = nullptr;  ///< the policy's: gaps and decisions, for prompts
  AgentRole writer{.name = "writer", .temperature = 1.0};
  AgentRole ablator{.name = "ablator", .temperature = 0.0};
  AgentRole debugger{.name = "debugger", .temperature = 0.5};
  WindowKind window = WindowKind::alone;
};

/// Writes the kernels of RooflineBudget's moves through a language model: branches (the same methods together
/// in another implementation: tiles, stages, threads, layouts), ablations (the same kernel without a method,
/// all else equal, also where that is a kernel known before) and repairs; one question for each, and one more
/// where the reply cannot be used. A branch that tries a failed method again must say in a sentence what it
/// does differently (`read_retry_note`), which is the rationale of its candidate. It may be called from
/// several threads at once; copies share the prompts.
class MethodWriter {
 public:
  using Candidate = kernelsearch::Candidate;

  MethodWriter(AnyChatModel model, Problem problem, MethodWriterOptions options);

  [[nodiscard]] Generation<Candidate> generate(const Move& move, const History<Candidate>& history) const;

 private:
  MethodWriterOptions options_;
  std::shared_ptr<const detail::PromptBuilder> builder_;
};

/// The methods as strategies of prompts: their ids and what they ask for.
[[nodiscard]] std::vector<Strategy> strategies_of(const std::vector<Method>& methods);

}  // namespace kernelsearch
