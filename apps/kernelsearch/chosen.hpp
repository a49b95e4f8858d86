// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::app {

/// The candidate of a problem that the user named: `default`; `best`, the winner of the newest run of this
/// problem in the store (empty: the default one); or settings as a JSON object, in which what is missing is
/// at its default, or a file of it. A ConfigError where there is none, a name or value is unknown, or the
/// settings break a constraint.
[[nodiscard]] Candidate chosen_candidate(const Problem& problem, const std::string& choice,
                                         const std::string& store);

/// The settings as a JSON object on one line.
[[nodiscard]] std::string settings_text(const Candidate& candidate);

}  // namespace kernelsearch::app
