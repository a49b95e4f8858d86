// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/feedback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/reply_code.hpp"
#include "lines.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t most_quoted_code = 1 << 19;

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

void append_measurement(std::string& text, const Measurement& measurement, const FeedbackOptions& options) {
  text += fmt::format("time: {} (spread {:.1f} %)", time_text(measurement.seconds), 100 * measurement.spread);
  if (measurement.speedup) {
    text += fmt::format(", {:.3g} times as fast as the reference", measurement.speedup->ratio);
    if (measurement.speedup->interval.high > 0)
      text += fmt::format(" (95 %: {:.3g} to {:.3g})", measurement.speedup->interval.low,
                          measurement.speedup->interval.high);
  }
  text += '\n';
  if (measurement.shapes.empty()) return;
  text += "shapes:\n";
  std::size_t shown = 0;
  for (const ShapeMeasurement& shape : measurement.shapes) {
    if (shown++ == options.shapes) {
      text += fmt::format("- and {} more\n", measurement.shapes.size() - options.shapes);
      break;
    }
    text += fmt::format("- {}: {} (spread {:.1f} %)", clean_text(shape.shape), time_text(shape.median),
                        100 * shape.spread);
    if (shape.speedup) text += fmt::format(", {:.3g} times as fast as the reference", shape.speedup->ratio);
    text += '\n';
  }
}

std::string listed(const std::vector<Expression>& extents) {
  return detail::joined(extents, " x ", [](const Expression& extent) { return extent.text(); });
}

std::string short_outcome(const Outcome& outcome) {
  if (outcome.ok()) return time_text(outcome.evaluation.measurement.seconds);
  std::string reason = clean_text(outcome.evaluation.reason);
  reason.resize(std::min({reason.size(), reason.find('\n'), std::size_t{120}}));
  return std::string(to_string(outcome.evaluation.verdict)) +
         (reason.empty() ? "" : ": " + clean_text(reason));
}

}  // namespace

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", 1e3 * seconds);
  if (seconds >= 1e-6) return fmt::format("{:.4g} us", 1e6 * seconds);
  return fmt::format("{:.4g} ns", 1e9 * seconds);
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

std::string feedback_text(const Outcome& outcome, const FeedbackOptions& options) {
  const Evaluation& evaluation = outcome.evaluation;
  std::string text = "verdict: " + std::string(to_string(evaluation.verdict));
  if (!outcome.ok())
    text += fmt::format(" (came {:.0f} % of the way to a right result)", 100 * evaluation.progress);
  text += '\n';
  if (outcome.ok()) append_measurement(text, evaluation.measurement, options);
  if (!evaluation.tuned_key.empty())
    text += "best configuration of its tunables: " + clean_text(evaluation.tuned_key) + '\n';
  if (!evaluation.reason.empty()) {
    const bool compiler = evaluation.verdict == Verdict::build_failed;
    text += compiler ? "errors:\n" : "reason:\n";
    text += quoted(compiler ? compiler_errors(evaluation.reason, options.error_lines) : evaluation.reason,
                   "text", options.reason_bytes) +
            '\n';
  }
  if (!evaluation.features.empty()) {
    text += "observed:";
    std::size_t shown = 0;
    for (const auto& [name, value] : evaluation.features) {
      if (shown++ == options.features) {
        text += fmt::format(" and {} more", evaluation.features.size() - options.features);
        break;
      }
      text += fmt::format(" {}={:.4g}", clean_text(name), value);
    }
    text += '\n';
  }
  return text;
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
  if (shown < chain.size()) text += fmt::format("- {} older kernels\n", chain.size() - shown);
  for (std::size_t i = shown; i-- > 0;) {
    text += fmt::format("- kernel {}: {}", number(chain[i].id), short_outcome(chain[i]));
    if (i + 1 < chain.size() && chain[i].ok() && chain[i + 1].ok() && chain[i].objective > 0)
      text += fmt::format(" ({:.3g} times as fast as the one before)",
                          chain[i + 1].objective / chain[i].objective);
    text += '\n';
  }
  return text;
}

std::string problem_text(const Problem& problem) {
  std::string text = "## Problem: " + clean_text(problem.name) + "\n\n";
  if (!problem.description.empty()) text += clean_text(problem.description) + "\n\n";
  text += fmt::format("Backend: {}. ", to_string(problem.backend));
  if (!problem.function.empty()) text += "Function: `" + clean_text(problem.function) + "`. ";
  if (problem.backend == Backend::host) text += fmt::format("Threads that it may use: {}.", problem.threads);
  text += "\n\nArguments, in order:\n";
  for (const Argument& argument : problem.arguments) {
    constexpr std::array<std::string_view, 4> roles{"input", "output", "input and output", "workspace"};
    text += "- " + clean_text(argument.name) + ": ";
    if (argument.tensor_map)
      text += "tensor map of " + clean_text(argument.tensor_map->array);
    else if (argument.is_array)
      text += fmt::format("array of {}, {}, {} elements", argument.type_text(),
                          roles[static_cast<std::size_t>(argument.role)],
                          argument.size ? clean_text(argument.size->text()) : std::string("?"));
    else
      text += fmt::format("{}", argument.type_text());
    if (argument.is_output()) {
      const Tolerance tolerance = problem.tolerance_of(argument);
      text += fmt::format("; may differ by {:g} + {:g} |expected|", tolerance.absolute, tolerance.relative);
    }
    if (!argument.symbol.empty()) text += "; the __constant__ variable " + clean_text(argument.symbol);
    text += '\n';
  }
  text += "\nShapes (those of weight 0 are checked, not timed):\n";
  for (const Shape& shape : problem.shapes) {
    text += "- " + clean_text(shape.name) + ":";
    for (const auto& [name, value] : shape.variables)
      text += ' ' + clean_text(name) + '=' + clean_text(to_string(value));
    text += fmt::format(", weight {:g}\n", shape.weight);
  }
  if (!problem.launch.empty()) {
    text += "\nLaunch:\n";
    for (const LaunchStep& step : problem.launch) {
      if (step.function.empty()) {
        text += "- bytes of " + clean_text(step.zero) + " are set to 0\n";
        continue;
      }
      text += "- `" + clean_text(step.function) + "`, grid " + clean_text(listed(step.geometry.grid)) +
              ", block " + clean_text(listed(step.geometry.block));
      if (step.geometry.shared_bytes)
        text += ", shared bytes " + clean_text(step.geometry.shared_bytes->text());
      text += '\n';
    }
    text += "The launch stays as it is; its expressions may use the tunables.\n";
  }
  text += "\nCompiled with: " + clean_text(problem.build.compiler);
  for (const std::string& flag : problem.build.flags) text += ' ' + clean_text(flag);
  return text + '\n';
}

std::string kernel_text(const Candidate& candidate, std::string_view language) {
  const Regions& regions = candidate.kernel->regions;
  std::string text;
  for (const KernelRegion region : regions_in_code)
    if (const std::string& code = text_of(regions, region); !code.empty()) {
      const std::string name(to_string(region));
      text += "Region " + name + ":\n\n" +
              quoted(code, std::string(language) + ' ' + name, most_quoted_code) + "\n\n";
    }
  const Space& space = candidate.kernel->space;
  if (space.size() > 0) {
    text += "Tunables (macros that are defined for it), with the value that it was measured with:\n";
    for (std::size_t i = 0; i < space.size(); ++i) {
      const Tunable& tunable = space.tunable(i);
      std::string values;
      for (std::size_t v = 0; v < tunable.values.size() && v < 16; ++v)
        (values += v == 0 ? "" : ", ") += to_string(tunable.values[v]);
      if (tunable.values.size() > 16) values += ", ...";
      text += fmt::format("- {} = {} of {}\n", clean_text(tunable.name),
                          clean_text(to_string(space.value(candidate.config, i))), clean_text(values));
    }
  }
  return text;
}

}  // namespace kernelsearch
