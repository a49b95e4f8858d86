// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace judge_bench {

/// What a tool says of two kernels.
struct Said {
  double ratio = 0;       ///< the second one's time by the first one's
  bool differs = false;   ///< as the tool's manual tells to decide
  bool answered = false;  ///< whether it came to a result at all
};

/// Another tool that compares functions, within `seconds` for both together.
struct Tool {
  std::string name;
  std::function<Said(const std::function<void()>& first, const std::function<void()>& second, double seconds)>
      compare;
};

/// Those that this program was built with.
[[nodiscard]] std::vector<Tool> comparing_tools();
/// Those that it was built without, and why.
[[nodiscard]] std::vector<std::string> tools_left_out();

}  // namespace judge_bench
