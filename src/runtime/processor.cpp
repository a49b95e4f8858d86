// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/runtime/processor.hpp"

#include <sys/utsname.h>

#include <fstream>

namespace kernelsearch {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t value = line.find_first_not_of(": \t", line.find(':'));
    if (value != std::string::npos) return line.substr(value);
  }
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown";
}

}  // namespace kernelsearch
