// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/remote/remote_options.hpp"
#include "kernelsearch/run/measurement.hpp"

namespace kernelsearch {

class SlurmAllocation;

/// Which language models a system asks, and what they may cost.
struct RunModelOptions {
  std::string file = {};    ///< the model file; empty: where find_model_file() looks
  std::string model = {};   ///< its model for every role; empty: the file's choices
  std::string record = {};  ///< folder of what is asked and said; empty: one next to the store
  std::string replay = {};  ///< folder of recorded exchanges, or with a script.json, that answers instead
  std::uint64_t max_tokens = 0;  ///< 0: no limit
  double max_cost = 0;           ///< in the currency of the model file's prices; 0: no limit
};

/// The workers that a run measures by, instead of in its own process; none of it but `in_flight` is stored
/// with the run, since it may go on elsewhere.
struct RunLanes {
  std::vector<LaunchPool> pools = {};  ///< none: the run measures by itself
  std::string slurm =
      {};  ///< what is asked of Slurm, as read_slurm_request() reads it; its workers come besides
  std::vector<LaneLaunch> launched = {};  ///< lanes besides those of pools and Slurm
  /// Nodes that were taken from Slurm before, on which some of these run: the run keeps them, and ends within
  /// their time.
  std::shared_ptr<SlurmAllocation> allocation = nullptr;
  std::string device_id = {}, toolchain_id = {};  ///< see RemoteOptions
  std::string worker = {};                        ///< the program where a pool names none
  double tolerance = 0.02;                        ///< see RemoteOptions
  double falls_behind = 5;                        ///< see RemoteOptions
  double start_seconds = 600;                     ///< see RemoteOptions
  double silence_seconds = 30;                    ///< see RemoteOptions
  double request_seconds = 900;                   ///< see RemoteOptions
  /// Proposals in flight; 0: as many as there are compilers and twice the lanes. With the same number the
  /// same seed and outcomes give the same proposals whatever the number of lanes. A run that goes on keeps
  /// it unless another one is given.
  std::size_t in_flight = 0;
};

/// How a run searches, measures and ends. What repeats the run is stored with it (docs/formats/store.md), so
/// that it can be resumed; where results are written is not.
struct RunOptions {
  /// Over configurations, one of `config_policies()`, with options where some are given, as
  /// `genetic(population=40)`; or `submit`: kernels are handed in from outside.
  std::string policy = "bayesian";
  std::string policy_command = {};           ///< a policy from outside instead: see command_policy()
  std::filesystem::path policy_folder = {};  ///< where that command runs; empty: where this program does
  double policy_timeout = 60;                ///< seconds within which it must answer
  /// A plug-in that has the policy of that name; of a plug-in with one policy `policy` may be empty.
  std::filesystem::path policy_plugin = {};
  std::string system = {};          ///< one of `system_entries()` instead of a policy
  std::string system_options = {};  ///< a JSON object, `variant` among it; empty: the standard values
  std::string suggest = "epsilon_greedy_tree";  ///< of `submit`: one of `move_policies()`
  std::vector<std::string> strategies = {};     ///< of `submit`: that it may name; none: the writer chooses
  std::string objectives = {};                  ///< as Objectives::parse() reads them; empty: the problem's
  std::string budget = {};    ///< as parse_budget() reads it; empty: 200 trials, or the system's own
  double target_speedup = 0;  ///< ends the run once the best is that many times the reference; 0: never
  std::uint64_t no_gain = 0;  ///< ends it after that many trials in a row without gain; 0: never
  std::uint64_t seed = 0;     ///< of every random choice of the search
  std::string name = {};      ///< of the run; empty: the problem's
  std::vector<std::string> where = {};  ///< only configurations for which these expressions hold
  std::string configs = {};  ///< JSON file of the only configurations to try; empty: all of the space
  MeasurementOptions measurement = {};
  RunLanes lanes = {};
  std::string validate = {};  ///< tools of Compute Sanitizer that finalists must pass
  bool bounds = true;         ///< host kernels: finalists must keep within their arrays, see HostBounds
  std::vector<std::string> learn_from = {};  ///< recordings and stores of earlier runs
  bool learn = true;                         ///< also from the earlier runs of this problem in the store
  bool memory = true;                        ///< prompts show what earlier runs of the store learned
  bool reuse = true;                         ///< results that the store has are not measured again
  RunModelOptions models = {};
  std::string methods = {};   ///< folder of the user's prompts, strategies and transformations
  std::size_t proposals = 1;  ///< kernels that a system writes and judges at a time
  /// Trials of the search over the tunables of each kernel that a system writes; 0: none is tuned, as in the
  /// papers; empty: 8, in a paper's variant 0, or the system's own number.
  std::optional<std::uint64_t> inner_trials = {};
  /// Where a system that writes kernels begins: `best`, the best configuration of the problem's kernel that
  /// the store knows of this device, or `default`, the problem's; empty: best, in a paper's variant default.
  std::string root = {};
  bool counters = true;               ///< Nsight Compute's, for systems that take them where they can be had
  std::filesystem::path store = {};   ///< file of runs; empty: RunStore::default_path()
  std::filesystem::path out = {};     ///< folder of the winner's files; empty: none are written
  std::filesystem::path record = {};  ///< file for all that was measured; empty: none
};

}  // namespace kernelsearch
