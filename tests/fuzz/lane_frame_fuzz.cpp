// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "remote/lane_frame.hpp"

/// Any bytes of a worker are frames or a fault with its three parts, the same however they are cut; a frame
/// that was read is written as the bytes that it was.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch::remote;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  FrameReader whole, pieces;
  whole.feed(bytes);
  std::size_t at = 0, done = 0;
  while (true) {
    auto frame = whole.next();
    // As much as it takes for the other one to come as far.
    auto same = pieces.next();
    while (same.ok() && !*same && at < size) {
      pieces.feed(bytes.substr(at, 1 + at % 7));
      at = at + 1 + at % 7 > size ? size : at + 1 + at % 7;
      same = pieces.next();
    }
    if (frame.ok() != same.ok()) std::abort();
    if (!frame.ok()) {
      if (frame.error().what.empty() || frame.error().todo.empty()) std::abort();
      return 0;
    }
    if (frame->has_value() != same->has_value()) std::abort();
    if (!*frame) return 0;
    const std::string again = frame_bytes((*frame)->header, (*frame)->payload);
    if (bytes.substr(done, again.size()) != again) std::abort();
    done += again.size();
  }
}
