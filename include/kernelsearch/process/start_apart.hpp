// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kernelsearch {

/// Starts a program that outlives this one: in a session of its own, which no signal of our terminal reaches,
/// with our environment and folder, nothing to read and nowhere to write but our standard error. `argv[0]` is
/// a path. Returns its process, which is nobody's to wait for; a ConfigError where it cannot be started.
pid_t start_apart(std::vector<std::string> argv);

}  // namespace kernelsearch
