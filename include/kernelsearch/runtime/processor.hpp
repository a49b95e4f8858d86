// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace kernelsearch {

/// What this machine's processor is called in settings tables and plans: `processor_identity()`, which is
/// also what `tune` records.
[[nodiscard]] std::string processor_name();

}  // namespace kernelsearch
