// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/policy/roofline_budget.hpp"

// What RooflineBudget makes of an iteration's outcomes.

namespace kernelsearch {
namespace detail {

/// `+3.2 %`.
inline std::string percent_text(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%+.1f %%", 100 * share);
  return text.data();
}

}  // namespace detail

KERNELSEARCH_INLINE Attribution RooflineBudget::gain(const Outcome& start, const Outcome& made) const {
  const Features& features = made.evaluation.features;
  const auto ratio = features.find("times_parent"), low = features.find("times_parent.low"),
             high = features.find("times_parent.high");
  if (!options_.as_published.filing && made.ok() && ratio && low && high && *low > 0 &&
      made.parents == std::vector<TrialId>{start.id}) {
    Attribution paired;
    paired.known = paired.paired = true;
    paired.effect = 1 / *ratio - 1;
    paired.interval = {1 / *high - 1, 1 / *low - 1};
    return paired;
  }
  return start.ok() ? attribution_of(made, start) : Attribution{};
}

KERNELSEARCH_INLINE SkillStatus RooflineBudget::status_of(const SkillIteration& now) const {
  if (options_.as_published.filing)
    return outcome(*now.champion).objective < outcome(now.start).objective * (1 - options_.noise)
               ? SkillStatus::improved
               : SkillStatus::regressed;
  const double least = noise(now.gain, now);
  if (contributes(now.gain, least) == Contribution::yes) return SkillStatus::improved;
  return now.gain.effect < -least && now.gain.interval.high < 0 ? SkillStatus::regressed
                                                                : SkillStatus::unchanged;
}

KERNELSEARCH_INLINE Contribution RooflineBudget::contributed(const MethodVerdict& verdict,
                                                             const SkillIteration& now) const {
  if (!options_.as_published.filing) return contributes(verdict.attribution, noise(verdict.attribution, now));
  for (const SkillAblation& one : now.ablations) {
    if (one.methods != std::vector<std::size_t>{verdict.method} || !one.id || !has_candidate(one.verdict))
      continue;
    if (one.verdict != Verdict::ok) return Contribution::yes;  // essential
    const double champion = outcome(*now.champion).objective;
    return one.objective - champion > options_.noise * champion ? Contribution::yes : Contribution::no;
  }
  return Contribution::no;
}

KERNELSEARCH_INLINE double RooflineBudget::noise(const Attribution& of, const SkillIteration& now) const {
  return of.paired ? options_.noise : std::max(options_.noise, now.noise);  // pairs have drifted together
}

KERNELSEARCH_INLINE void RooflineBudget::close(SkillIteration& now) {
  now.phase = SkillPhase::closed;
  const Outcome& start = outcome(now.start);
  if (now.champion && !outcome(*now.champion).ok()) choose_champion(now);  // found out to be wrong meanwhile
  if (now.champion) {
    const Outcome& champion = outcome(*now.champion);
    now.noise = std::max(noise_threshold(start.evaluation.measurement, options_.noise),
                         noise_threshold(champion.evaluation.measurement, options_.noise));
    now.gain = gain(start, champion);
    now.status = status_of(now);
    for (SkillAblation& ablation : now.ablations)
      if (ablation.id && outcome(*ablation.id).parents == std::vector<TrialId>{champion.id})
        ablation.attribution = attribution_of(champion, outcome(*ablation.id));
    const auto alone = [&now](std::size_t method) {
      for (const SkillAblation& one : now.ablations)
        if (one.methods == std::vector<std::size_t>{method}) return one.attribution;
      return Attribution{};
    };
    for (const SkillAblation& both : now.ablations)
      if (both.methods.size() == 2)
        now.interactions.push_back(
            {both.methods[0], both.methods[1], both.attribution,
             interaction_of(alone(both.methods[0]), alone(both.methods[1]), both.attribution)});
  } else {
    now.status = SkillStatus::failed_validation;
  }
  adopt(now);
  for (const std::size_t method : now.choice.taken) {
    now.verdicts.push_back(judge(now, method));
    const MethodVerdict& verdict = now.verdicts.back();
    MethodRecord& record = record_[method];
    ++record.attempts;
    // What helps only in a kernel that is given up is neither applied nor refuted: another attempt may fit.
    const bool open = verdict.fate == MethodFate::effective && !verdict.kept;
    record.fate = open ? MethodFate::implementation_failed : verdict.fate;
  }
}

KERNELSEARCH_INLINE void RooflineBudget::adopt(const SkillIteration& now) {
  if (options_.as_published.filing) {
    if (now.status == SkillStatus::improved) champion_ = tree_.find(*now.champion);
    return;
  }
  const auto take = [&](std::size_t node) {
    if (!champion_ || !outcomes_[*champion_].ok()) {
      champion_ = node;
      return;
    }
    const Attribution better = gain(outcomes_[*champion_], outcomes_[node]);
    if (contributes(better, noise(better, now)) == Contribution::yes) champion_ = node;
  };
  if (now.champion) take(*tree_.find(*now.champion));
  if (const auto best = tree_.best()) take(*best);
}

KERNELSEARCH_INLINE Evidence RooflineBudget::ablation_evidence(const SkillIteration& now,
                                                               std::size_t method) const {
  const Outcome& champion = outcome(*now.champion);
  for (const SkillAblation& one : now.ablations)
    if (one.methods == std::vector<std::size_t>{method} && one.id && one.verdict == Verdict::ok &&
        outcome(*one.id).parents == std::vector<TrialId>{champion.id})
      return evidence_by_ablation(options_.methods[method].signature, champion.evaluation.features,
                                  outcome(*one.id).evaluation.features);
  return Evidence::unknown;
}

/// The trace of a method that its ablation says nothing of may be that of another of the iteration, unless it
/// left one that is only its own, or the other is known not to be in the code.
KERNELSEARCH_INLINE std::vector<std::size_t> RooflineBudget::not_told_apart(const SkillIteration& now,
                                                                            std::size_t method) const {
  const CodeSignature& signature = options_.methods[method].signature;
  const Features& with = outcome(*now.champion).evaluation.features;
  const Features& start = outcome(now.start).evaluation.features;
  std::vector<std::size_t> others;
  CodeSignature own = signature;
  for (const std::size_t other : now.choice.taken) {
    const CodeSignature& its = options_.methods[other].signature;
    if (other == method || !share_a_trace(signature, its) ||
        ablation_evidence(now, other) == Evidence::absent)
      continue;
    others.push_back(other);
    own = traces_beside(own, its);
  }
  if (!own.empty() && evidence_of(own, with, start) == Evidence::verified) others.clear();
  return others;
}

KERNELSEARCH_INLINE MethodVerdict RooflineBudget::judge(const SkillIteration& now, std::size_t method) const {
  MethodVerdict verdict;
  verdict.method = method;
  verdict.fate = MethodFate::implementation_failed;
  if (!now.champion) {
    verdict.words = "no kernel with it was right";
    return verdict;
  }
  const Outcome& champion = outcome(*now.champion);
  const CodeSignature& signature = options_.methods[method].signature;
  const Features& with = champion.evaluation.features;
  verdict.by_parent = evidence_of(signature, with, outcome(now.start).evaluation.features);
  for (const SkillAblation& one : now.ablations)
    if (one.methods == std::vector<std::size_t>{method}) verdict.attribution = one.attribution;
  // The parent differs from the champion by all of the iteration's methods, the ablation by this one alone:
  // where it is known, what the parent seems to say is another method's trace.
  verdict.by_ablation = ablation_evidence(now, method);
  verdict.evidence = verdict.by_ablation != Evidence::unknown ? verdict.by_ablation : verdict.by_parent;
  if (!options_.as_published.filing && verdict.by_ablation == Evidence::unknown &&
      verdict.by_parent == Evidence::verified) {
    verdict.coupled = not_told_apart(now, method);
    if (!verdict.coupled.empty()) verdict.evidence = Evidence::unknown;
  }
  verdict.contributed = contributed(verdict, now);
  if (champion_) {
    const std::vector<std::size_t> line = applied(outcomes_[*champion_].id);
    verdict.kept =
        verdict.evidence != Evidence::absent && std::binary_search(line.begin(), line.end(), method);
  }
  const std::string effect =
      verdict.attribution.essential
          ? "without it the kernel is not right"
          : "without it the time changes by " + detail::percent_text(verdict.attribution.effect);
  if (verdict.evidence == Evidence::absent) {
    verdict.words = verdict.by_parent == Evidence::verified
                        ? "claimed, but the machine code has the same trace without it: another method's"
                        : "claimed, but the machine code has no trace of it";
    if (verdict.contributed == Contribution::yes) verdict.words += "; " + effect + ", by something else";
    return verdict;
  }
  const std::string proof = verdict.evidence == Evidence::verified ? "it is in the machine code"
                            : !verdict.coupled.empty()
                                ? "its trace in the machine code may be that of " +
                                      detail::joined(verdict.coupled, " and ",
                                                     [this](std::size_t other) -> const std::string& {
                                                       return options_.methods[other].id;
                                                     })
                            : signature.empty() ? "it leaves no trace that could be looked for"
                                                : "the machine code could not be looked into";
  if (options_.as_published.filing && now.status != SkillStatus::improved) {
    verdict.fate = MethodFate::ineffective;
    verdict.words = proof + ", but the kernel with it gained no more than the noise";
  } else if (verdict.contributed == Contribution::yes) {
    verdict.fate = MethodFate::effective;
    verdict.words = proof + ", and " + effect;
    if (!verdict.kept) verdict.words += "; that kernel is not kept, so it stays open";
  } else if (verdict.contributed == Contribution::no) {
    verdict.fate = MethodFate::ineffective;
    verdict.words = proof + ", but " + effect;
  } else if (now.status == SkillStatus::improved && verdict.kept &&
             (verdict.evidence == Evidence::verified || now.choice.taken.size() == 1)) {
    // As published: what is in a kernel that gained, and could not be measured alone, counts.
    verdict.fate = MethodFate::effective;
    verdict.words = proof + ", the kernel with it gained " + detail::percent_text(now.gain.effect) +
                    ", and its own share could not be told";
  } else if (!verdict.coupled.empty()) {
    verdict.fate = MethodFate::coupled;
    verdict.words = proof + ", and no ablation tells them apart";
  } else {
    verdict.words = proof + ", but nothing could be told of what it earned";
  }
  return verdict;
}

}  // namespace kernelsearch
