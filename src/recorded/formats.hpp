// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

#include "raw_recording.hpp"

namespace kernelsearch::recorded {

/// A kind of file that is known: read by `read`, or refused with what it is and what to do.
struct Format {
  std::string_view name;
  RawRecording (*read)(std::string_view text, const std::string& source,
                       const ReadRecordingOptions& options) = nullptr;
  std::string_view refused = {};  ///< what it is, where it is not read
  std::string_view advice = {};
  bool store = false;  ///< our store, which is opened and not read as text
};

/// What the content is; ConfigError that names it where it is not a recording.
[[nodiscard]] const Format& format_of(std::string_view text, const std::string& source);

/// Without a byte order mark, as Windows' editors put before UTF-8.
[[nodiscard]] std::string_view without_mark(std::string_view text) noexcept;

}  // namespace kernelsearch::recorded
