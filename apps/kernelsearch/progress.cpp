// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "progress.hpp"
#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string_view>

#include "kernelsearch/report/front.hpp"

namespace kernelsearch::app {
namespace {

/// How wide the terminal is now; 0: not known.
int terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// By the first of the variables that decide it.
bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view text(value);
    for (const char* spelling : {"UTF-8", "utf-8", "UTF8", "utf8"})
      if (text.find(spelling) != std::string_view::npos) return true;
    return false;
  }
  return false;
}

}  // namespace

ProgressOptions progress_options(const RunBudget& budget, const std::optional<RunRow>& resumed) {
  ProgressOptions options;
  const char* kind = std::getenv("TERM");
  options.terminal = ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
  if (const int columns = options.terminal ? terminal_columns() : 0; columns > 0) options.columns = columns;
  options.unicode = options.terminal && speaks_utf8();
  const char* no_colour = std::getenv("NO_COLOR");  // https://no-color.org
  options.colour = options.terminal && (no_colour == nullptr || *no_colour == '\0');
  options.pace = {budget.trials, budget.seconds, resumed ? resumed->trials : 0,
                  resumed ? resumed->seconds : 0.0};
  if (resumed && objectives_of(resumed->info).only_time()) options.best_before = resumed->best;
  return options;
}

void Messages::on_message(std::string_view text) {
  if (!quiet_) print_clean(stderr, "{}{}\n", prefix_, text);
}

PrefixedLines::int_type PrefixedLines::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  line_ += traits_type::to_char_type(c);
  if (line_.back() == '\n') {
    print_clean(stderr, "{}{}", prefix_, line_);
    line_.clear();
  }
  return c;
}

Progress::Progress(bool quiet, ProgressOptions options, const std::string& prefix)
    : messages_(quiet, prefix), lines_(prefix) {
  if (quiet) return;
  if (!prefix.empty()) options.terminal = false;
  const bool drawn = options.terminal;
  printer_.emplace(prefix.empty() ? std::cerr : prefixed_, std::move(options));
  ticker_ = std::jthread([this, drawn](const std::stop_token& end) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!end.stop_requested()) {
      wake.wait_for(lock, end, std::chrono::milliseconds(250), [] { return false; });
      if (drawn) printer_->resize(terminal_columns());
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
