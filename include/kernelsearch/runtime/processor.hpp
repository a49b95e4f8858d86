// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace kernelsearch {

/// The name that the processor gives itself ("model name" of /proc/cpuinfo), else its architecture.
[[nodiscard]] std::string processor_name();

}  // namespace kernelsearch
