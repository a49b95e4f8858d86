// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace kernelsearch_standin {

/// What compiling a HIP source for this machine's processor gave.
struct CpuCode {
  bool ok = false;
  std::string log;
  std::vector<char> image;  ///< ImageHeader and a shared object
};

/// Lanes of a warp of the code: 64, or 32 if `KERNELSEARCH_STANDIN_WARP` says so.
[[nodiscard]] unsigned warp_of_target();

/// Compiles with `KERNELSEARCH_STANDIN_CXX` (g++) and a function
/// `kernelsearch_standin_call_<i>` for every name expression. Options that only AMD's compiler knows are
/// dropped, what neither would know is refused. The warp is `KERNELSEARCH_STANDIN_WARP` (64; 32).
[[nodiscard]] CpuCode compile_for_cpu(const std::string& source, const std::string& name,
                                      const std::vector<std::string>& expressions,
                                      const std::vector<std::string>& options);

}  // namespace kernelsearch_standin
