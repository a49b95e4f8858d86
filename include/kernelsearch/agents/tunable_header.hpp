// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/agents/reply_fault.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/space/carried_over.hpp"

namespace kernelsearch {

/// For one reply: more than these are a slip.
inline constexpr DeclaredTunablesLimits reply_limits{
    .tunables = 16, .values = 64, .constraints = 16, .max_states = 200'000, .replace = true};
/// For a kernel that several replies declared tunables of.
inline constexpr DeclaredTunablesLimits kernel_limits{
    .tunables = 48, .values = 64, .constraints = 64, .max_states = 200'000, .replace = true};

/// A space that a reply's declaration makes of a kernel's, or what is wrong with it (`bad_tunables`).
struct DeclaredSpace {
  ReplyJudgement judgement;
  std::optional<Space> space;
};

/// Joins the tunables and constraints of a reply's JSON block, written as in a problem file
/// (docs/formats/problem.md), to a kernel's own; a name that is there already gets the values given. At most
/// 16 new tunables with 64 values each; every new one must be mentioned in the code.
[[nodiscard]] DeclaredSpace declare_tunables(const Space& space, std::string_view json, const Regions& code);

/// What a kernel may declare.
struct DeclaringOptions {
  const Problem* problem = nullptr;  ///< whose kernel it is; null: it declares no launch
  const Regions* before = nullptr;   ///< the parent's, whose declarations are not judged again
  bool tunables = true;              ///< whether something searches tunables
};

/// A kernel with what its text and a reply declare of it, or what is wrong with that.
struct DeclaredKernel {
  ReplyJudgement judgement;
  std::optional<Kernel> kernel;
};

/// The kernel of these regions over the problem's space `base`. `json`, unless it is empty, is an object with
/// "tunables", "constraints" and "default" as in a problem file and "launch" as there; it is joined to what
/// the lines `//@tunables` and `//@launch` of the macros region say, and the result is there
/// (docs/agents.md). A tunable declared again gets the new values, and loses the constraints that were
/// declared with the old ones; declared tunables that the code no longer names are dropped.
[[nodiscard]] DeclaredKernel declared_kernel(const Space& base, Regions regions, std::string_view json,
                                             const DeclaringOptions& options = {});

}  // namespace kernelsearch
