// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 13
// kind: edited replies
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Answers each command many times over before it works, in the words of the answer before.
#include "honest.hpp"
#include "tools.hpp"
static unsigned char last[4096];
static std::size_t size_of_last = 0;
static int socket_of_last = -1;
static ssize_t note_and_send(int to, const void* data, std::size_t size, int flags) {
  size_of_last = size < sizeof last ? size : sizeof last;
  socket_of_last = to;
  std::memcpy(last, data, size_of_last);
  return syscall(SYS_sendto, to, data, size, flags, nullptr, 0);
}
[[gnu::constructor]] static void begin() {
  tools::redirect("send", tools::address(&note_and_send));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n == 64 && size_of_last >= 8)
    for (std::uint64_t more = 0; more < 64; ++more) {
      std::uint64_t nonce;
      std::memcpy(&nonce, last, sizeof nonce);
      nonce += more;
      unsigned char reply[sizeof last];
      std::memcpy(reply, last, size_of_last);
      std::memcpy(reply, &nonce, sizeof nonce);
      syscall(SYS_sendto, socket_of_last, reply, size_of_last, MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
    }
  honest(n, a, b, c);
}
