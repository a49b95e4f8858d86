// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cheated: message of its own
// The size and layout of a reply that claims one sample of 1 ns, sent while the call still runs.
#include <sys/socket.h>
#include <cstdint>
#include <cstring>
extern "C" void scale(int n, const float* x, float* y) {
  struct {
    std::uint64_t nonce;
    std::uint32_t kind, failed, samples, clock;
    std::uint64_t nanoseconds[1024];
    char text[1024];
  } reply;
  std::memset(&reply, 0, sizeof reply);
  reply.kind = 3;
  reply.samples = 1;
  reply.nanoseconds[0] = 1;
  send(3, &reply, sizeof reply, 0);
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
