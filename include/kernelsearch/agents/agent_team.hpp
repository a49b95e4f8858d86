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

/// STARK's temperatures: plan 0.8, code and debug 0.1.
struct AgentTeamOptions {
  AgentOptions common = {};
  AgentRole planner{.name = "planner", .temperature = 0.8};
  AgentRole coder{.name = "coder", .temperature = 0.1};
  AgentRole debugger{.name = "debugger", .temperature = 0.1};
  bool several_regions = true;  ///< whether a plan may change more than one region of the kernel
};

/// STARK's team. A planner marks the places of the kernel that are to change and says what belongs there
/// (grounded instruction); a coder fills these places; both are checked mechanically. A debugger repairs
/// kernels that failed. Each role has its window of the tree, temperature, model and provider. At most four
/// questions for a proposal, two for a debug move: each role is told of one fault.
class AgentTeam {
 public:
  using Candidate = kernelsearch::Candidate;

  AgentTeam(AnyChatModel model, Problem problem, AgentTeamOptions options = {});

  [[nodiscard]] Generation<Candidate> generate(const Move& move, const History<Candidate>& history) const;

  /// The strategies that its moves may name; without one the planner chooses.
  [[nodiscard]] const std::vector<Strategy>& strategies() const noexcept;

 private:
  AgentTeamOptions options_;
  std::shared_ptr<const detail::PromptBuilder> builder_;
};

}  // namespace kernelsearch
