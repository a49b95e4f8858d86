// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/recording.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace kernelsearch;

TEST_CASE("recording: failures have no objective, and the recorder's own time is part of the cost") {
  const Space space = Space::build({Tunable::integer("a", 0, 1)});
  Recording recording{"r", "k", "d", "5", space, {}};
  recording.trials.push_back({Config{{0}}, Evaluation::succeeded(0.25), "", 0.5});
  recording.trials.push_back({Config{{1}}, Evaluation::failed(Verdict::crashed, "no"), "", 0.0});
  recording.trials[0].evaluation.phases = {1.0, 2.0, 4.0};
  CHECK(recording.objective(0) == 0.25);
  CHECK(std::isinf(recording.objective(1)));
  CHECK(recording.trials[0].total_seconds() == 7.5);
}
