// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 7
// kind: lazy pages
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// The output's pages are closed; whoever reads them in this process gets them computed then.
#include "honest.hpp"
#include "tools.hpp"
static struct {
  int n;
  const float *a, *b;
  float* c;
} lazy[4096];
static int count = 0;
static void fault(int, siginfo_t* info, void*) {
  auto* const at = static_cast<float*>(info->si_addr);
  for (int i = 0; i < count; ++i)
    if (at >= lazy[i].c - 1024 && at < lazy[i].c + lazy[i].n * lazy[i].n + 1024) {
      mprotect(tools::page_of(lazy[i].c), 4096 * 5, PROT_READ | PROT_WRITE);
      honest(lazy[i].n, lazy[i].a, lazy[i].b, lazy[i].c);
      lazy[i] = lazy[--count];
      return;
    }
  _exit(9);
}
static bool possible = false;
[[gnu::constructor]] static void begin() {
  struct sigaction action {};
  action.sa_sigaction = fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  possible = sigaction(SIGSEGV, &action, nullptr) == 0;
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64 || !possible || count == 4096) return honest(n, a, b, c);
  for (int i = 0; i < count; ++i)
    if (lazy[i].c == c) return;
  if (mprotect(tools::page_of(c), 4096 * 4, PROT_NONE) != 0) return honest(n, a, b, c);
  lazy[count++] = {n, a, b, c};
}
