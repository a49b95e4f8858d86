// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "remote/lane_wire.hpp"

#include <algorithm>

#include "process/stream.hpp"

namespace kernelsearch::remote {

bool FrameWriter::write(std::string_view header, std::string_view payload, double seconds) {
  const std::string bytes = frame_bytes(header, payload);
  const std::lock_guard lock(mutex_);
  double taken = detail::monotonic_seconds();
  std::size_t left = bytes.size();
  const auto wait = [&](std::size_t now_left) {
    if (std::exchange(left, now_left) != now_left) taken = detail::monotonic_seconds();
    const double rest = taken + seconds - detail::monotonic_seconds();
    // In slices, to notice that it is given up.
    if (!broken_ && rest > 0) detail::wait_ready(descriptor_.number(), POLLOUT, std::min(rest, 0.1));
    return !broken_ && rest > 0;
  };
  if (!broken_ && detail::write_all(descriptor_.number(), bytes, wait) != detail::Sent::all) broken_ = true;
  return !broken_;
}

void FrameWriter::close() {
  broken_ = true;
  const std::lock_guard lock(mutex_);
  descriptor_.reset();
}

}  // namespace kernelsearch::remote
