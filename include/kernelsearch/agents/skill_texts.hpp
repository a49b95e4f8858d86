// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "kernelsearch/core/features.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/policy/method.hpp"
#include "kernelsearch/policy/skill_iteration.hpp"

namespace kernelsearch {

/// What a move of RooflineBudget asks for, in one sentence: which methods, which of how many implementations,
/// what is to be left out.
[[nodiscard]] std::string move_words(const Move& move, std::size_t branches = 0,
                                     std::uint32_t first_variant = 0);

/// Gaps, bound and slots of an iteration as a few lines of Markdown.
[[nodiscard]] std::string roofline_words(const SkillIteration& iteration);

/// The methods that an iteration took, each with what it asks for and what its trace in the machine code is.
[[nodiscard]] std::string methods_words(const SkillIteration& iteration, std::span<const Method> methods);

/// An iteration's analysis.md: the profile of what it starts from, the budget, each decision, and failed
/// implementations of earlier iterations that are tried again.
[[nodiscard]] std::string analysis_text(const SkillIteration& iteration, std::span<const Method> methods,
                                        const Features& profile, std::span<const SkillIteration> earlier);

/// Its methods.json, with the fields of CUDA optimisation skill V2.
[[nodiscard]] std::string methods_json(const SkillIteration& iteration, std::span<const Method> methods,
                                       const Features& profile);

/// The name of a branch's folder: `b1` ... `bK`, further ones for what was asked for again, `r1` ... for what
/// repairs one.
[[nodiscard]] std::string branch_name(const SkillIteration& iteration, const Move& move);

/// The name of an ablation's folder: the ids of what is left out, joined by `+`.
[[nodiscard]] std::string ablation_name(const Move& move);

}  // namespace kernelsearch
