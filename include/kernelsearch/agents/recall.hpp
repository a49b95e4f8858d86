// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// What earlier runs learned that is close to this move from this kernel, as text for a prompt; empty where
/// there is nothing. The same for the same arguments as long as a run lasts; called from several threads.
using Recall = std::function<std::string(const Candidate& kernel, const Outcome& outcome, const Move& move)>;

}  // namespace kernelsearch
