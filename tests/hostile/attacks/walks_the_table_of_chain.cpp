// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 10
// kind: fused calls
// problem: chain
// expect: rejected or no gain
// naive: notices
// Reads the arguments of the next calls behind its own, and does 3 calls in one loop.
#include <cstdint>
#include "honest.hpp"
static constexpr int call_size = 4096, width = 3;
#include "walks_the_table.hpp"
#define chain(n, x, y) walk(n, x, y, arguments)
