// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/frame.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>

#include "evaluator/gpu/protocol.hpp"
#include "process/process.hpp"

namespace kernelsearch::detail::gpu {
namespace {

bool send_all(int socket, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size, double deadline, bool* timed_out) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    if (deadline >= 0) {
      const double left = deadline - monotonic_seconds();
      pollfd waiting{socket, POLLIN, 0};
      const int ready =
          left <= 0 ? 0 : poll(&waiting, 1, static_cast<int>(std::min(1e6, std::ceil(1e3 * left))));
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) {
        if (timed_out != nullptr) *timed_out = true;
        return false;
      }
    }
    const ssize_t got = recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

bool send_frame(int socket, const std::vector<std::byte>& bytes) {
  const std::uint64_t size = bytes.size();
  return send_all(socket, &size, sizeof size) && send_all(socket, bytes.data(), bytes.size());
}

bool receive_frame(int socket, std::vector<std::byte>& bytes, double seconds, bool* timed_out) {
  const double deadline = seconds < 0 ? -1 : monotonic_seconds() + seconds;
  std::uint64_t size = 0;
  if (!receive_all(socket, &size, sizeof size, deadline, timed_out) || size > longest_frame) return false;
  bytes.resize(static_cast<std::size_t>(size));
  return receive_all(socket, bytes.data(), bytes.size(), deadline, timed_out);
}

}  // namespace kernelsearch::detail::gpu
