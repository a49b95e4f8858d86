// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch::detail {

/// Seconds of the steady clock; headers that time something need no <chrono> for it.
[[nodiscard]] double steady_seconds();

}  // namespace kernelsearch::detail

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/steady_seconds_impl.hpp"
#endif
