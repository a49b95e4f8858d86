// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <map>

#include "kernelsearch/core/device_identity.hpp"
#include "kernelsearch/runtime/plan.hpp"
#include "plan_order.hpp"

namespace kernelsearch {
namespace {

/// What one plan says of a shape.
struct Claim {
  PlanEntry entry;
  bool kept = false;  ///< the default stays
  std::string plan;
};

bool same_claim(const Claim& a, const Claim& b) {
  return a.kept == b.kept && a.entry.values == b.entry.values && !detail::better_proven(a.entry, b.entry) &&
         !detail::better_proven(b.entry, a.entry);
}

std::uint32_t pairs_of(const Claim& claim) {
  return claim.entry.over_default ? claim.entry.over_default->pairs : 0;
}

/// Whether what some plan measured stands against these settings.
bool refuted(const Claim& claim, const std::vector<Claim>& all) {
  return std::any_of(all.begin(), all.end(), [&](const Claim& other) {
    if (!other.kept || pairs_of(other) == 0) return false;
    if (pairs_of(claim) == 0) return true;
    return other.entry.values == claim.entry.values && pairs_of(other) >= pairs_of(claim);
  });
}

const Claim& decide(std::vector<Claim>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Claim& a, const Claim& b) {
    if (a.kept != b.kept) return b.kept;
    return detail::better_proven(a.entry, b.entry);
  });
  for (const Claim& claim : all)
    if (!claim.kept && !refuted(claim, all)) return claim;
  // Where all are refuted the default stays: the first of those that say so, which are sorted like the
  // others.
  return *std::find_if(all.begin(), all.end(), [](const Claim& claim) { return claim.kept; });
}

std::string words(const Claim& claim) {
  std::string text = claim.kept ? "the default" : detail::values_text(claim.entry.values);
  if (claim.entry.over_default) {
    const Speedup& s = *claim.entry.over_default;
    const auto rounded = [](double value) {
      std::string digits = std::to_string(value);
      return digits.substr(0, digits.find('.') + 4);
    };
    text += std::string(claim.kept ? " (" + detail::values_text(claim.entry.values) + " was " : " (") +
            rounded(s.ratio) + "x of it, at least " + rounded(s.interval.low) + "x, " +
            std::to_string(s.pairs) + " pairs)";
  }
  return text + " of " + claim.plan;
}

}  // namespace

MergedPlans merge_plans(std::span<const std::pair<std::string, Plan>> plans) {
  struct Shape {
    detail::PlanShape variables;
    std::vector<Claim> claims;
  };
  struct Group {
    ProblemPlan part;
    std::vector<Shape> shapes;
  };
  std::map<std::vector<std::string>, Group> groups;
  for (const auto& [name, plan] : plans)
    for (const ProblemPlan& part : plan.parts()) {
      auto [found, is_new] = groups.try_emplace(detail::part_key(part));
      Group& group = found->second;
      if (is_new) {
        group.part = part;
        group.part.entries.clear();
        group.part.default_kept.clear();
      }
      group.part.max_distance = std::min(group.part.max_distance, part.max_distance);
      const auto add = [&, &plan_name = name](const PlanEntry& entry, bool kept) {
        auto shape = std::find_if(group.shapes.begin(), group.shapes.end(), [&](const Shape& one) {
          return detail::same_shape(one.variables, entry.shape);
        });
        if (shape == group.shapes.end()) shape = group.shapes.insert(shape, {entry.shape, {}});
        Claim claim{entry, kept, plan_name};
        if (std::none_of(shape->claims.begin(), shape->claims.end(),
                         [&](const Claim& known) { return same_claim(known, claim); }))
          shape->claims.push_back(std::move(claim));
      };
      for (const PlanEntry& entry : part.entries) add(entry, false);
      for (const PlanEntry& entry : part.default_kept) add(entry, true);
    }
  MergedPlans merged;
  std::vector<ProblemPlan> parts;
  for (auto& [key, group] : groups) {
    ProblemPlan& part = group.part;
    for (Shape& shape : group.shapes) {
      const Claim winner = decide(shape.claims);
      for (const Claim& claim : shape.claims)
        if (!same_claim(claim, winner))
          merged.notes.push_back(part.problem + " on " + part.device + ", " +
                                 detail::values_text(shape.variables) + ": " + words(winner) +
                                 " rather than " + words(claim));
      (winner.kept ? part.default_kept : part.entries).push_back(winner.entry);
    }
    // As it now is: what one plan took without proof may have been replaced.
    part.never_worse = std::all_of(part.entries.begin(), part.entries.end(),
                                   [](const PlanEntry& entry) { return entry.proven(); });
    parts.push_back(std::move(part));
  }
  merged.plan = Plan(std::move(parts));
  return merged;
}

}  // namespace kernelsearch
