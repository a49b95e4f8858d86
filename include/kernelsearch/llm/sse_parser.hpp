// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace kernelsearch {

/// Server-sent events (WHATWG HTML, 9.2.6) from bytes as they arrive, cut anywhere. One pass, no allocation
/// once the buffers have grown.
class SseParser {
 public:
  /// An event may not be longer than `largest_event` bytes.
  explicit SseParser(std::size_t largest_event = std::size_t{16} << 20) : largest_(largest_event) {}

  /// Calls `on_event(type, data)` for each event that `bytes` completes, `type` is empty where none was
  /// given; the views hold during the call. It returns false to stop. False: stopped, or an event is too long
  /// (`too_long()`).
  template <class F>
  bool feed(std::string_view bytes, F&& on_event) {
    if (stopped_) return false;
    while (!bytes.empty()) {
      if (skip_line_feed_) {  // the second half of a CR LF
        skip_line_feed_ = false;
        if (bytes.front() == '\n') {
          bytes.remove_prefix(1);
          continue;
        }
      }
      const std::size_t end = line_end(bytes);
      if (end == std::string_view::npos) {
        if (!room_for(bytes.size())) return false;
        line_ += bytes;
        return true;
      }
      const std::string_view piece = bytes.substr(0, end);
      skip_line_feed_ = bytes[end] == '\r';
      bytes.remove_prefix(end + 1);
      if (!room_for(piece.size())) return false;
      if (line_.empty()) {
        take(piece);
      } else {
        line_ += piece;
        take(line_);
        line_.clear();
      }
      if (ready_ && !dispatch(on_event)) return false;
    }
    return true;
  }

  /// Whether something is left that no blank line has ended: the stream was cut.
  [[nodiscard]] bool unfinished() const noexcept { return !line_.empty() || has_data_; }
  [[nodiscard]] bool too_long() const noexcept { return too_long_; }
  /// The last `id` that was sent.
  [[nodiscard]] const std::string& last_id() const noexcept { return id_; }

 private:
  static std::size_t line_end(std::string_view bytes) noexcept {
    const auto* const feed = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
    const std::size_t until = feed ? static_cast<std::size_t>(feed - bytes.data()) : bytes.size();
    if (const auto* const cr = static_cast<const char*>(std::memchr(bytes.data(), '\r', until)))
      return static_cast<std::size_t>(cr - bytes.data());
    return feed ? until : std::string_view::npos;
  }

  bool room_for(std::size_t more) noexcept {
    if (line_.size() + data_.size() + more <= largest_) return true;
    stopped_ = too_long_ = true;
    return false;
  }

  void take(std::string_view line) {
    if (first_line_) {
      first_line_ = false;
      if (line.substr(0, 3) == "\xEF\xBB\xBF") line.remove_prefix(3);
    }
    if (line.empty()) {
      ready_ = true;
      return;
    }
    const std::size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
    if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    if (field == "data") {
      if (has_data_) data_ += '\n';
      data_ += value;
      has_data_ = true;
    } else if (field == "event") {
      type_ = value;
    } else if (field == "id" && value.find('\0') == std::string_view::npos) {
      id_ = value;
    }
  }

  template <class F>
  bool dispatch(F&& on_event) {
    ready_ = false;
    bool go_on = true;
    if (has_data_) go_on = on_event(std::string_view(type_), std::string_view(data_));
    type_.clear();
    data_.clear();
    has_data_ = false;
    stopped_ = !go_on;
    return go_on;
  }

  std::size_t largest_;
  std::string line_, type_, data_, id_;
  bool first_line_ = true, skip_line_feed_ = false, has_data_ = false, ready_ = false;
  bool stopped_ = false, too_long_ = false;
};

}  // namespace kernelsearch
