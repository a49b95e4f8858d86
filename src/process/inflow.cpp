// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/process/inflow.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "process/stream.hpp"

namespace kernelsearch::detail {

bool Inflow::read() {
  if (!open()) return false;
  thread_local std::vector<char> buffer(std::size_t{1} << 18);
  const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) descriptor_ = -1;
  if (got <= 0) return false;
  const auto bytes = static_cast<std::size_t>(got);
  text_.append(buffer.data(), keeps_ == Keeps::last ? bytes : std::min(bytes, room_ - text_.size()));
  if (text_.size() > room_) {
    text_.erase(0, text_.size() - room_);
    searched_ = 0;
  }
  return true;
}

bool Inflow::read_within(double seconds) {
  return open() && wait_ready(descriptor_, POLLIN, seconds) && read();
}

std::string Inflow::take() {
  searched_ = 0;
  return std::exchange(text_, {});
}

std::optional<std::string> Inflow::line() {
  const std::size_t end = text_.find('\n', searched_);
  searched_ = end == std::string::npos ? text_.size() : 0;
  if (end == std::string::npos) return std::nullopt;
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

}  // namespace kernelsearch::detail
