// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/mcp/line_channel.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace kernelsearch {

bool LineChannel::fill() {
  char block[1 << 16];
  while (true) {
    const ssize_t got = ::read(in_, block, sizeof block);
    if (got > 0) {
      buffer_.append(block, static_cast<std::size_t>(got));
      return true;
    }
    if (got == 0) return false;
    if (errno == EAGAIN) {
      pollfd ready{in_, POLLIN, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
}

std::optional<Line> LineChannel::read() {
  bool cut = false;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      Line line{{}, cut || end > longest_};
      if (!line.cut) line.text = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      searched_ = 0;
      if (!line.text.empty() && line.text.back() == '\r') line.text.pop_back();
      return line;
    }
    if (buffer_.size() > longest_) {  // nobody needs what is dropped anyway
      cut = true;
      buffer_.clear();
    }
    searched_ = buffer_.size();
    if (fill()) continue;
    if (buffer_.empty() && !cut) return std::nullopt;
    Line line{cut ? std::string() : buffer_, cut};
    buffer_.clear();
    searched_ = 0;
    return line;
  }
}

bool LineChannel::write(std::string_view text) {
  std::string line(text);
  line += '\n';
  const std::lock_guard lock(writing_);
  for (std::size_t done = 0; !broken_ && done < line.size();) {
    const ssize_t wrote = ::write(out_, line.data() + done, line.size() - done);
    if (wrote >= 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno == EAGAIN) {
      pollfd ready{out_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      broken_ = true;
    }
  }
  return !broken_;
}

}  // namespace kernelsearch
