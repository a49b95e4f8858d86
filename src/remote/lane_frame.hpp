// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/core/result.hpp"

namespace kernelsearch::remote {

/// The version of frames and messages; a worker of another one is refused.
inline constexpr unsigned lane_protocol = 1;

/// A message between controller and worker: a JSON object, and bytes that it speaks of. On the wire: the
/// letters `ksl`, a byte with the protocol's version, the lengths of both as little-endian integers of 4 and
/// 8 bytes, then both, and a line feed: Slurm passes on what a task writes by whole lines.
struct LaneFrame {
  std::string header;
  std::string payload;
};

inline constexpr std::size_t frame_prefix = 16;
inline constexpr std::uint64_t longest_header = std::uint64_t{64} << 20;
inline constexpr std::uint64_t longest_payload = std::uint64_t{16} << 30;

/// The frame as bytes.
[[nodiscard]] std::string frame_bytes(std::string_view header, std::string_view payload);

/// Makes frames of bytes that come in pieces. What does not read is a Fault that shows its beginning, and all
/// that follows is refused, too: there is no way back into a stream.
class FrameReader {
 public:
  /// Adds bytes as they came.
  void feed(std::string_view bytes);
  /// The next whole frame; nothing while it is incomplete.
  [[nodiscard]] Result<std::optional<LaneFrame>> next();
  /// Bytes that are not yet part of a frame.
  [[nodiscard]] std::size_t pending() const noexcept { return bytes_.size() - at_; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  std::optional<Fault> broken_;
};

}  // namespace kernelsearch::remote
