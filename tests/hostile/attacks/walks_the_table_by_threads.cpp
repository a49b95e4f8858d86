// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 10
// kind: fused calls
// problem: chain_threads
// expect: rejected or no gain
// naive: notices
// Of a problem with threads, whose calls were made together for 5 ms and never looked at alone.
#include <cstdint>
#include "honest.hpp"
static constexpr int call_size = 20000, width = 8;
#include "walks_the_table.hpp"
#define chain_threads(n, x, y) walk(n, x, y, arguments)
