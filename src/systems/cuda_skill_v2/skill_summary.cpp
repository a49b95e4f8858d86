// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <cmath>

#include "kernelsearch/agents/skill_texts.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/report/roofline_svg.hpp"
#include "skill_files.hpp"

namespace kernelsearch::detail {
namespace {

std::string gap_text(const std::optional<double>& gap) {
  return gap ? fmt::format("{:.2f}", *gap) : "unknown";
}

std::string effect_text(const Attribution& effect) {
  if (!effect.known) return "unknown";
  if (effect.essential) return "essential";
  return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f}{})", 100 * effect.effect, 100 * effect.interval.low,
                     100 * effect.interval.high, effect.paired ? "" : ", not paired");
}

/// Cells may hold words of compilers and people.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|\n\r", at)) != std::string::npos; ++at)
    text[at] = text[at] == '|' ? '/' : ' ';
  return text;
}

std::string time_text_of(double seconds) {
  return std::isfinite(seconds) ? format_seconds(seconds) : "-";
}

std::string ratio_text(double over, double under) {
  return std::isfinite(over) && under > 0 && std::isfinite(under) ? fmt::format("{:.2f} times", over / under)
                                                                  : "-";
}

}  // namespace

std::string SkillRecord::summary() const {
  const RunRow row = store.run(run);
  const std::vector<Method>& methods = search.options().methods;
  const auto best = store.best_trial(run);
  std::string text = fmt::format("# {}: CUDA optimisation skill V2\n\nRun {} ({}), started {}, {}.\n",
                                 row.info.problem, number(run), row.info.name, row.started,
                                 row.finished ? "ended: " + row.reason : "not ended");

  text += fmt::format(
      "\n## Environment\n\n| | |\n|---|---|\n| device | {} |\n| toolchain | {} |\n| backend | {} |\n"
      "| kernelsearch | {} |\n| methods in the registry | {} |\n| iterations, branches, rewrites | {}, {}, "
      "{} |\n"
      "| least noise | {:.1f} % |\n| trials | {} in {} |\n",
      cell(row.info.device), cell(row.info.toolchain), row.info.evaluator, row.version, methods.size(),
      search.options().iterations, search.options().branches, search.options().rewrites,
      100 * search.options().noise, row.trials, format_duration(row.seconds));

  text += "\n## Result\n\n";
  const auto start = root() ? outcome(*root()) : std::nullopt;
  if (best) {
    text += fmt::format("The best kernel is trial {}: {}", number(best->outcome.id),
                        format_seconds(best->outcome.objective));
    if (const auto& speedup = best->outcome.evaluation.measurement.speedup)
      text += fmt::format(", **{}** against {} (95 % interval in brackets)", format_speedup(*speedup),
                          baseline_name(row.info.evaluator));
    text += ".\n";
    if (start && start->ok())
      text += fmt::format("The kernel it began with took {}, {} as long (not measured in pairs).\n",
                          format_seconds(start->objective),
                          ratio_text(start->objective, best->outcome.objective));
  } else {
    text += "No kernel was right.\n";
  }
  const SkillEnding& end = search.ending();
  text += fmt::format("\nThe search ended: {}.\n",
                      end.reason == SkillEnd::none ? "it did not; it was cut short" : end.words);

  text +=
      "\n## Roofline history\n\n| iteration | compute gap | memory gap | latency gap | bound | slots c/m/l "
      "|\n|---|---|---|---|---|---|\n";
  for (const SkillIteration& it : search.iterations())
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {}/{}/{}{} |\n", it.number, gap_text(it.gaps[Axis::compute]),
                    gap_text(it.gaps[Axis::memory]), gap_text(it.gaps[Axis::latency]), to_string(it.bound),
                    it.budget[Axis::compute], it.budget[Axis::memory], it.budget[Axis::latency],
                    it.degraded ? " (degraded: no profile)" : "");
  if (end.reason == SkillEnd::near_peak || end.reason == SkillEnd::no_axis ||
      end.reason == SkillEnd::no_method)
    text += fmt::format("| end | {} | {} | {} | {} | - |\n", gap_text(end.gaps[Axis::compute]),
                        gap_text(end.gaps[Axis::memory]), gap_text(end.gaps[Axis::latency]),
                        to_string(end.bound));

  text +=
      "\n## Timeline\n\n| iteration | methods | from | champion | gain | status | right/branches | retries "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const SkillIteration& it : search.iterations()) {
    std::string names;
    for (const std::size_t method : it.choice.taken)
      names += (names.empty() ? "" : ", ") + methods[method].id;
    std::size_t right = 0;
    for (const SkillBranch& branch : it.branches) right += branch.verdict == Verdict::ok ? 1 : 0;
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {}/{} | {} |\n", it.number, names.empty() ? "-" : names,
                    time_text_of(it.start_objective), time_text_of(it.champion_objective),
                    effect_text(it.gain), it.phase == SkillPhase::closed ? to_string(it.status) : "cut short",
                    right, it.branches.size(), it.retries);
  }

  const auto list = [&](const char* title, const char* none, auto chosen) {
    text += fmt::format("\n## {}\n\n", title);
    std::string rows;
    for (const SkillIteration& it : search.iterations())
      for (const MethodVerdict& verdict : it.verdicts)
        if (chosen(verdict))
          rows += fmt::format("| {} | {} | {} | {} | {} | {} |\n", methods[verdict.method].id, it.number,
                              effect_text(verdict.attribution), to_string(verdict.evidence),
                              verdict.kept ? "yes" : "no", cell(verdict.words));
    if (rows.empty())
      text += std::string(none) + "\n";
    else
      text +=
          "| method | iteration | attribution | machine code | kept | why |\n|---|---|---|---|---|---|\n" +
          rows;
  };
  list("Effective methods, proven in the machine code", "None.",
       [](const MethodVerdict& v) { return v.proven(); });
  list("Effective by measurement alone", "None.",
       [](const MethodVerdict& v) { return v.fate == MethodFate::effective && !v.proven(); });
  list("Ineffective methods", "None.",
       [](const MethodVerdict& v) { return v.fate == MethodFate::ineffective; });
  list("Coupled: one trace, and nothing tells whose", "None.",
       [](const MethodVerdict& v) { return v.fate == MethodFate::coupled; });
  list("Implementation failed", "None.",
       [](const MethodVerdict& v) { return v.fate == MethodFate::implementation_failed; });

  text += "\n## All methods tried\n\n";
  std::string tried;
  for (const SkillIteration& it : search.iterations())
    for (const std::size_t method : it.choice.taken) {
      std::string fate = "open";
      for (const MethodVerdict& verdict : it.verdicts)
        if (verdict.method == method) fate = to_string(verdict.fate);
      tried += fmt::format("* iteration {}: `{}` ({}, P{}): {}\n", it.number, methods[method].id,
                           to_string(methods[method].axis), methods[method].priority, fate);
    }
  text += tried.empty() ? "None.\n" : tried;

  std::string interactions;
  for (const SkillIteration& it : search.iterations())
    for (const SkillInteraction& both : it.interactions)
      interactions += fmt::format("| {} | {} + {} | {} | {} |\n", it.number, method_id(both.one),
                                  method_id(both.other), effect_text(both.both), effect_text(both.beyond));
  if (!interactions.empty())
    text +=
        "\n## Interactions\n\nBelow 0: each does what the other would do as well; above 0: one works without "
        "the other, but not neither.\n\n| iteration | methods | without both | beyond their own "
        "|\n|---|---|---|---|\n" +
        interactions;

  text += "\n## Frontier\n\nRight branches that were not the champion, the fastest first.\n\n";
  const std::vector<FrontierKernel> frontier = search.frontier();
  if (frontier.empty()) text += "None.\n";
  if (!frontier.empty()) text += "| kernel | trial | time | behind the champion |\n|---|---|---|---|\n";
  for (std::size_t i = 0; i < frontier.size() && i < 10; ++i) {
    const SkillIteration& it = search.iterations()[frontier[i].iteration - 1];
    std::string name;
    for (const SkillBranch& branch : it.branches)
      if (branch.id == frontier[i].id) name = branch_name(it, branch.move);
    text +=
        fmt::format("| iterv{}/branches/{} | {} | {} | {:+.1f} % |\n", it.number, name,
                    number(frontier[i].id), format_seconds(frontier[i].objective), 100 * frontier[i].behind);
  }
  if (frontier.size() > 10) text += fmt::format("\nand {} more in state.json.\n", frontier.size() - 10);
  return text;
}

std::string SkillRecord::picture(const Problem& problem, const DevicePeaks& peaks) const {
  RooflinePicture picture;
  picture.title = problem.name;
  picture.peaks = peaks;
  const auto add = [&](const std::string& label, TrialId id, bool champion) {
    if (auto point = roofline_point(label, features(id), champion))
      picture.points.push_back(*std::move(point));
  };
  if (const auto start = root()) add("baseline", *start, search.champion() == *start);
  for (const SkillIteration& it : search.iterations())
    if (it.champion)
      add(fmt::format("iteration {}", it.number), *it.champion, search.champion() == *it.champion);
  return picture.points.empty() ? std::string() : roofline_svg(picture);
}

}  // namespace kernelsearch::detail
