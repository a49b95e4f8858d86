// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/features.hpp"

namespace kernelsearch {

struct Kernel;
struct Problem;

/// What the text of a kernel for a GPU says without being compiled or run, so that no method is chosen that
/// it rules out where nothing is profiled: `text.barriers`, the calls that wait for a block or a cluster;
/// `text.launches`, the launches of one call, where that is certain: the problem's launch steps, or those in
/// host code without a loop; `text.exact`, 1 where an output of 32 or 64 bits is held to less than 0.001 of
/// its value, which arithmetic in fewer bits does not reach. None for hosts.
[[nodiscard]] Features text_features(const Problem& problem, const Kernel& kernel);

}  // namespace kernelsearch
