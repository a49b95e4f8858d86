// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/run/mlir_problem.hpp"
#include "kernelsearch/run/run_options.hpp"

namespace kernelsearch::app {

/// What `kernelsearch tune` was told.
struct TuneOptions {
  std::string problem;
  std::string baseline = "";             ///< what answers to a task in Python are compared with besides
  std::string resume = "";               ///< a run's number or name, or `latest`
  MlirProblemOptions mlir = {};          ///< where `problem` is a schedule of MLIR
  std::vector<std::string> behind = {};  ///< `--`, for the command that makes the problem
  std::string evaluator = "auto";        ///< or the backend that the problem must have
  RunOptions run = {};
  std::vector<std::string> devices = {};                    ///< as `--devices` has them; empty: the run's own
  std::vector<std::string> launch = {}, build_launch = {};  ///< workers, as launch_pool() reads them
  std::string pools = "", device_class = "";                ///< the file of read_pools()
  std::string other_lanes = "refuse";                       ///< or `apart`: see lane_runs()
  bool json = false;
  bool quiet = false;
  bool serve = false;  ///< show the run to browsers of this machine while it works
};

/// Runs the search and returns the exit code.
int tune(TuneOptions options);

}  // namespace kernelsearch::app
