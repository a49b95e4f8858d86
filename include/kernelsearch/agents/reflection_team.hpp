// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>

#include "kernelsearch/agents/agent_options.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

namespace detail {
class PromptBuilder;
}

/// GEAK's settings (AMD, 2025: its OptimAgent asks at temperature 1 and puts the 5 fastest kernels, the
/// slowest of them first and each with its analysis, into the optimizer's prompt; at most 5 rounds of
/// debugging and 20 iterations, which are the policy's: MoveLimits::chain_debugs and the budget).
struct ReflectionTeamOptions {
  AgentOptions common = {};
  AgentRole generator{.name = "generator", .temperature = 1.0};
  AgentRole reflector{.name = "reflector", .temperature = 1.0};
  AgentRole optimizer{.name = "optimizer", .temperature = 1.0};
  std::size_t ancestors = 5;  ///< fastest kernels in the optimizer's prompt; replaces WindowOptions::leaders
};

/// GEAK's team. A reflector says of a right kernel what limits it, once, and of a failed one why it failed;
/// with that an optimizer writes a kernel that is to be faster than the fastest known, or a generator
/// repairs the failed one. The analyses are kept with the trials that were made after them
/// (Outcome::rationale). At most four questions for a proposal.
class ReflectionTeam {
 public:
  using Candidate = kernelsearch::Candidate;

  ReflectionTeam(AnyChatModel model, Problem problem, ReflectionTeamOptions options = {});

  [[nodiscard]] Generation<Candidate> generate(const Move& move, const History<Candidate>& history) const;

  [[nodiscard]] const std::vector<Strategy>& strategies() const noexcept;

 private:
  ReflectionTeamOptions options_;
  std::shared_ptr<const detail::PromptBuilder> builder_;
};

}  // namespace kernelsearch
