// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/unused_tunables.hpp"

namespace kernelsearch {

/// What a host problem's own compiler preprocesses the kernel to, in the sandbox, with the flags of each
/// configuration; nothing where it reports an error. A ConfigError where sandbox, compiler or cache
/// directory are not to be had.
[[nodiscard]] Preprocess host_preprocess(const Problem& problem, const HostOptions& options = {});

}  // namespace kernelsearch
