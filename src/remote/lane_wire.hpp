// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "process/process.hpp"
#include "remote/lane_frame.hpp"

namespace kernelsearch::remote {

/// Writes frames to a descriptor, one at a time, from any thread.
class FrameWriter {
 public:
  explicit FrameWriter(detail::Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  /// False when the other end is gone or took nothing for `seconds`; so is every later one then.
  bool write(std::string_view header, std::string_view payload = {}, double seconds = 30);
  /// Closes the descriptor; a write that is under way is given up.
  void close();

 private:
  std::mutex mutex_;
  detail::Descriptor descriptor_;
  std::atomic<bool> broken_ = false;
};

}  // namespace kernelsearch::remote
