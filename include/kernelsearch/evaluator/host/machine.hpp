// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace kernelsearch {

/// The processor that host kernels are measured on.
struct HostMachine {
  std::string model;       ///< as the processor names itself
  std::string governor;    ///< of its clock; empty where the system does not say
  std::vector<int> cores;  ///< that this process may use, ascending

  /// Equal on machines whose measurements may stand for each other: model, number of cores and governor.
  [[nodiscard]] std::string id() const;
};

/// Asks the operating system.
[[nodiscard]] HostMachine host_machine();

}  // namespace kernelsearch
