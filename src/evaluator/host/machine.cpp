// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/machine.hpp"

#include <sched.h>

#include <fstream>

namespace kernelsearch {

std::string HostMachine::id() const {
  return (model.empty() ? std::string("unknown processor") : model) + ", " + std::to_string(cores.size()) +
         (cores.size() == 1 ? " core" : " cores") + (governor.empty() ? "" : ", governor " + governor);
}

HostMachine host_machine() {
  HostMachine machine;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    // x86 gives a name; Arm gives numbers, of which part and implementer tell designs apart
    if (line.rfind("model name", 0) == 0) {
      machine.model = line.substr(colon + 2);
      break;
    }
    if (line.rfind("CPU implementer", 0) == 0) machine.model = "Arm " + line.substr(colon + 2);
    if (line.rfind("CPU part", 0) == 0) {
      machine.model += " " + line.substr(colon + 2);
      break;
    }
  }
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
