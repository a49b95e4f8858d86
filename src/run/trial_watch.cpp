// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trial_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernelsearch/report/load.hpp"

namespace kernelsearch::detail {

double finalist_seconds(double budget, double longest) {
  // At least three are measured again and then in pairs, in up to four rounds of two processes each: nine
  // times what one takes. A quarter is the most, since what is not searched cannot win.
  return std::clamp(9 * longest, 0.05 * budget, 0.25 * budget);
}

std::string load_warning(const Outcome& outcome) {
  const Features& features = outcome.evaluation.features;
  if (!(load_of(features) > loaded_share)) return {};
  const auto percent = [&features](const char* name) { return 100 * features.find(name).value_or(0.0); };
  if (percent("load.device") > 0)
    return fmt::format(
        "others used the GPU for {:.0f} % of the time while trial {} was measured: times come out longer and "
        "intervals wider; pairs suffer alike, so speedups hold better than times. For better figures end "
        "what "
        "else runs there, or choose another GPU with --devices",
        percent("load.device"), number(outcome.id));
  return fmt::format(
      "the machine is loaded: while trial {} was measured others had its core for {:.0f} % of the time that "
      "it "
      "wanted it, another virtual machine for {:.0f} %, and its sibling was busy for {:.0f} %. Times come "
      "out "
      "longer and intervals wider; pairs suffer alike, so speedups hold better than times. For better "
      "figures "
      "end what else runs, or choose another core with --core",
      number(outcome.id), percent("load.core"), percent("load.steal"), percent("load.sibling"));
}

void TrialWatch::see(const Outcome& outcome, const std::function<void(const std::string&)>& warn) {
  const PhaseSeconds& phases = outcome.evaluation.phases;
  if (outcome.ok()) longest_ = std::max(longest_, phases.check + phases.measure);
  if (warned_) return;
  const std::string text = load_warning(outcome);
  warned_ = !text.empty();
  if (warned_ && warn) warn(text);
}

}  // namespace kernelsearch::detail
