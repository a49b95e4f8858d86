// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 8
// kind: patched library calls
// problem: matmul
// expect: rejected or no gain
// naive: notices
// A call only notes what it has to do; it is done in free, which the worker may call when its clock has
// stopped.
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
static void (*old_free)(void*) = &std::free;
static void work_and_free(void* block) {
  work_now();
  old_free(block);
}
static bool patched = false;
[[gnu::constructor]] static void begin() {
  patched = tools::redirect("free", tools::address(&work_and_free));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (!patched) return honest(n, a, b, c);
  postpone(n, a, b, c);
}
