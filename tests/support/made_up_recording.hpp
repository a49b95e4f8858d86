// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "kernelsearch/recorded/recording.hpp"
#include "kernelsearch/space/space_builder.hpp"

/// A recording of made-up hardware: two valleys of different depth, a corner that fails, and times that
/// building and measuring took. `shift` moves the valleys, as another device would.
inline kernelsearch::Recording made_up_recording(const std::string& name, double shift = 0.0) {
  using namespace kernelsearch;
  Recording recording{name,
                      "made_up",
                      "nothing",
                      "",
                      SpaceBuilder()
                          .add(Tunable::integer("x", 0, 19))
                          .add(Tunable::integer("y", 0, 9))
                          .add(Tunable::boolean("z"))
                          .require("(x + y) % 3 != 1")
                          .build(),
                      {}};
  recording.space.for_each([&](const Config& config) {
    const double x = config.indices[0], y = config.indices[1];
    RecordedTrial trial{config, {}, {}};
    if (x > 16 && y > 6) {
      trial.evaluation = Evaluation::failed(Verdict::launch_failed, "too many resources requested");
    } else {
      const double wide = 2 + 0.1 * std::abs(x - 3 - shift) + 0.2 * std::abs(y - 7);
      const double deep = 1 + 0.5 * std::abs(x - 14 - shift) + 0.4 * std::abs(y - 2);
      trial.evaluation =
          Evaluation::succeeded(1e-3 * (std::min(wide, deep) + (config.indices[2] != 0 ? 0.0 : 0.05)));
      trial.evaluation.phases.measure = 100 * trial.evaluation.measurement.seconds;
    }
    trial.evaluation.phases.build = 0.5 + 0.01 * x;
    recording.trials.push_back(std::move(trial));
  });
  return recording;
}
