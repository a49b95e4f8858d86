// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/recording_summary.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>

#include "recordings.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

/// Times from the list, a failure for each 0.
Recording of_times(const std::vector<double>& times) {
  const Space space = Space::build({Tunable::integer("i", 0, static_cast<std::int64_t>(times.size()) - 1)});
  Recording recording{"r", "k", "d", "1", space, {}};
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    RecordedTrial trial{Config{{i}}, Evaluation::succeeded(times[i]), "", 0.5};
    if (times[i] == 0) trial.evaluation = Evaluation::failed(Verdict::timed_out, "slow");
    trial.evaluation.phases = {1.0, 2.0, 4.0};
    recording.trials.push_back(std::move(trial));
  }
  return recording;
}

}  // namespace

TEST_CASE("recording summary: figures of a small recording") {
  const RecordingSummary summary = summarize_recording(of_times({3.0, 0, 1.0, 1.04, 2.0, 5.0}));
  CHECK(summary.verdicts[static_cast<std::size_t>(Verdict::ok)] == 5);
  CHECK(summary.verdicts[static_cast<std::size_t>(Verdict::timed_out)] == 1);
  CHECK(summary.right == 5);
  CHECK(summary.best == 2);
  CHECK(summary.best_seconds == 1.0);
  CHECK(summary.median_seconds == 2.0);
  CHECK(summary.quantiles[1] == approx(1.04));
  CHECK(summary.quantiles[3] == approx(4.6));  // numpy.quantile(times, 0.95)
  CHECK(summary.near_best == std::array<std::size_t, 3>{1, 2, 2});
  CHECK(summary.budget == 1);  // 1.0 and 1.04 are good enough: ceil(3 / 3)
  CHECK(summary.phases.build == 6.0);
  CHECK(summary.framework_seconds == 3.0);
}

TEST_CASE("recording summary: the budget of random search") {
  std::vector<double> times{1.0};
  for (int i = 0; i < 99; ++i) times.push_back(10.0 + i);
  CHECK(summarize_recording(of_times(times)).budget == 50);  // one of a hundred: ceil(99 / 2)
  const std::map<std::string, std::size_t> known{{"convolution_A100", 1050},
                                                 {"convolution_A4000", 323},
                                                 {"convolution_MI250X", 51},
                                                 {"gemm_RTX_2080_Ti", 997},
                                                 {"pnpoly_RTX_3060_laptop", 179}};
  for (const auto& [name, budget] : known) {
    const std::filesystem::path file = recordings::shared(name + ".json.gz");
    if (file.empty()) {
      MESSAGE("skipped: the recorded spaces are not here; set KERNELSEARCH_SHARED");
      return;
    }
    CHECK(summarize_recording(read_recording(file)).budget == budget);
  }
}

TEST_CASE("recording summary: nothing right") {
  const RecordingSummary summary = summarize_recording(of_times({0, 0}));
  CHECK_FALSE(summary.best.has_value());
  CHECK(std::isinf(summary.best_seconds));
  CHECK(summary.right == 0);
}
