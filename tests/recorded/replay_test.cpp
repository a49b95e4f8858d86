// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/replay.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "recordings.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

static_assert(Evaluator<RecordedReplay, Config>);
static_assert(Evaluator<RecordedReplay, Candidate>);

TEST_CASE("replay: answers for configurations and candidates, and the clock of each copy") {
  const Recording recording = parse_recording(recordings::old_cachefile, "a.json");
  RecordedReplay first = replay(recording);
  for (std::size_t i = 0; i < recording.trials.size(); ++i) {
    const RecordedTrial& trial = recording.trials[i];
    CHECK(first.find(trial.config) == i);
    const Evaluation answer = first.evaluate(trial.config, {});
    CHECK(answer.verdict == trial.evaluation.verdict);
    CHECK(answer.measurement.seconds == trial.evaluation.measurement.seconds);
    CHECK(answer.measurement.spread == trial.evaluation.measurement.spread);
    CHECK(answer.phases.build == trial.evaluation.phases.build);
    CHECK(answer.phases.total() == approx(trial.total_seconds()));
    CHECK(answer.reason == trial.evaluation.reason);
    CHECK(&first.at(i) == &first.at(*first.find(trial.config)));
  }
  double all = 0;
  for (const RecordedTrial& trial : recording.trials) all += trial.total_seconds();
  CHECK(first.virtual_seconds() == approx(all));

  RecordedReplay second = replay(recording);
  CHECK(second.virtual_seconds() == 0.0);
  const Config other{{1, 0, 1}};
  REQUIRE_FALSE(recording.space.contains(other));
  CHECK_FALSE(second.find(other).has_value());
  CHECK(second.evaluate(other, {}).verdict == Verdict::rejected);
  CHECK(second.virtual_seconds() == 0.0);
  const Candidate candidate{nullptr, recording.trials[5].config};
  CHECK(second.evaluate(candidate, {}).measurement.seconds == 0.0005);
}

TEST_CASE("replay: samples come along when asked for") {
  const Recording recording = parse_recording(recordings::old_cachefile, "a.json");
  CHECK(replay(recording).at(0).measurement.shapes.at(0).samples.empty());
  CHECK(replay(recording).at(0).measurement.shapes.at(0).median == 0.002);
  CHECK(replay(recording, {.samples = true}).at(0).measurement.shapes.at(0).samples.size() == 3);
}
