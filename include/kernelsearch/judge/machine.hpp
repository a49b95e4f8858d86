// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace kernelsearch {

/// The processor that host kernels are measured on.
struct HostMachine {
  std::string model;       ///< `processor_identity()`
  std::string governor;    ///< of its clock; empty where the system does not say
  std::vector<int> cores;  ///< that this process may use, ascending

  /// The device's identity, equal on machines whose measurements may stand for each other: the model, and
  /// nothing that affinity or the clock's governor changes.
  [[nodiscard]] std::string id() const;
  /// What version 0.1 called it: with the number of cores and the governor. Results are found under it, too.
  [[nodiscard]] std::string former_id() const;
};

/// Asks the operating system.
[[nodiscard]] HostMachine host_machine();

}  // namespace kernelsearch
