// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/remote/remote_options.hpp"

namespace kernelsearch {

/// What is asked of Slurm.
struct SlurmRequest {
  std::size_t nodes = 1;       ///< that it begins with
  std::size_t most_nodes = 0;  ///< with those that are asked for besides, and join when they come; 0: none
  std::size_t gpus = 0;        ///< of each node
  std::size_t workers = 0;     ///< on each node; 0: one for each GPU, or one
  std::size_t cpus = 0;        ///< of each worker; 0: those of a node are shared by its workers
  /// Options of salloc by name, without dashes: partition, time, account, qos, constraint, reservation, mem.
  std::vector<std::pair<std::string, std::string>> others = {};
};

/// Reads `nodes=4,gpus=2,partition=gpu,time=1:00:00`, or `nodes=2-6,...`. ConfigError for another name or
/// number.
[[nodiscard]] SlurmRequest read_slurm_request(std::string_view text);

/// Seconds of a time as Slurm prints it (`1-02:03:04`, `2:03`, `UNLIMITED`); infinity for other text.
[[nodiscard]] double slurm_seconds(std::string_view text);

/// Nodes of Slurm for as long as it lives: those of the job that this program runs in, else an allocation of
/// its own that is given back, also where this program is killed. Nodes beyond the least are jobs of their
/// own, one each, for as long as what its pools start lives.
class SlurmAllocation {
 public:
  /// Waits for it. DeviceError with what Slurm says where there is none, or where `stop` is requested.
  [[nodiscard]] static SlurmAllocation take(const SlurmRequest& request, const std::stop_token& stop,
                                            const std::function<void(const std::string&)>& say);
  SlurmAllocation(SlurmAllocation&&) noexcept;
  SlurmAllocation& operator=(SlurmAllocation&&) noexcept;
  ~SlurmAllocation();

  /// A pool of workers on each node, also on those that are still to come; `worker` is the program that they
  /// run.
  [[nodiscard]] std::vector<LaunchPool> pools(const std::string& worker) const;
  /// Until the job's time limit, less what the summary needs; infinity where there is none.
  [[nodiscard]] double seconds_left() const;
  [[nodiscard]] const std::string& job() const noexcept;

 private:
  struct Impl;
  explicit SlurmAllocation(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch
