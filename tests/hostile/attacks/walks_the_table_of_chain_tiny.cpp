// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 10
// kind: fused calls
// problem: chain_tiny
// expect: rejected or no gain
// naive: notices
// Reads the arguments of the next calls behind its own, and does 4 calls in one loop.
#include <cstdint>
#include "honest.hpp"
static constexpr int call_size = 24, width = 4;
#include "walks_the_table.hpp"
#define chain_tiny(n, x, y) walk(n, x, y, arguments)
