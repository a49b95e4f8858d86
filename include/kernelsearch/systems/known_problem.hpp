// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "kernelsearch/agents/llm_config_search.hpp"
#include "kernelsearch/agents/natural_transformations.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::systems {

/// The options with what the problem tells filled in where nothing was given: code, and the problem in words
/// (problem_text).
[[nodiscard]] LlmConfigSearchOptions known(const Problem& problem, LlmConfigSearchOptions options);

/// The same: backend, entry function and the problem in words.
[[nodiscard]] NaturalTransformationsOptions known(const Problem& problem,
                                                  NaturalTransformationsOptions options);

}  // namespace kernelsearch::systems
