// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/policy/roofline_budget.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::detail {

/// A run of RooflineBudget with what the store holds of it: the texts of its folder's files.
struct SkillRecord {
  using Json = nlohmann::ordered_json;

  const RunStore& store;
  RunId run{};
  const RooflineBudget& search;

  [[nodiscard]] std::optional<TrialId> root() const;
  /// As first told: what the policy decided by.
  [[nodiscard]] Features features(TrialId id) const;
  /// As known now.
  [[nodiscard]] std::optional<Outcome> outcome(TrialId id) const;

  [[nodiscard]] Json environment_json(const DevicePeaks& peaks) const;
  [[nodiscard]] Json state_json(const Problem& problem, const std::string& folder,
                                const std::string& extension) const;
  /// Where the kernel stands that the run ended with, or has come to; null without a right one.
  [[nodiscard]] Json end_json() const;
  [[nodiscard]] Json roofline_json(const SkillIteration& iteration) const;
  /// What was counted of the kernel that an iteration starts from, the five that say most of each axis first.
  [[nodiscard]] Json top_json(const SkillIteration& iteration) const;
  [[nodiscard]] Json branches_json(const SkillIteration& iteration) const;
  [[nodiscard]] Json attribution_json(const SkillIteration& iteration) const;
  [[nodiscard]] Json evidence_json(const SkillIteration& iteration) const;
  [[nodiscard]] Json bench_json(TrialId id) const;
  [[nodiscard]] std::string summary() const;
  /// An SVG; empty where the run knows no rates of its candidates.
  [[nodiscard]] std::string picture(const Problem& problem, const DevicePeaks& peaks) const;

  [[nodiscard]] const std::string& method_id(std::size_t place) const {
    return search.options().methods[place].id;
  }
};

}  // namespace kernelsearch::detail
