// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/run/run.hpp"

namespace kernelsearch::app {

/// Prints what a run came to on stdout, as text or as one JSON object.
void print_result(const RunStore& store, const RunResult& result, bool json);

}  // namespace kernelsearch::app
