// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <string>

namespace kernelsearch_standin {

/// `source` with `extern __shared__ T name[];` bound to the block's one dynamic memory.
[[nodiscard]] std::string bind_dynamic_shared(const std::string& source);

/// The first argument of __launch_bounds__ of each kernel that has it, by the kernel's name.
[[nodiscard]] std::map<std::string, std::string> launch_bounds(const std::string& source);

}  // namespace kernelsearch_standin
