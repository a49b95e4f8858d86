// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/progress_printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/impl/utf8.hpp"
#include "kernelsearch/core/is_trial.hpp"
#include "kernelsearch/core/shown_verdict.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/report/summary.hpp"

namespace kernelsearch {
namespace {

constexpr const char* yellow = "\x1b[33m";
constexpr const char* green = "\x1b[1;32m";
constexpr const char* plain = "\x1b[0m";

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The first `columns` characters, never half of one.
std::string cut(const std::string& text, int columns) {
  int characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (!detail::continues_utf8(text[i]) && ++characters > columns) return text.substr(0, i);
  return text;
}

/// How the best fell from the first right trial until now, in at most this many characters. Empty where it
/// did not fall.
std::string sparkline(const std::vector<float>& curve, std::size_t width) {
  constexpr std::string_view levels[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
  const auto first = std::find_if(curve.begin(), curve.end(), [](float best) { return std::isfinite(best); });
  if (first == curve.end() || !(*first > curve.back()) || !(curve.back() > 0)) return {};
  const auto count = static_cast<std::size_t>(curve.end() - first);
  const std::size_t parts = std::min(width, count);
  const double low = std::log(curve.back()), span = std::log(*first) - low;
  std::string text;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t at = parts == 1 ? count - 1 : i * (count - 1) / (parts - 1);
    const double part = (std::log(static_cast<double>(first[static_cast<std::ptrdiff_t>(at)])) - low) / span;
    text += levels[std::clamp(static_cast<int>(std::lround(part * 7)), 0, 7)];
  }
  return text;
}

std::string best_text(const Outcome& outcome) {
  const Measurement& measured = outcome.evaluation.measurement;
  std::string text = format_seconds(measured.seconds);
  if (measured.speedup) text += ", " + format_speedup(*measured.speedup);
  constexpr std::string_view prefix = "objective.";  // of a run that goes by more than the time
  for (const auto& [name, value] : outcome.evaluation.features)
    if (name.starts_with(prefix) && name != "objective.time")
      text += fmt::format(", {} {:.4g}", name.substr(prefix.size()), value);
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
  return options_.clock() - begun_ - paused_;
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
  trials_ += is_trial(outcome.evaluation) ? 1 : 0;
  const float before = curve_.empty() ? std::numeric_limits<float>::infinity() : curve_.back();
  curve_.push_back(outcome.ok() ? std::min(before, static_cast<float>(outcome.objective)) : before);
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
  std::string line = fmt::format("trial {} failed: {}", number(outcome.id),
                                 shown_verdict(outcome.evaluation.verdict, outcome.evaluation.overrun));
  if (const std::string reason = short_reason(outcome.evaluation.reason); !reason.empty())
    line += ": " + reason;
  show_line(line, yellow);
}

void ProgressPrinter::show_line(const std::string& text, std::string_view colour) {
  const std::string line = clean_text(text);  // a kernel's own output may be in it: it moves no cursor
  if (!options_.terminal) {
    out_ << line << '\n' << std::flush;
    return;
  }
  const std::string shown = cut(line, options_.columns - 1);
  out_ << '\r' << (options_.colour ? std::string(colour) : "") << shown
       << (options_.colour && !colour.empty() ? plain : "") << "\x1b[K\n"
       << std::flush;
  line_open_ = false;
  shown_ = -std::numeric_limits<double>::infinity();  // the status is drawn again below it
}

void ProgressPrinter::message(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (options_.terminal && line_open_) out_ << "\r\x1b[K";
  out_ << clean_text(text) << '\n' << std::flush;  // whole: the terminal breaks it where it is too long
  if (!options_.terminal) return;
  line_open_ = false;
  show(true);
}

void ProgressPrinter::resize(int columns) {
  const std::lock_guard lock(mutex_);
  if (columns > 0) options_.columns = columns;
}

std::string ProgressPrinter::coloured(std::string line) const {
  if (!options_.colour) return line;
  const auto paint = [&line](const std::string& part, const char* colour) {
    const std::size_t at = part.empty() ? std::string::npos : line.find(part);
    if (at != std::string::npos)
      line = line.substr(0, at) + colour + part + plain + line.substr(at + part.size());
  };
  if (best_) paint("best " + best_text(*best_), green);
  if (doing_ == waited_for_) paint(doing_, yellow);
  return line;
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
                               std::optional<std::size_t> measuring, double paused) {
  const std::lock_guard lock(mutex_);
  paused_ = paused;
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
  const RunStanding now = standing_of(options_.pace, trials_, elapsed());
  std::string text;
  if (now.filled) text += format_bar(*now.filled, options_.columns >= 100 ? 20 : 10) + " ";
  text += options_.pace.trials ? fmt::format("{}/{} trials", now.trials, *options_.pace.trials)
                               : fmt::format("{} trials", now.trials);
  text += ", " + format_duration(now.seconds);
  if (now.left) text += ", " + format_duration(*now.left) + " left";
  text += best_                  ? ", best " + best_text(*best_)
          : options_.best_before ? ", best " + format_seconds(*options_.best_before) + " so far"
                                 : ", no right candidate yet";
  if (options_.unicode)
    if (const std::string fall = sparkline(curve_, options_.columns >= 100 ? 12 : 6); !fall.empty())
      text += " " + fall;
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
  out_ << '\r' << coloured(cut(status_line(), options_.columns - 1)) << "\x1b[K" << std::flush;
  line_open_ = true;
}

}  // namespace kernelsearch
