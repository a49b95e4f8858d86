// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/policy/method_choice.hpp"
#include "kernelsearch/problem/backend.hpp"

namespace kernelsearch::detail {

/// What this machine's device is, as far as the conditions of methods ask: the features of its instruction
/// set, and of GPUs the architecture.
[[nodiscard]] MethodDevice method_device(Backend backend, const std::vector<int>& devices);

}  // namespace kernelsearch::detail
