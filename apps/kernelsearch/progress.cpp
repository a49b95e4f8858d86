// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "progress.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string_view>

namespace kernelsearch::app {

ProgressOptions progress_options(const RunBudget& budget, const std::optional<RunRow>& resumed) {
  ProgressOptions options;
  const char* kind = std::getenv("TERM");
  options.terminal = ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
  winsize size{};
  if (options.terminal && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    options.columns = size.ws_col;
  options.trials = budget.trials;
  options.seconds = budget.seconds;
  if (resumed) {
    options.trials_before = resumed->trials;
    options.seconds_before = resumed->seconds;
  }
  return options;
}

void Messages::on_message(std::string_view text) {
  if (!quiet_) fmt::print(stderr, "{}\n", text);
}

Progress::Progress(bool quiet, ProgressOptions options) : messages_(quiet) {
  if (quiet) return;
  printer_.emplace(std::cerr, std::move(options));
  ticker_ = std::jthread([this](const std::stop_token& end) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!end.stop_requested()) {
      wake.wait_for(lock, end, std::chrono::milliseconds(250), [] { return false; });
      printer_->tick();
    }
  });
}

void Progress::close() {
  if (!printer_) return;
  ticker_.request_stop();
  ticker_.join();
  printer_.reset();
}

}  // namespace kernelsearch::app
