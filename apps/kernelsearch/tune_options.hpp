// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernelsearch::app {

/// What `kernelsearch tune` was told.
struct TuneOptions {
  std::string problem;
  std::string policy = "bayesian";
  std::string evaluator = "auto";
  std::string budget = "";  ///< empty: 200, or the system's own
  std::string out = "";     ///< folder of the winner's files; empty: ./<problem>_tuned
  std::string store = "";   ///< empty: RunStore::default_path()
  std::string resume = "";  ///< a run's number or name, or `latest`
  std::string name = "";    ///< of the run
  std::string record = "";  ///< file for everything that was measured; empty: none
  std::string sandbox = "bubblewrap";
  std::string cache = "";     ///< warm or cold; empty: warm on the host, cold on a GPU
  std::string validate = "";  ///< tools of Compute Sanitizer that finalists must pass
  double target_speedup = 0;  ///< 0: none
  std::uint64_t no_gain = 0;  ///< 0: none
  std::uint64_t seed = 0;
  unsigned jobs = 0;        ///< compilers at a time; 0: one for each core but the one measured on
  std::size_t samples = 0;  ///< of each timed shape; 0: as many as precision asks for
  int core = -1;
  std::vector<int> devices = {0};            ///< GPUs by number
  std::vector<std::string> learn_from = {};  ///< recordings and stores of earlier runs
  std::vector<std::string> where = {};       ///< further conditions on configurations
  std::string configs = "";                  ///< file of the only configurations to try
  std::string system = "";                   ///< one of system_entries() instead of a policy
  std::string models = "";                   ///< the model file; empty: where find_model_file() looks
  std::string model = "";                    ///< for every role; empty: the file's choices
  std::string record_exchanges = "";         ///< folder of exchanges; empty: one beside the store
  std::string replay_exchanges = "";         ///< folder that answers instead of models
  std::string methods = "";                  ///< the user's prompts, strategies and transformations
  std::uint64_t max_tokens = 0;              ///< 0: no limit
  double max_cost = 0;                       ///< 0: no limit
  std::size_t proposals = 1;                 ///< kernels that are written and judged at a time
  std::string from_files = "";               ///< cuda_skill_v2: folder of kernels that someone writes
  double wait = 0;                           ///< for one such file, in seconds; 0: only what is there
  std::size_t iterations = 3, branches = 4;  ///< of cuda_skill_v2, as are the next
  std::size_t rewrites = 3, pairs = 0;
  double noise = 0.02;
  bool from_frontier = false;
  std::string skill = "";    ///< of a resumed run: what repeats its search
  bool no_counters = false;  ///< without Nsight Compute where kernelband would take it
  bool no_learning = false;  ///< not from the store of this run either
  bool no_reuse = false;
  bool json = false;
  bool quiet = false;
};

/// Runs the search and returns the exit code.
int tune(const TuneOptions& options);

}  // namespace kernelsearch::app
