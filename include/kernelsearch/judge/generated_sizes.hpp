// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// Runs the problem's generator for the sizes that it gives (Shape::generated), once for each shape, unless
/// they are there, and checks what reading could not: sizes, values and ranges of the arguments. Does
/// nothing for problems without such sizes. A ConfigError if the generator does not build or run, or gives
/// wrong sizes.
void fill_generated_sizes(Problem& problem, const HostOptions& options = {});

}  // namespace kernelsearch
