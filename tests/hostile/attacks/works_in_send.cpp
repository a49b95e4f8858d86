// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 8
// kind: patched library calls
// problem: matmul
// expect: rejected or no gain
// naive: notices
// The same in whatever the worker sends its reply with.
#include "honest.hpp"
#include "postponed.hpp"
#include "tools.hpp"
static ssize_t work_and_send(int to, const void* data, std::size_t size, int flags) {
  work_now();
  return syscall(SYS_sendto, to, data, size, flags, nullptr, 0);
}
static ssize_t work_and_sendmsg(int to, const msghdr* message, int flags) {
  work_now();
  return syscall(SYS_sendmsg, to, message, flags);
}
static ssize_t work_and_write(int to, const void* data, std::size_t size) {
  work_now();
  return syscall(SYS_write, to, data, size);
}
static bool patched = false;
[[gnu::constructor]] static void begin() {
  patched |= tools::redirect("send", tools::address(&work_and_send));
  patched |= tools::redirect("sendmsg", tools::address(&work_and_sendmsg));
  patched |= tools::redirect("write", tools::address(&work_and_write));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (!patched) return honest(n, a, b, c);
  postpone(n, a, b, c);
}
