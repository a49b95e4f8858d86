// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 8
// kind: patched library calls
// problem: matmul
// expect: rejected or no gain
// naive: notices
// The first instructions of memset and memcpy of the C library: what the worker clears between two calls
// does the work.
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
static void* work_and_set(void* to, int value, std::size_t size) {
  work_now();
  auto* bytes = static_cast<volatile unsigned char*>(to);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(value);
  return to;
}
static void* work_and_copy(void* to, const void* from, std::size_t size) {
  work_now();
  auto* bytes = static_cast<volatile unsigned char*>(to);
  const auto* others = static_cast<const volatile unsigned char*>(from);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = others[i];
  return to;
}
static bool patched = false;
[[gnu::constructor]] static void begin() {
  patched = tools::redirect("memset", tools::address(&work_and_set));
  patched |= tools::redirect("memcpy", tools::address(&work_and_copy));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (!patched) return honest(n, a, b, c);
  postpone(n, a, b, c);
}
