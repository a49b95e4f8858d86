// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/agents/reply_fault.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// A space that a reply's declaration makes of a kernel's, or what is wrong with it (`bad_tunables`).
struct DeclaredSpace {
  ReplyJudgement judgement;
  std::optional<Space> space;
};

/// Joins the tunables and constraints of a reply's JSON block, written as in a problem file
/// (docs/formats/problem.md), to a kernel's own; a name that is there already gets the values given. At most
/// 16 new tunables with 64 values each; every new one must be mentioned in the code.
[[nodiscard]] DeclaredSpace declare_tunables(const Space& space, std::string_view json, const Regions& code);

/// The configuration of `space` that has the values of `config` where it has tunables of those names and
/// values, its defaults elsewhere, or the valid one nearest to that.
[[nodiscard]] Config carried_over(const Space& from, const Config& config, const Space& space);

}  // namespace kernelsearch
