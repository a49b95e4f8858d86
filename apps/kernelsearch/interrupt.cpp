// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "commands.hpp"

namespace kernelsearch::app {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  watcher_ = std::jthread([this](const std::stop_token& end) {
    const sigset_t waited = stop_signals();
    const timespec poll{0, 100'000'000};  // to notice the end of the program
    while (!end.stop_requested()) {
      if (sigtimedwait(&waited, nullptr, &poll) < 0) continue;
      if (source_.stop_requested()) ::_exit(interrupted);
      std::fputs("\nkernelsearch: stopping; again to stop at once\n", stderr);
      source_.request_stop();
    }
  });
}

Interrupt::~Interrupt() {
  watcher_.request_stop();
  watcher_.join();
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace kernelsearch::app
