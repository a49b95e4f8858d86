// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "process/process.hpp"

namespace kernelsearch::detail {

bool wait_ready(std::span<pollfd> waiting, double seconds) {
  for (pollfd& one : waiting) one.revents = 0;
  const int milliseconds = seconds < 0 ? -1 : static_cast<int>(std::ceil(std::min(seconds, 3600.0) * 1000));
  return poll(waiting.data(), waiting.size(), milliseconds) > 0;
}

bool wait_ready(int descriptor, short events, double seconds) {
  pollfd one{descriptor, events, 0};
  return wait_ready({&one, 1}, seconds);
}

Sent write_all(int descriptor, std::string_view bytes, const std::function<bool(std::size_t left)>& wait) {
  while (!bytes.empty()) {
    const ssize_t written = write_quietly(descriptor, bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno == EAGAIN) {
      if (!wait(bytes.size())) return Sent::late;
    } else if (errno != EINTR) {
      return Sent::gone;
    }
  }
  return Sent::all;
}

}  // namespace kernelsearch::detail
