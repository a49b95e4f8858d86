// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/progress_printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/report/summary.hpp"

namespace kernelsearch {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The first `columns` characters, never half of one.
std::string cut(const std::string& text, int columns) {
  int characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80 && ++characters > columns)
      return text.substr(0, i);
  return text;
}

std::string best_text(const Outcome& outcome) {
  const Measurement& measured = outcome.evaluation.measurement;
  std::string text = format_seconds(measured.seconds);
  if (measured.speedup) text += ", " + format_speedup(*measured.speedup);
  return text;
}

}  // namespace

ProgressPrinter::ProgressPrinter(std::ostream& out, ProgressOptions options)
    : out_(out), options_(std::move(options)) {
  if (!options_.clock) options_.clock = steady_seconds;
  begun_ = options_.clock();
  // The first line on a terminal comes at once, the first plain one when there is something to say.
  shown_ = options_.terminal ? -std::numeric_limits<double>::infinity() : begun_;
}

ProgressPrinter::~ProgressPrinter() {
  if (line_open_) out_ << '\n' << std::flush;
}

double ProgressPrinter::elapsed() const {
  return options_.clock() - begun_;
}

void ProgressPrinter::started() {
  const std::lock_guard lock(mutex_);
  ++in_flight_;
  show(false);
}

void ProgressPrinter::told(const Outcome& outcome, bool had_candidate) {
  const std::lock_guard lock(mutex_);
  // Trials that were handed in with their outcome never started.
  if (had_candidate && in_flight_ > 0) --in_flight_;
  trials_ += is_trial(outcome.evaluation.verdict) ? 1 : 0;
  ++verdicts_[static_cast<std::size_t>(outcome.evaluation.verdict)];
  verdict_of_[number(outcome.id)] = outcome.evaluation.verdict;
  show_failure(outcome);
  show(false);
}

void ProgressPrinter::show_failure(const Outcome& outcome) {
  constexpr std::size_t most = 10;  // a kernel that fails in many ways must not bury what succeeds
  if (outcome.ok()) return;
  if (!is_trial(outcome.evaluation.verdict))
    return show_line("does not apply: " + short_reason(outcome.evaluation.reason));
  const bool fresh = failures_.add(outcome.id, outcome.evaluation);
  if (!options_.each_failure && (!fresh || reasons_shown_ == most)) return;
  ++reasons_shown_;
  std::string line =
      fmt::format("trial {} failed: {}", number(outcome.id), to_string(outcome.evaluation.verdict));
  if (const std::string reason = short_reason(outcome.evaluation.reason); !reason.empty())
    line += ": " + reason;
  show_line(line);
}

void ProgressPrinter::show_line(const std::string& text) {
  const std::string line = clean_text(text);
  if (!options_.terminal) {
    out_ << line << '\n' << std::flush;
    return;
  }
  out_ << '\r' << cut(line, options_.columns - 1) << "\x1b[K\n" << std::flush;
  line_open_ = false;
  shown_ = -std::numeric_limits<double>::infinity();  // the status is drawn again below it
}

void ProgressPrinter::best(const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  best_ = outcome;
  if (!options_.terminal)
    out_ << fmt::format("trial {}: {}\n", number(outcome.id), best_text(outcome)) << std::flush;
  show(false);
}

void ProgressPrinter::revised(const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  const auto known = verdict_of_.find(number(outcome.id));
  if (known == verdict_of_.end()) return;
  --verdicts_[static_cast<std::size_t>(known->second)];
  ++verdicts_[static_cast<std::size_t>(outcome.evaluation.verdict)];
  known->second = outcome.evaluation.verdict;
  if (best_ && best_->id == outcome.id) {
    best_ = outcome;
    if (!outcome.ok()) best_.reset();  // the new best, if there is one, is told next
  }
  show(false);
}

void ProgressPrinter::on_end(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  show(true);
  if (line_open_) out_ << '\n';
  line_open_ = false;
  out_ << "ended: " << clean_text(reason) << '\n' << std::flush;
}

void ProgressPrinter::activity(std::string_view doing, std::string_view waiting,
                               std::optional<std::size_t> measuring) {
  const std::lock_guard lock(mutex_);
  measuring_ = measuring;
  doing_ = clean_text(doing);
  if (!waiting.empty() && waiting != waited_for_) {
    waited_for_ = waiting;
    if (!options_.terminal) out_ << clean_text(waiting) << '\n' << std::flush;
  }
  show(false);
}

void ProgressPrinter::tick() {
  const std::lock_guard lock(mutex_);
  show(false);
}

std::string ProgressPrinter::status() const {
  const std::lock_guard lock(mutex_);
  return status_line();
}

std::string ProgressPrinter::status_line() const {
  const std::uint64_t trials = options_.trials_before + trials_;
  const double here = elapsed();
  const double gone = options_.seconds_before + here;
  std::optional<double> filled, left;
  if (options_.trials && *options_.trials > 0) {
    filled = static_cast<double>(trials) / static_cast<double>(*options_.trials);
    // From the pace of this part alone: an earlier one may have run elsewhere.
    if (trials_ > 0)
      left = here / static_cast<double>(trials_) *
             static_cast<double>(*options_.trials - std::min(trials, *options_.trials));
  }
  if (options_.seconds && *options_.seconds > 0.0) {
    filled = std::max(filled.value_or(0.0), gone / *options_.seconds);
    const double until = std::max(0.0, *options_.seconds - gone);
    left = left ? std::min(*left, until) : until;
  }
  std::string text;
  if (filled) text += format_bar(*filled, options_.columns >= 100 ? 20 : 10) + " ";
  text += options_.trials ? fmt::format("{}/{} trials", trials, *options_.trials)
                          : fmt::format("{} trials", trials);
  text += ", " + format_duration(gone);
  if (left) text += ", " + format_duration(*left) + " left";
  text += best_ ? ", best " + best_text(*best_) : ", no right candidate yet";
  text += fmt::format(", {}/{} {} busy", std::min(measuring_.value_or(in_flight_), options_.devices),
                      options_.devices, options_.devices == 1 ? "device" : "devices");
  if (!doing_.empty()) text += ", " + doing_;
  if (trials_ > 0) text += ", " + format_verdicts(verdicts_);
  return text;
}

void ProgressPrinter::show(bool now) {
  const double time = options_.clock();
  if (!now && time - shown_ < (options_.terminal ? options_.redraw_seconds : options_.line_seconds)) return;
  shown_ = time;
  if (!options_.terminal) {
    out_ << status_line() << '\n' << std::flush;
    return;
  }
  // Back to the first column, the line, then erase what an earlier longer line left.
  out_ << '\r' << cut(status_line(), options_.columns - 1) << "\x1b[K" << std::flush;
  line_open_ = true;
}

}  // namespace kernelsearch
