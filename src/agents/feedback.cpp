// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/feedback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "kernelsearch/agents/config_key.hpp"
#include "kernelsearch/agents/observed_text.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/space_text.hpp"
#include "kernelsearch/core/impl/utf8.hpp"
#include "kernelsearch/core/shown_verdict.hpp"
#include "line_diff.hpp"
#include "lines.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t most_quoted_code = 1 << 19;
constexpr std::size_t most_quoted_change = 8000;  // bytes
constexpr std::size_t most_quoted_plan = 3000;    // bytes; half of it cut plans that models wrote

bool is_error(std::string_view line) {
  constexpr std::array<std::string_view, 7> signs{
      "error:", "error :", "fatal error", "undefined reference", "ptxas fatal", "ptxas error", "): error"};
  return std::any_of(signs.begin(), signs.end(),
                     [&](std::string_view sign) { return line.find(sign) != std::string_view::npos; });
}

bool is_aside(std::string_view line) {
  return line.find("warning:") != std::string_view::npos || line.find("note:") != std::string_view::npos ||
         line.find("In file included from") != std::string_view::npos ||
         detail::trimmed(line).starts_with("from ");
}

/// `1.32 times as fast (95 %: 1.28 to 1.36)`, from the times in pairs; empty without any.
std::string against_parent(const Features& features) {
  const auto times = features.find("times_parent"), low = features.find("times_parent.low"),
             high = features.find("times_parent.high");
  if (!times || !(*times > 0)) return {};
  const bool known = low && high && *low > 0 && *high > 0;
  if (known && *low <= 1 && *high >= 1)
    return fmt::format("no difference (its time is {:.3g} to {:.3g} times the parent's, 95 %)", *low, *high);
  const bool faster = *times < 1;
  std::string text =
      fmt::format("{:.3g} times as {}", faster ? 1 / *times : *times, faster ? "fast" : "slow");
  if (known)
    text += fmt::format(" (95 %: {:.3g} to {:.3g})", faster ? 1 / *high : *low, faster ? 1 / *low : *high);
  return text;
}

std::string interval_text(const Interval& interval) {
  return interval.high > 0 ? fmt::format(" (95 %: {:.3g} to {:.3g})", interval.low, interval.high) : "";
}

/// How a module compares with what else it was timed in pairs with (docs/torch.md).
std::string modules_text(const Features& features) {
  std::string text;
  for (const auto& [name, what] : {std::pair("torch.over_compile", "torch.compile of the reference"),
                                   std::pair("torch.over_baseline", "the baseline")}) {
    const std::string key(name);
    const auto ratio = features.find(key), low = features.find(key + "_low"),
               high = features.find(key + "_high");
    if (!ratio) continue;
    text += fmt::format("against {}, in pairs: {:.3g} times as fast", what, *ratio);
    if (low && high) text += interval_text({*low, *high});
    text += '\n';
  }
  return text;
}

/// What is said of times that others disturbed, or that did not settle: a model must not read differences
/// into them.
std::string unsettled_text(const Features& features, double spread) {
  constexpr double much =
      0.05;  // a quiet machine stays below 2 %; the judge takes a larger load for a disturbance
  double load = 0;
  for (const char* name :
       {"load.core", "load.steal", "load.sibling", "load.device"})  // docs/measuring.md#load
    load = std::max(load, features.find(name).value_or(0));
  std::string text;
  if (load > much) {
    text += fmt::format("Other programs disturbed the measurement: they had the device {:.0f} % of the time.",
                        100 * load);
    text += " Small differences mean nothing.\n";
  }
  if (spread >= much)
    text += fmt::format("The times varied by {:.0f} %: differences smaller than that mean nothing.\n",
                        100 * spread);
  return text;
}

void append_measurement(std::string& text, const Evaluation& evaluation, const FeedbackOptions& options) {
  const Measurement& measurement = evaluation.measurement;
  if (!std::isfinite(measurement.seconds)) {
    text += "time: not measured yet\n";
    return;
  }
  text += fmt::format("time: {} (spread {:.1f} %)", time_text(measurement.seconds), 100 * measurement.spread);
  if (measurement.speedup)
    text += fmt::format(", {:.3g} times as fast as the reference{}", measurement.speedup->ratio,
                        interval_text(measurement.speedup->interval));
  text += '\n';
  if (const std::string against = against_parent(evaluation.features); !against.empty())
    text += "against the kernel that it was made from, in pairs: " + against + '\n';
  text += modules_text(evaluation.features);
  double widest = measurement.spread;
  if (!measurement.shapes.empty()) {
    text += "shapes:\n";
    std::size_t shown = 0;
    for (const ShapeMeasurement& shape : measurement.shapes) {
      widest = std::max(widest, shape.spread);
      if (shown++ == options.shapes) {
        text += fmt::format("- and {} more\n", measurement.shapes.size() - options.shapes);
        break;
      }
      text += fmt::format("- {}: {} (spread {:.1f} %)", clean_text(shape.shape), time_text(shape.median),
                          100 * shape.spread);
      if (shape.speedup)
        text += fmt::format(", {:.3g} times as fast as the reference{}", shape.speedup->ratio,
                            interval_text(shape.speedup->interval));
      text += '\n';
    }
  }
  text += unsettled_text(evaluation.features, widest);
}

/// As much of the beginning as fits: whole sentences, else whole words.
std::string first_words(const std::string& text, std::size_t longest) {
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  for (std::size_t at = longest; at > longest / 2; --at)
    if (text[at] == ' ' && text[at - 1] == '.') return text.substr(0, at) + " ...";
  if (const std::size_t word = text.rfind(' ', longest); word != std::string::npos && word > longest / 2)
    end = word;
  return text.substr(0, detail::utf8_cut(text, end)) + " ...";
}

/// The first line of a failure that says what is wrong: of compilers an error, not the function around it.
std::string failure_line(const Evaluation& evaluation) {
  constexpr std::size_t longest = 240;
  const std::string text =
      evaluation.verdict == Verdict::build_failed ? compiler_errors(evaluation.reason, 1) : evaluation.reason;
  for (const std::string_view line : detail::lines_of(text))
    if (const auto plain = detail::trimmed(line); !plain.empty()) {
      return first_words(clean_text(plain), longest);
    }
  return {};
}

/// The first words of what a generator went by, on one line.
std::string rationale_line(const std::string& rationale) {
  constexpr std::size_t longest = 160;
  std::string line;
  for (const std::string_view part : detail::lines_of(rationale))
    if (const auto plain = detail::trimmed(part); !plain.empty()) (line += line.empty() ? "" : " ") += plain;
  return first_words(clean_text(line), longest);
}

/// How a kernel came about, in a few words.
std::string how_text(const Outcome& outcome, const FeedbackOptions& options) {
  const std::optional<Move>& move = outcome.move;
  if (!move) return {};
  const std::string what = clean_text(detail::joined(move->strategies, ", "));
  switch (move->kind) {
    case MoveKind::root:
      return "the problem's own";
    case MoveKind::debug:
      return "repair";
    case MoveKind::ablate:
      return "without " + what;
    case MoveKind::recombine:
      return "two kernels joined";
    case MoveKind::submitted:
      return what.empty() ? "submitted" : what;
    default:
      if (!what.empty()) return what;
      return outcome.rationale.empty() || !options.plans ? "a change of the model's choice"
                                                         : "planned: " + rationale_line(outcome.rationale);
  }
}

/// What a step changed, from times in pairs where there are any.
std::string effect_text(const Outcome& child, const Outcome& parent) {
  if (child.evaluation.verdict == Verdict::not_applicable)
    return "was judged not to apply: " + clean_text(child.evaluation.reason);
  if (!child.ok()) return came_of(child);
  if (const std::string paired = against_parent(child.evaluation.features); !paired.empty())
    return paired + ", in pairs";
  const double before = parent.evaluation.measurement.seconds, now = child.evaluation.measurement.seconds;
  if (!parent.ok() || !std::isfinite(before) || !std::isfinite(now) || !(now > 0)) return "right";
  const double noise =
      2 * (child.evaluation.measurement.spread + parent.evaluation.measurement.spread);  // each a deviation
  if (std::abs(now / before - 1) <= std::max(noise, 0.02))
    return "no difference that times measured apart can show";
  return fmt::format("{:.3g} times as {}, measured apart", std::max(before / now, now / before),
                     before >= now ? "fast" : "slow");
}

/// A tunable's value as it is in a declaration: texts in quotation marks, so that an empty one is seen.
std::string clean_value(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return '"' + clean_text(*text) + '"';
  return clean_text(to_string(value));
}

}  // namespace

std::string change_text(const Candidate& child, const Candidate& parent, std::string_view language) {
  std::string text;
  for (const KernelRegion region : regions_in_code) {
    const std::string& code = text_of(child.kernel->regions, region);
    const std::string& before = text_of(parent.kernel->regions, region);
    if (code == before) continue;
    const std::string diff = detail::line_diff(before, code);
    const std::string name(to_string(region));
    text += diff.size() < code.size() ? quoted(diff, "diff of the region " + name, most_quoted_change)
                                      : quoted(code, std::string(language) + ' ' + name, most_quoted_change);
    text += '\n';
  }
  return text;
}

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", 1e3 * seconds);
  if (seconds >= 1e-6) return fmt::format("{:.4g} us", 1e6 * seconds);
  return fmt::format("{:.4g} ns", 1e9 * seconds);
}

std::string progress_text(Verdict verdict, double progress) {
  // It ran, which says nothing of how near it is.
  if (verdict == Verdict::wrong_result && !(progress > graded_progress(verdict)))
    return "no output is known to be right";
  if (!(progress > 0)) return {};
  return fmt::format("{:.0f} % of the way to a right result", 100 * progress);
}

std::string came_of(const Outcome& outcome) {
  const Evaluation& evaluation = outcome.evaluation;
  if (outcome.ok())
    return std::isfinite(evaluation.measurement.seconds) ? time_text(evaluation.measurement.seconds)
                                                         : "not measured yet";
  std::string text(shown_verdict(evaluation.verdict, evaluation.overrun));
  if (const std::string how_far = progress_text(evaluation.verdict, evaluation.progress); !how_far.empty())
    text += ", " + how_far;
  if (const std::string line = failure_line(evaluation); !line.empty()) text += ": " + line;
  return text;
}

std::string compiler_errors(std::string_view output, std::size_t most_errors) {
  std::string text;
  std::size_t errors = 0, following = 0, left_out = 0;
  for (const std::string_view line : detail::lines_of(output)) {
    if (is_error(line)) {
      following = 0;
      if (errors == most_errors) {
        ++left_out;
        continue;
      }
      ++errors;
      following = 3;
    } else if (is_aside(line)) {
      following = 0;
    }
    if (following == 0) continue;
    --following;
    text += line;
    text += '\n';
  }
  if (errors == 0) {
    for (const std::string_view line : detail::lines_of(output)) {
      if (errors++ == 3 * most_errors) break;
      (text += line) += '\n';
    }
  } else if (left_out > 0) {
    text += fmt::format("and {} more errors\n", left_out);
  }
  return text;
}

std::string feedback_text(const Outcome& outcome, const FeedbackOptions& options, const Space* space) {
  const Evaluation& evaluation = outcome.evaluation;
  std::string text = "verdict: " + std::string(shown_verdict(evaluation.verdict, evaluation.overrun));
  if (!outcome.ok())
    if (const std::string how_far = progress_text(evaluation.verdict, evaluation.progress); !how_far.empty())
      text += (evaluation.verdict == Verdict::wrong_result && how_far.front() == 'n' ? " (" : " (came ") +
              how_far + ')';
  text += '\n';
  if (outcome.ok()) append_measurement(text, evaluation, options);
  if (!evaluation.tuned_key.empty()) {
    const auto best = space != nullptr ? config_of_key(*space, evaluation.tuned_key) : std::nullopt;
    text += "best configuration of its tunables: " +
            clean_text(best ? config_text(*space, *best) : evaluation.tuned_key) + '\n';
  }
  if (!evaluation.reason.empty()) {
    const bool compiler = evaluation.verdict == Verdict::build_failed;
    text += compiler ? "errors:\n" : "reason:\n";
    text += quoted(compiler ? compiler_errors(evaluation.reason, options.error_lines) : evaluation.reason,
                   "text", options.reason_bytes) +
            '\n';
  }
  if (const std::string seen = observed_text(evaluation.features, options.features); !seen.empty())
    text += "observed:\n" + seen;
  return text;
}

std::string plan_text(const Outcome& outcome, const FeedbackOptions& options) {
  if (!options.plans || outcome.rationale.empty()) return {};
  return "what it set out to do:\n" + quoted(outcome.rationale, "text", most_quoted_plan) + '\n';
}

std::string analysis_of(const History<Candidate>& history, TrialId id) {
  const std::vector<TrialId> children = history.children(id);
  for (auto child = children.rbegin(); child != children.rend(); ++child)
    if (std::string rationale = history.find(*child).outcome.rationale; !rationale.empty()) return rationale;
  return {};
}

std::string lineage_text(const History<Candidate>& history, TrialId id, const FeedbackOptions& options) {
  std::vector<Outcome> chain;
  std::set<TrialId> seen;
  for (TrialId at = id; history.contains(at) && seen.insert(at).second;) {
    chain.push_back(history.find(at).outcome);
    if (chain.back().parents.empty()) break;
    at = chain.back().parents.front();
  }
  if (chain.size() < 2) return {};
  const std::size_t shown = std::min(chain.size(), std::max<std::size_t>(options.lineage, 2));
  std::string text;
  if (shown < chain.size()) text += fmt::format("- {} older kernels left out\n", chain.size() - shown);
  for (std::size_t i = shown; i-- > 0;) {
    text += fmt::format("- kernel {}", number(chain[i].id));
    if (const std::string how = how_text(chain[i], options); !how.empty()) text += " (" + how + ')';
    text += ": " + came_of(chain[i]);
    if (chain[i].ok() && i + 1 < chain.size()) {
      const auto right = std::find_if(chain.begin() + static_cast<std::ptrdiff_t>(i) + 1, chain.end(),
                                      [](const Outcome& one) { return one.ok(); });
      if (right == chain.begin() + static_cast<std::ptrdiff_t>(i) + 1)
        text += "; against the one before " + effect_text(chain[i], *right);
      else if (right != chain.end())  // a repair: no pair was timed with what failed
        text += fmt::format("; against kernel {}, the last right one before it, {}", number(right->id),
                            effect_text(chain[i], *right));
    }
    text += '\n';
  }
  return text;
}

TriedText tried_text(const History<Candidate>& history, TrialId id, std::string_view language,
                     const std::set<TrialId>& shown_elsewhere, const FeedbackOptions& options) {
  TriedText tried;
  const Trial<Candidate> parent = history.find(id);
  std::vector<TrialId> children = history.children(id);
  std::reverse(children.begin(), children.end());  // the newest first: it is worth most
  std::vector<Trial<Candidate>> failed;
  for (const TrialId child : children) {
    Trial<Candidate> trial = history.find(child);
    if (trial.outcome.evaluation.is_unanswered()) continue;  // an outage is not an attempt
    const std::string how = how_text(trial.outcome, options);
    std::string line = fmt::format("- {} (kernel {}): {}", how.empty() ? "a change" : how, number(child),
                                   effect_text(trial.outcome, parent.outcome));
    if (trial.outcome.ok()) line += " (" + came_of(trial.outcome) + ')';
    tried.lines.push_back(line + '\n');
    if (!trial.outcome.ok() && is_trial(trial.outcome.evaluation.verdict) && !shown_elsewhere.contains(child))
      failed.push_back(std::move(trial));
  }
  // The nearest to a right result first, of equals the newest.
  std::stable_sort(failed.begin(), failed.end(), [](const auto& a, const auto& b) {
    return a.outcome.evaluation.progress > b.outcome.evaluation.progress;
  });
  for (const Trial<Candidate>& trial : failed) {
    const std::string how = how_text(trial.outcome, options);
    std::string text = fmt::format("## Kernel {}, made from this one by {}: it failed\n\n",
                                   number(trial.outcome.id), how.empty() ? "a change" : how);
    text +=
        feedback_text(trial.outcome, options, trial.candidate ? &trial.candidate->kernel->space : nullptr) +
        plan_text(trial.outcome, options);
    if (trial.candidate && parent.candidate)
      if (const std::string change = change_text(*trial.candidate, *parent.candidate, language);
          !change.empty())
        text += "\nWhat it changed:\n\n" + change;
    tried.failures.push_back(std::move(text));
  }
  return tried;
}

std::string kernel_text(const Candidate& candidate, std::string_view language, bool external) {
  const Regions& regions = candidate.kernel->regions;
  std::string text;
  for (const KernelRegion region : regions_in_code)
    if (const std::string& code = text_of(regions, region); !code.empty()) {
      const std::string name(to_string(region));
      text += "Region " + name + ":\n\n" +
              quoted(code, std::string(language) + ' ' + name, most_quoted_code) + "\n\n";
    }
  return text + tunables_text(candidate, external);
}

std::string tunables_text(const Candidate& candidate, bool external) {
  const Space& space = candidate.kernel->space;
  std::string text;
  if (space.size() > 0) {
    text += external
                ? "Tunables, which the program is given by name, with the value that this kernel has:\n"
                : "Tunables (macros that are defined for the code), with the value that this kernel has:\n";
    for (std::size_t i = 0; i < space.size(); ++i) {
      const Tunable& tunable = space.tunable(i);
      std::string values;
      for (std::size_t v = 0; v < tunable.values.size() && v < 16; ++v)
        (values += v == 0 ? "" : ", ") += clean_value(tunable.values[v]);
      if (tunable.values.size() > 16) values += fmt::format(", ... ({} values)", tunable.values.size());
      text += fmt::format("- {} = {} of {} ({})", clean_text(tunable.name),
                          clean_value(space.value(candidate.config, i)), values, to_string(tunable.kind));
      if (tunable.active_if) text += "; has an effect only if " + clean_text(tunable.active_if->text());
      text += '\n';
    }
    const auto constraints = space.constraints();
    if (!constraints.empty()) text += "Constraints, all of which hold:\n";
    for (const Constraint& constraint : constraints) text += "- " + clean_text(constraint.text()) + '\n';
  }
  return text;
}

}  // namespace kernelsearch
