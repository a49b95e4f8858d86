// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "tune_options.hpp"

namespace kernelsearch::app {

/// A run and everything that it was started with; what a resumed run takes over from its first part.
struct Plan {
  TuneOptions options;
  std::optional<RunRow> resumed;
};

[[nodiscard]] Plan make_plan(TuneOptions options, const RunStore& store);

[[nodiscard]] MeasurementOptions measuring(const TuneOptions& options);

/// What a run is measured on.
struct Ground {
  std::string device, toolchain;
};

[[nodiscard]] RunInfo run_info(const TuneOptions& options, const Problem& problem, const Ground& ground,
                               const std::string& digest);

}  // namespace kernelsearch::app
