// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/frame.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

#include "evaluator/gpu/protocol.hpp"
#include "process/process.hpp"
#include "process/stream.hpp"

namespace kernelsearch::detail::gpu {
namespace {

bool send_all(int socket, const void* data, std::size_t size) {
  return write_all(socket, {static_cast<const char*>(data), size}, [&](std::size_t) {
           wait_ready(socket, POLLOUT, -1);
           return true;
         }) == Sent::all;
}

bool receive_all(int socket, void* data, std::size_t size, double deadline, bool* timed_out) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    if (deadline >= 0) {
      const double left = deadline - monotonic_seconds();
      if (left <= 0) {
        if (timed_out != nullptr) *timed_out = true;
        return false;
      }
      if (!wait_ready(socket, POLLIN, left)) continue;
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
