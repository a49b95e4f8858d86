// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <utility>

#include "kernelsearch/policy/impl/known_truth.hpp"
#include "kernelsearch/policy/method_choice.hpp"

namespace kernelsearch {
namespace detail {

inline bool holds(const std::vector<std::string>& list, std::string_view one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

/// The choice for one iteration. Decisions of methods that pass the checks say `taken` until they are ranked.
class MethodChooser {
 public:
  MethodChooser(std::span<const Method> methods, const Features& profile, const MethodDevice& device,
                std::span<const MethodRecord> record, MethodLimits limits)
      : methods_(methods),
        profile_(profile),
        architecture_(device.architecture),
        has_(features_of_architecture(device.architecture)),
        record_(record),
        limits_(limits) {
    has_.insert(has_.end(), device.features.begin(), device.features.end());
  }

  void choose(Axis axis, std::size_t slots) {
    std::vector<std::size_t> order;
    for (std::size_t m = 0; m < methods_.size(); ++m)
      if (methods_[m].axis == axis) order.push_back(m);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return methods_[a].priority < methods_[b].priority;
    });
    std::vector<Passed> passed;
    for (const std::size_t m : order) {
      MethodDecision decision{m, MethodReason::taken, {}, {}};
      bool asked = false;
      if (check(decision, asked)) passed.push_back({choice_.decisions.size(), asked});
      choice_.decisions.push_back(std::move(decision));
    }
    std::stable_sort(passed.begin(), passed.end(), [&](const Passed& a, const Passed& b) {
      if (a.asked != b.asked) return a.asked;
      return slots > 1 && choice_.decisions[a.decision].strength > choice_.decisions[b.decision].strength;
    });
    std::string winners;
    std::size_t taken = 0;
    for (const Passed& one : passed) {
      MethodDecision& decision = choice_.decisions[one.decision];
      const Method& method = methods_[decision.method];
      if (taken == slots) {
        decision.reason = MethodReason::over_budget;
        decision.words =
            "it passed, but the axis has no slot in addition to " + winners + ": " + decision.words;
      } else if (const Method* other = coupled_with(method)) {
        decision.reason = MethodReason::coupled;
        const bool excluded = holds(method.excludes, other->id) || holds(other->excludes, method.id);
        const bool declared = holds(method.coupled, other->id) || holds(other->coupled, method.id);
        decision.words = other->id + (excluded   ? " is taken, which excludes it"
                                      : declared ? " is taken, which is one method with it"
                                                 : " is taken, from which it could not be told apart before");
      } else {
        choice_.taken.push_back(decision.method);
        winners += (winners.empty() ? "" : " and ") + method.id;
        ++taken;
      }
    }
  }

  [[nodiscard]] MethodChoice finish() && { return std::move(choice_); }

 private:
  struct Passed {
    std::size_t decision;
    bool asked;  ///< the trigger is known to hold
  };

  [[nodiscard]] MethodRecord record_of(std::size_t m) const {
    return m < record_.size() ? record_[m] : MethodRecord{};
  }

  static bool refuse(MethodDecision& decision, MethodReason reason, std::string words) {
    decision.reason = reason;
    decision.words = std::move(words);
    return false;
  }

  /// The four checks in their order; where all pass, why and how strongly it is asked for.
  bool check(MethodDecision& decision, bool& asked) const {
    const Method& method = methods_[decision.method];
    const MethodRecord record = record_of(decision.method);
    if (record.fate == MethodFate::effective)
      return refuse(decision, MethodReason::already_applied, "it is applied already and earned its place");
    if (record.fate == MethodFate::ineffective)
      return refuse(decision, MethodReason::ineffective, "it was tried, reached the code and was of no use");
    if (record.fate == MethodFate::not_applicable)
      return refuse(decision, MethodReason::not_applicable,
                    "it was judged not to apply to this kernel: " + record.words);
    const bool again = record.fate == MethodFate::implementation_failed || record.fate == MethodFate::coupled;
    const std::string before =
        record.fate == MethodFate::coupled ? "it could not be told apart" : "its implementation failed";
    if (again && record.attempts >= limits_.attempts)
      return refuse(
          decision, MethodReason::failed_too_often,
          before + " " + std::to_string(record.attempts) + (record.attempts == 1 ? " time" : " times"));

    if (std::string lacks = lacking(method); !lacks.empty())
      return refuse(decision, MethodReason::architecture, std::move(lacks));

    if (method.skip) {
      const KnownTruth skip(*method.skip, profile_);
      if (skip.value().value_or(false))
        return refuse(decision, MethodReason::skip_condition, with(method.skip_words, skip.words()));
    }

    std::string why = "it is always worth a try";
    if (method.trigger) {
      const KnownTruth trigger(*method.trigger, profile_);
      const std::optional<bool> value = trigger.value();
      if (value && !*value)
        return refuse(decision, MethodReason::no_trigger, with("nothing asks for it", trigger.words()));
      asked = value.has_value();
      why = asked ? with(method.trigger_words, trigger.words())
                  : with("whether it is asked for cannot be told", trigger.words());
    }

    for (std::size_t m = 0; m < methods_.size(); ++m)
      if (record_of(m).fate == MethodFate::effective &&
          (holds(method.excludes, methods_[m].id) || holds(methods_[m].excludes, method.id)))
        return refuse(decision, MethodReason::coupled, methods_[m].id + " is applied, which excludes it");

    if (again)
      why += "; " + before + " before, this is attempt " + std::to_string(record.attempts + 1) + " of " +
             std::to_string(limits_.attempts);
    decision.words = std::move(why);
    decision.strength = 0.5;
    if (method.strength)
      if (const auto strength = KnownTruth(*method.strength, profile_).number())
        decision.strength = std::clamp(*strength, 0.0, 1.0);
    return true;
  }

  static std::string with(const std::string& words, const std::string& values) {
    if (words.empty()) return values;
    return values.empty() ? words : words + ": " + values;
  }

  /// What the device lacks, in words; nothing where it has all.
  [[nodiscard]] std::string lacking(const Method& method) const {
    if (method.architecture > 0 && architecture_ == 0)
      return "it needs sm_" + std::to_string(method.architecture) +
             ", and the device is not one of NVIDIA's that are known";
    if (method.architecture > architecture_)
      return "it needs sm_" + std::to_string(method.architecture) + ", the device is sm_" +
             std::to_string(architecture_);
    for (const std::string& need : method.needs)
      if (!holds(has_, need)) return "the device lacks " + need;
    return {};
  }

  [[nodiscard]] const Method* coupled_with(const Method& method) const {
    const auto undecided = [this](const Method& one) {
      return record_of(static_cast<std::size_t>(&one - methods_.data())).fate == MethodFate::coupled;
    };
    for (const std::size_t t : choice_.taken) {
      const Method& other = methods_[t];
      if ((undecided(method) || undecided(other)) && share_a_trace(method.signature, other.signature))
        return &other;
      if (holds(method.coupled, other.id) || holds(other.coupled, method.id) ||
          holds(method.excludes, other.id) || holds(other.excludes, method.id))
        return &other;
    }
    return nullptr;
  }

  std::span<const Method> methods_;
  const Features& profile_;
  unsigned architecture_;
  std::vector<std::string> has_;
  std::span<const MethodRecord> record_;
  MethodLimits limits_;
  MethodChoice choice_;
};

}  // namespace detail

KERNELSEARCH_INLINE std::vector<std::string> features_of_architecture(unsigned architecture) {
  struct Range {
    unsigned from, below;
    std::string_view feature;
  };
  constexpr unsigned end = ~0u;
  // wgmma is Hopper's alone, tcgen05 with its memory that of the large Blackwells (sm_100 to sm_110).
  constexpr Range ranges[] = {{70, end, "tensor_core"},
                              {75, end, "ldmatrix"},
                              {80, end, "cp_async"},
                              {80, end, "l2_persistence"},
                              {89, end, "fp8"},
                              {90, end, "tma"},
                              {90, end, "mbarrier"},
                              {90, end, "cluster"},
                              {90, end, "distributed_shared_memory"},
                              {90, end, "dependent_launch"},
                              {90, end, "warp_specialization"},
                              {90, 91, "wgmma"},
                              {100, 120, "tcgen05"},
                              {100, 120, "tensor_memory"},
                              {100, end, "block_scaling"},
                              {100, end, "cluster_launch_control"}};
  std::vector<std::string> features;
  for (const Range& range : ranges)
    if (architecture >= range.from && architecture < range.below) features.emplace_back(range.feature);
  return features;
}

KERNELSEARCH_INLINE MethodChoice choose_methods(std::span<const Method> methods, const Features& profile,
                                                const MethodDevice& device, const AxisBudget& budget,
                                                std::span<const MethodRecord> record, MethodLimits limits) {
  detail::MethodChooser chooser(methods, profile, device, record, limits);
  for (const Axis axis : all_axes)
    if (budget[axis] > 0) chooser.choose(axis, budget[axis]);
  return std::move(chooser).finish();
}

}  // namespace kernelsearch
