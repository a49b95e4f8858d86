// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/recorded/recording.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// What a recording says of the configurations of `space`, as something that policies may learn from: of each
/// configuration whose values are valid there. Tunables are matched by name; empty where their names differ
/// or nothing is left.
[[nodiscard]] std::optional<EarlierRun> earlier_run(const Recording& recording, const Space& space);

}  // namespace kernelsearch
