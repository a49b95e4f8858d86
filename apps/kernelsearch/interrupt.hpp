// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace kernelsearch::app {

/// While it lives, Ctrl-C and SIGTERM ask for a stop instead of ending the program; a second one ends it at
/// once. Made before any other thread, because threads inherit the signal mask that it sets.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  [[nodiscard]] bool requested() const { return source_.stop_requested(); }

 private:
  std::stop_source source_;
  std::jthread watcher_;
};

}  // namespace kernelsearch::app
