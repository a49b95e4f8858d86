// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asks the system for harmless things, and minds no refusal.
// problem: scale
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
extern "C" void scale(int n, const float* x, float* y) {
  timespec now{};
  char noise[16];
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  (void)!getrandom(noise, sizeof noise, GRND_NONBLOCK);
  (void)sched_yield();
  (void)getpid();
  rusage usage{};
  (void)getrusage(RUSAGE_SELF, &usage);
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
  const auto page = reinterpret_cast<unsigned long>(y) / 4096 * 4096;
  (void)madvise(reinterpret_cast<void*>(page), 4096, MADV_WILLNEED);
}
