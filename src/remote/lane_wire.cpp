// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "remote/lane_wire.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace kernelsearch::remote {
namespace {

int milliseconds(double seconds) {
  return static_cast<int>(std::clamp(seconds, 0.0, 3600.0) * 1000) + 1;
}

}  // namespace

bool FrameWriter::write(std::string_view header, std::string_view payload, double seconds) {
  const std::string bytes = frame_bytes(header, payload);
  const std::lock_guard lock(mutex_);
  double taken = detail::monotonic_seconds();
  for (std::size_t done = 0; done < bytes.size() && !broken_;) {
    const ssize_t written =
        detail::write_quietly(descriptor_.number(), bytes.data() + done, bytes.size() - done);
    if (written > 0) {
      done += static_cast<std::size_t>(written);
      taken = detail::monotonic_seconds();
    } else if (errno == EAGAIN) {
      pollfd waiting{descriptor_.number(), POLLOUT, 0};
      const double left = taken + seconds - detail::monotonic_seconds();
      // In slices, to notice that it is given up.
      if (left <= 0 || (poll(&waiting, 1, milliseconds(std::min(left, 0.1))) < 0 && errno != EINTR))
        broken_ = true;
    } else if (errno != EINTR) {
      broken_ = true;
    }
  }
  return !broken_;
}

void FrameWriter::close() {
  broken_ = true;
  const std::lock_guard lock(mutex_);
  descriptor_.reset();
}

ReadEnd read_some(int descriptor, FrameReader& reader, double seconds) {
  pollfd waiting{descriptor, POLLIN, 0};
  const int ready = poll(&waiting, 1, milliseconds(seconds));
  if (ready == 0 || (ready < 0 && errno == EINTR)) return ReadEnd::nothing;
  thread_local std::vector<char> buffer(std::size_t{1} << 18);
  const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return ReadEnd::nothing;
  if (got <= 0) return ReadEnd::closed;
  reader.feed({buffer.data(), static_cast<std::size_t>(got)});
  return ReadEnd::bytes;
}

}  // namespace kernelsearch::remote
