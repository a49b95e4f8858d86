// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <poll.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

namespace kernelsearch::detail {

/// Waits for at most that many seconds, negative: for ever, until poll has something to say of one of them.
/// False where that has not come: time is up, or a signal came.
bool wait_ready(std::span<pollfd> waiting, double seconds);
/// The same of one descriptor and POLLIN or POLLOUT.
bool wait_ready(int descriptor, short events, double seconds);

/// How the writing of something ended.
enum class Sent {
  all,   ///< it is written
  late,  ///< it was given up
  gone,  ///< nobody reads any more
};

/// Writes all of it, without a signal where nobody reads any more (see write_quietly). Where a descriptor
/// that does not block takes nothing, `wait` is called with the number of bytes left, until it says false.
Sent write_all(int descriptor, std::string_view bytes, const std::function<bool(std::size_t left)>& wait);

}  // namespace kernelsearch::detail
