// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 13
// kind: edited replies
// problem: matmul
// expect: rejected or no gain
// naive: notices
// The reply goes out in the first call of a batch, made from an earlier one and the new command's number;
// then the work is done, and the worker's own reply is swallowed.
#include "honest.hpp"
#include "tools.hpp"
static unsigned char command[1 << 16], reply[1 << 16], old_number[8];
static std::size_t reply_size = 0;
static bool answered = false;
static bool have_command = false;
static ssize_t hear(int from, void* data, std::size_t size, int flags) {
  const auto got = syscall(SYS_recvfrom, from, data, size, flags, nullptr, nullptr);
  if (got >= 8) std::memcpy(command, data, 8);
  have_command = got >= 8;
  answered = false;
  return got;
}
static ssize_t answer(int to, const void* data, std::size_t size, int flags) {
  if (answered) return static_cast<ssize_t>(size);
  if (size <= sizeof reply) {
    std::memcpy(reply, data, size);
    std::memcpy(old_number, command, 8);
    reply_size = size;
  }
  answered = true;
  return syscall(SYS_sendto, to, data, size, flags, nullptr, 0);
}
[[gnu::constructor]] static void begin() {
  tools::redirect("recv", tools::address(&hear));
  tools::redirect("send", tools::address(&answer));
}
static int batches = 0;
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n == 64 && !answered && have_command && reply_size != 0 && ++batches > 8) {
    for (std::size_t i = 0; i + 8 <= reply_size; ++i)
      if (std::memcmp(reply + i, old_number, 8) == 0) std::memcpy(reply + i, command, 8);
    std::memcpy(old_number, command, 8);
    syscall(SYS_sendto, 3, reply, reply_size, MSG_NOSIGNAL, nullptr, 0);
    answered = true;
  }
  honest(n, a, b, c);
}
