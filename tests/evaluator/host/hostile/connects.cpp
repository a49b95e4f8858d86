// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cheated: system call
#include <arpa/inet.h>
#include <sys/socket.h>
extern "C" void scale(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(80);
  connect(socket(AF_INET, SOCK_STREAM, 0), reinterpret_cast<sockaddr*>(&address), sizeof address);
}
