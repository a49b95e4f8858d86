// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/skill_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernelsearch/agents/observed_text.hpp"
#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch {
namespace {

using nlohmann::ordered_json;

std::string gap_text(const std::optional<double>& gap) {
  return gap ? fmt::format("{:.2f}", *gap) : "unknown";
}

std::string signature_words(const Method& method) {
  const CodeSignature& signature = method.signature;
  if (signature.empty())
    return "leaves no trace in machine code that could be looked for" +
           (method.no_trace.empty() ? "" : ": " + method.no_trace);
  const auto listed = [](const std::vector<CodeChange>& changes, std::string_view between) {
    std::string text;
    for (const CodeChange& change : changes)
      text += (text.empty() ? "" : std::string(between)) + (change.less ? "fewer " : "more ") +
              feature_words(change.feature);
    return text;
  };
  std::string text = "its trace in the machine code: ";
  if (!signature.all.empty()) text += listed(signature.all, " and ");
  if (!signature.all.empty() && !signature.any.empty()) text += ", and ";
  return text + listed(signature.any, " or ");
}

}  // namespace

std::string move_words(const Move& move, std::size_t branches, std::uint32_t first_variant) {
  const std::string what = detail::joined(move.strategies, ", ");
  const auto parent = [&move] {
    return move.parents.empty() ? std::string("nothing")
                                : fmt::format("trial {}", static_cast<std::uint64_t>(move.parents.front()));
  };
  switch (move.kind) {
    case MoveKind::root:
      return "the problem's own kernel";
    case MoveKind::branch: {
      const std::uint32_t k = move.variant - std::min(first_variant, move.variant) + 1;
      return fmt::format(
          "branch {}{}: apply {} together to {}, in an implementation of its own (other tile sizes, stages, "
          "threads or layouts than the other branches)",
          k, k <= branches ? fmt::format(" of {}", branches) : "",
          what.empty() ? "methods of your choice" : what, parent());
    }
    case MoveKind::ablate:
      return fmt::format(
          "ablation: {} without {}, all else exactly equal (tiles, stages, threads, layouts), to measure "
          "what "
          "{} earned",
          parent(), what, move.strategies.size() == 1 ? "it" : "they");
    case MoveKind::debug:
      return fmt::format("mend {}, which failed, and keep the methods that it applies", parent());
    case MoveKind::recombine:
      return "join " + parent() + " with another kernel";
    default:
      return fmt::format("{} {} to {}", to_string(move.kind), what, parent());
  }
}

std::string roofline_words(const SkillIteration& iteration) {
  std::string text = fmt::format(
      "| axis | gap to the limit | slots |\n|---|---|---|\n| compute | {} | {} |\n| memory | {} | {} |\n"
      "| latency | {} | {} |\n\nBound by: {}.\n",
      gap_text(iteration.gaps[Axis::compute]), iteration.budget[Axis::compute],
      gap_text(iteration.gaps[Axis::memory]), iteration.budget[Axis::memory],
      gap_text(iteration.gaps[Axis::latency]), iteration.budget[Axis::latency], to_string(iteration.bound));
  if (iteration.degraded)
    text +=
        "\nThere is no profile, so no axis has evidence: each gets one slot (degraded mode, timing alone).\n";
  return text;
}

std::string methods_words(const SkillIteration& iteration, std::span<const Method> methods) {
  std::string text;
  for (const std::size_t place : iteration.choice.taken) {
    const Method& method = methods[place];
    text += fmt::format("* `{}` ({} axis): {} ({})\n", method.id, to_string(method.axis), method.description,
                        signature_words(method));
  }
  return text;
}

std::string analysis_text(const SkillIteration& iteration, std::span<const Method> methods,
                          const Features& profile, std::span<const SkillIteration> earlier) {
  std::string text =
      fmt::format("# Iteration {}: analysis\n\nStarts from trial {}.\n\n## Roofline\n\n{}", iteration.number,
                  static_cast<std::uint64_t>(iteration.start), roofline_words(iteration));
  text += "\n## Profile\n\n";
  const std::string seen = observed_text(profile);
  text += seen.empty() ? "Nothing was observed.\n" : seen;
  text += "\n## Methods chosen\n\n" + methods_words(iteration, methods);
  if (iteration.choice.taken.empty()) text += "None.\n";
  text += "\n## Every decision\n\n";
  for (const MethodDecision& decision : iteration.choice.decisions) {
    text += fmt::format("* `{}` (P{}): {}", methods[decision.method].id, methods[decision.method].priority,
                        to_string(decision.reason));
    if (!decision.words.empty()) text += ": " + decision.words;
    if (decision.strength) text += fmt::format(" (strength {:.2f})", *decision.strength);
    text += '\n';
  }
  std::string again;
  for (const SkillIteration& before : earlier)
    for (const MethodVerdict& verdict : before.verdicts)
      if (verdict.fate == MethodFate::implementation_failed &&
          std::find(iteration.choice.taken.begin(), iteration.choice.taken.end(), verdict.method) !=
              iteration.choice.taken.end())
        again += fmt::format(
            "* `{}` failed in iteration {}: {}. Write it in another way, and say in a sentence what is done "
            "differently.\n",
            methods[verdict.method].id, before.number, verdict.words);
  if (!again.empty()) text += "\n## Tried again after a failed implementation\n\n" + again;
  return text;
}

std::string methods_json(const SkillIteration& iteration, std::span<const Method> methods,
                         const Features& profile) {
  ordered_json out{{"iter", iteration.number}, {"methods", ordered_json::array()}};
  for (const std::size_t place : iteration.choice.taken) {
    const Method& method = methods[place];
    ordered_json one{{"id", method.id},
                     {"name", method.name},
                     {"axis", to_string(method.axis)},
                     {"priority", method.priority},
                     {"description", method.description},
                     {"skipped_higher", ordered_json::array()},
                     {"evidence", ordered_json::array()},
                     {"trigger_strength", nullptr},
                     {"trigger", method.trigger_words}};
    for (const MethodDecision& decision : iteration.choice.decisions) {
      const Method& other = methods[decision.method];
      if (decision.method == place && decision.strength) one["trigger_strength"] = *decision.strength;
      if (other.axis == method.axis && other.priority < method.priority &&
          decision.reason != MethodReason::taken)
        one["skipped_higher"].push_back({{"id", other.id},
                                         {"priority", other.priority},
                                         {"reason", to_string(decision.reason)},
                                         {"words", decision.words}});
    }
    if (method.trigger)
      for (const std::string& name : method.trigger->names())
        if (const auto value = profile.find(name))
          one["evidence"].push_back({{"metric", name}, {"value", *value}});
    out["methods"].push_back(std::move(one));
  }
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

std::string branch_name(const SkillIteration& iteration, const Move& move) {
  if (move.kind != MoveKind::debug)
    return fmt::format("b{}", move.variant - std::min(iteration.first_variant, move.variant) + 1);
  // The rewrites of an iteration come one after the other, each after the last was told.
  std::size_t n = 1;
  for (const SkillBranch& branch : iteration.branches) {
    if (branch.move == move) break;
    if (branch.move.kind == MoveKind::debug) ++n;
  }
  return fmt::format("r{}", n);
}

std::string ablation_name(const Move& move) {
  return detail::joined(move.strategies, "+");
}

}  // namespace kernelsearch
