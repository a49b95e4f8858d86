// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/process/inflow.hpp"

namespace kernelsearch {

/// A line that came in, without its newline.
struct Line {
  std::string text;
  bool cut = false;  ///< it was longer than allowed: `text` is empty and the rest was dropped
};

/// Lines over two descriptors, as protocols over standard input and output send them. One thread may read
/// while any number write. The descriptors stay the caller's.
class LineChannel {
 public:
  /// Lines of at most `longest` bytes are read.
  LineChannel(int in, int out, std::size_t longest = std::size_t{16} << 20)
      : in_(in), out_(out), longest_(longest) {}

  /// Waits for the next line; nothing at the end. A last line without a newline counts.
  [[nodiscard]] std::optional<Line> read();

  /// Writes the text and a newline, whole and apart from what other threads write; false once the other side
  /// has gone.
  bool write(std::string_view text);

 private:
  detail::Inflow in_;
  int out_;
  std::size_t longest_;
  std::mutex writing_;
  bool broken_ = false;
};

}  // namespace kernelsearch
