// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/judge/machine.hpp"

#include <sched.h>

#include <fstream>

#include "kernelsearch/core/device_identity.hpp"

namespace kernelsearch {

std::string HostMachine::id() const {
  return model.empty() ? "unknown processor" : model;
}

std::string HostMachine::former_id() const {
  return id() + ", " + std::to_string(cores.size()) + (cores.size() == 1 ? " core" : " cores") +
         (governor.empty() ? "" : ", governor " + governor);
}

HostMachine host_machine() {
  HostMachine machine;
  machine.model = processor_identity();
  std::ifstream("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") >> machine.governor;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(static_cast<std::size_t>(core), &allowed)) machine.cores.push_back(core);
  if (machine.cores.empty()) machine.cores.push_back(0);
  return machine;
}

}  // namespace kernelsearch
