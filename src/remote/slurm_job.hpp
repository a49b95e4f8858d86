// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/remote/slurm.hpp"
#include "process/child.hpp"

namespace kernelsearch::remote {

/// Names of nodes as Slurm writes lists of them, e.g. `n[1-3]`. DeviceError where it has none.
[[nodiscard]] std::vector<std::string> slurm_nodes(const std::string& list);

/// Where srun runs a step, as words of a shell: on that node of that job. Both come from the environment or
/// from Slurm; a DeviceError for what is not a name of a job or a node.
[[nodiscard]] std::string slurm_place(const std::string& job, const std::string& node);

/// What a command of Slurm printed; a DeviceError with what it says where it fails.
[[nodiscard]] std::string slurm_output(const std::string& command);

/// A job that salloc has asked for, from the queue to its end. It lives for as long as our end of a pipe is
/// open, so it is given back, or its place in the queue is, also where this program is killed.
class SlurmJob {
 public:
  /// Asks for that many nodes, none of `without`. `keeps`: it goes on where one of them fails.
  SlurmJob(const SlurmRequest& request, std::size_t nodes, bool keeps,
           const std::vector<std::string>& without = {});
  SlurmJob(const SlurmJob&) = delete;
  SlurmJob& operator=(const SlurmJob&) = delete;
  ~SlurmJob() { give_back(); }

  /// Waits until Slurm gives the nodes; false where `stop` is requested before. DeviceError with what Slurm
  /// says where it refuses.
  [[nodiscard]] bool wait(const std::stop_token& stop, const std::function<void(const std::string&)>& say);
  /// Whether it has its nodes still.
  [[nodiscard]] bool is_there();
  void give_back();

  [[nodiscard]] const std::string& number() const noexcept { return number_; }
  [[nodiscard]] const std::vector<std::string>& nodes() const noexcept { return nodes_; }

 private:
  std::optional<detail::Child> holder_;  ///< salloc
  std::string number_;
  std::vector<std::string> nodes_;
};

/// Nodes that we have by any job: a small job may be given a place on one of them, which is not another node.
class HeldNodes {
 public:
  /// Whether it was not held.
  [[nodiscard]] bool add(const std::string& node) {
    const std::lock_guard lock(mutex_);
    return nodes_.insert(node).second;
  }
  void remove(const std::string& node) {
    const std::lock_guard lock(mutex_);
    nodes_.erase(node);
  }
  [[nodiscard]] std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return {nodes_.begin(), nodes_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> nodes_;
};

/// A node that is asked for by a job of its own, and again where that job has ended: by the one who wants it
/// first, for all that wait for it. Thread-safe.
class QueuedNode {
 public:
  QueuedNode(SlurmRequest request, std::shared_ptr<HeldNodes> held,
             std::function<void(const std::string&)> say)
      : request_(std::move(request)), held_(std::move(held)), say_(std::move(say)) {}

  /// Waits for it; what srun is told to be on it, empty where `stop` is requested before. DeviceError where
  /// Slurm refuses it.
  [[nodiscard]] std::string place(const std::stop_token& stop);

 private:
  SlurmRequest request_;
  std::shared_ptr<HeldNodes> held_;
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  std::optional<SlurmJob> job_;
  std::string node_;  ///< of the job; empty: it has none
};

}  // namespace kernelsearch::remote
