// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/mcp/line_channel.hpp"

#include "process/stream.hpp"

namespace kernelsearch {

std::optional<Line> LineChannel::read() {
  bool cut = false;
  while (true) {
    std::optional<std::string> text = in_.line();
    if (text || !in_.open()) {
      if (!text && !cut && in_.text().empty()) return std::nullopt;
      if (!text) text = in_.take();
      cut = cut || text->size() > longest_;
      if (cut) text->clear();
      if (!text->empty() && text->back() == '\r') text->pop_back();
      return Line{*std::move(text), cut};
    }
    if (in_.text().size() > longest_) {  // nobody needs what is dropped anyway
      cut = true;
      (void)in_.take();
    }
    in_.read_within(-1);
  }
}

bool LineChannel::write(std::string_view text) {
  std::string line(text);
  line += '\n';
  const std::lock_guard lock(writing_);
  const auto wait = [&](std::size_t) {
    detail::wait_ready(out_, POLLOUT, -1);
    return true;
  };
  broken_ = broken_ || detail::write_all(out_, line, wait) != detail::Sent::all;
  return !broken_;
}

}  // namespace kernelsearch
