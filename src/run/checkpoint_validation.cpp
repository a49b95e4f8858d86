// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checkpoint_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernelsearch/store/kernel_codec.hpp"

namespace kernelsearch::detail {

std::vector<std::string> spread_over(const std::vector<std::string>& keys, std::size_t most) {
  if (keys.size() <= most) return keys;
  std::vector<std::string> some;
  for (std::size_t i = 0; i < most; ++i)
    some.push_back(keys[most == 1 ? keys.size() / 2 : i * (keys.size() - 1) / (most - 1)]);
  return some;
}

Evaluation validated_checkpoint(const CheckpointValidation& how, const Candidate& kernel,
                                Evaluation evaluation, std::vector<std::string> right, TrialId trial,
                                const std::stop_token& stop) {
  if (!how.validate || evaluation.verdict != Verdict::ok) return evaluation;
  const auto begun = std::chrono::steady_clock::now();
  std::erase(right, evaluation.tuned_key);
  std::sort(right.begin(), right.end());
  right.erase(std::unique(right.begin(), right.end()), right.end());
  std::vector<std::string> keys = spread_over(right, how.samples);
  keys.insert(keys.begin(), evaluation.tuned_key);
  std::optional<Evaluation> objection;
  std::size_t seen = 0;
  for (const std::string& key : keys) {
    objection = how.validate(tuned(kernel, key), stop);
    ++seen;
    if (stop.stop_requested())
      return Evaluation::failed(Verdict::rejected, "stopped before the validator had seen it");
    if (!objection) continue;
    // The one who repairs it must know that other configurations may show no fault.
    if (!key.empty()) objection->reason = "at the configuration " + key + ": " + objection->reason;
    break;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (how.say)
    how.say(fmt::format("trial {} {} the validator at {} configuration{}, in {:.1f} s", number(trial),
                        objection ? "did not pass" : "passed", seen, seen == 1 ? "" : "s", seconds));
  if (objection) {
    objection->phases = evaluation.phases;
    if (const auto trials = evaluation.features.find("inner_trials"))
      objection->features.set("inner_trials", *trials);
    evaluation = *std::move(objection);
  } else {
    evaluation.features.set(how.feature, 1);
  }
  evaluation.phases.check += seconds;
  return evaluation;
}

}  // namespace kernelsearch::detail
