// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "kernelsearch/store/run_info.hpp"

namespace kernelsearch {

/// Says, while it lives, that this process works on a run: a locked file next to the store holds its number.
/// The lock ends with the process however that ends. Where no file can be made nothing is said. What is left
/// of an earlier process's RunControl is removed.
class RunLock {
 public:
  RunLock(const std::filesystem::path& store, RunId run);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// The process that is working on the run; empty if no process is.
  [[nodiscard]] static std::optional<pid_t> holder(const std::filesystem::path& store, RunId run);

  /// The runs of the store that processes work on, by their numbers.
  [[nodiscard]] static std::vector<std::pair<RunId, pid_t>> holders(const std::filesystem::path& store);

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace kernelsearch
