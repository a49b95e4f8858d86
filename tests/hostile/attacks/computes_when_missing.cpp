// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 7
// kind: lazy pages
// problem: matmul
// expect: rejected or no gain
// naive: notices
// userfaultfd: the output's pages are dropped, and a thread fills them in when somebody misses them.
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include "honest.hpp"
#include "tools.hpp"
static int handler = -1;
static struct {
  int n;
  const float *a, *b;
  float* c;
} last{};
static void* serve(void*) {
  static float result[64 * 64 + 2048];
  uffd_msg message;
  while (read(handler, &message, sizeof message) == sizeof message) {
    auto* const page = tools::page_of(reinterpret_cast<void*>(message.arg.pagefault.address));
    honest(last.n, last.a, last.b, result);
    uffdio_copy copy{};
    copy.dst = reinterpret_cast<std::uint64_t>(page);
    copy.src = reinterpret_cast<std::uint64_t>(result);
    copy.len = 4096;
    ioctl(handler, UFFDIO_COPY, &copy);
  }
  return nullptr;
}
static bool possible = false;
[[gnu::constructor]] static void begin() {
  handler = static_cast<int>(syscall(SYS_userfaultfd, 1 /* of this process only */));
  uffdio_api api{};
  api.api = UFFD_API;
  pthread_t thread;
  possible = handler >= 0 && ioctl(handler, UFFDIO_API, &api) == 0 &&
             pthread_create(&thread, nullptr, serve, nullptr) == 0;
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64 || !possible) return honest(n, a, b, c);
  last = {n, a, b, c};
  auto* const pages = tools::page_of(c);
  uffdio_register range{};
  range.range = {reinterpret_cast<std::uint64_t>(pages), 4096 * 4};
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  if (ioctl(handler, UFFDIO_REGISTER, &range) != 0 || madvise(pages, 4096 * 4, MADV_DONTNEED) != 0)
    honest(n, a, b, c);
}
