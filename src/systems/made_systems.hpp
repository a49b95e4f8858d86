// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/agents/agent_options.hpp"
#include "kernelsearch/systems/system_registry.hpp"

/// The systems as the registry makes them, and the options that each can be made with.
namespace kernelsearch::systems::made {

[[nodiscard]] SystemSearch best_of_k(SystemSetup setup);
[[nodiscard]] SystemSearch cuda_skill_v2(SystemSetup setup);
[[nodiscard]] SystemSearch geak(SystemSetup setup);
[[nodiscard]] SystemSearch greedy_refine(SystemSetup setup);
[[nodiscard]] SystemSearch helion_hybrid(SystemSetup setup);
[[nodiscard]] SystemSearch helion_lfbo(SystemSetup setup);
[[nodiscard]] SystemSearch helion_llm(SystemSetup setup);
[[nodiscard]] SystemSearch kernelband(SystemSetup setup);
[[nodiscard]] SystemSearch peak(SystemSetup setup);
[[nodiscard]] SystemSearch stark(SystemSetup setup);

[[nodiscard]] std::string cuda_skill_v2_settings(const SystemSetup& setup);
[[nodiscard]] std::string peak_settings(const SystemSetup& setup);

[[nodiscard]] WorkflowOptions peak_workflow_of(const SystemOptions& given, std::string_view settings);

[[nodiscard]] std::vector<SystemOption> best_of_k_options();
[[nodiscard]] std::vector<SystemOption> cuda_skill_v2_options();
[[nodiscard]] std::vector<SystemOption> geak_options();
[[nodiscard]] std::vector<SystemOption> greedy_refine_options();
[[nodiscard]] std::vector<SystemOption> helion_hybrid_options();
[[nodiscard]] std::vector<SystemOption> helion_lfbo_options();
[[nodiscard]] std::vector<SystemOption> helion_llm_options();
[[nodiscard]] std::vector<SystemOption> kernelband_options();
[[nodiscard]] std::vector<SystemOption> peak_options();
[[nodiscard]] std::vector<SystemOption> stark_options();

[[nodiscard]] std::vector<SystemVariant> kernelband_variants();
[[nodiscard]] bool kernelband_learns(const SystemOptions& given);

/// What all generators that ask models are given.
[[nodiscard]] AgentOptions agent_options(const SystemSetup& setup);

/// Makes a stored kernel again: its space is the problem's with what its text declares.
[[nodiscard]] KernelMaker kernels_of(const Problem& problem);

/// A ConfigError for a problem whose reference is a PyTorch module; `why` it is not for this system.
void refuse_module(const Problem& problem, const char* why);

/// A count as the registry has it.
[[nodiscard]] inline std::int64_t whole(std::size_t count) {
  return static_cast<std::int64_t>(count);
}

}  // namespace kernelsearch::systems::made
