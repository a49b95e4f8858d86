// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <map>
#include <string>

namespace kernelsearch_standin {

/// Counts the calls of every function of a library, and knows from `KERNELSEARCH_STANDIN_FAIL`, e.g.
/// `hipModuleLaunchKernel:3:719,hipMalloc:1:2`, that the third launch ends with error 719 and the first
/// allocation with 2.
class Injection {
 public:
  Injection() {
    const char* text = std::getenv("KERNELSEARCH_STANDIN_FAIL");
    if (text == nullptr) return;
    std::string rest = text;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string one = rest.substr(0, comma);
      rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
      const std::size_t first = one.find(':'), second = one.find(':', first + 1);
      if (first == std::string::npos || second == std::string::npos) continue;
      planned_[{one.substr(0, first), std::atol(one.c_str() + first + 1)}] =
          std::atoi(one.c_str() + second + 1);
    }
  }

  /// Counts a call; the planned error of this one, or 0.
  int count(const char* function) {
    const long calls = ++calls_[function];
    const auto planned = planned_.find({function, calls});
    return planned == planned_.end() ? 0 : planned->second;
  }
  [[nodiscard]] long calls(const char* function) const {
    const auto found = calls_.find(function);
    return found == calls_.end() ? 0 : found->second;
  }

 private:
  std::map<std::pair<std::string, long>, int> planned_;
  std::map<std::string, long> calls_;
};

}  // namespace kernelsearch_standin
