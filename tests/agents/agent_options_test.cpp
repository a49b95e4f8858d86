// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/agent_options.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/agents/agent_team.hpp"
#include "kernelsearch/agents/llm_rewriter.hpp"
#include "kernelsearch/agents/reflection_team.hpp"

using namespace kernelsearch;

TEST_CASE("agent options: the papers' defaults") {
  const AgentTeamOptions stark;
  CHECK(stark.planner.temperature == 0.8);
  CHECK(stark.coder.temperature == 0.1);
  CHECK(stark.debugger.temperature == 0.1);
  CHECK(stark.common.windows.leaders == 5);
  const LlmRewriterOptions kernelband;
  CHECK(kernelband.rewriter.temperature == 1.0);
  CHECK(kernelband.window == WindowKind::alone);
  const ReflectionTeamOptions geak;
  CHECK(geak.optimizer.temperature == 1.0);
  CHECK(geak.ancestors == 5);
  CHECK(stark.common.corrections == 1);  // fed back once
}
