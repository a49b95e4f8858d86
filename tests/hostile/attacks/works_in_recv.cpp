// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 8
// kind: patched library calls
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Replies first; the work is done when the worker comes back for its next command.
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
static ssize_t work_and_recv(int from, void* data, std::size_t size, int flags) {
  work_now();
  return syscall(SYS_recvfrom, from, data, size, flags, nullptr, nullptr);
}
static ssize_t work_and_recvmsg(int from, msghdr* message, int flags) {
  work_now();
  return syscall(SYS_recvmsg, from, message, flags);
}
static ssize_t work_and_read(int from, void* data, std::size_t size) {
  work_now();
  return syscall(SYS_read, from, data, size);
}
static bool patched = false;
[[gnu::constructor]] static void begin() {
  patched |= tools::redirect("recv", tools::address(&work_and_recv));
  patched |= tools::redirect("recvmsg", tools::address(&work_and_recvmsg));
  patched |= tools::redirect("read", tools::address(&work_and_read));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (!patched) return honest(n, a, b, c);
  postpone(n, a, b, c);
}
