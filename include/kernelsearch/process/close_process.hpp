// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace kernelsearch {

/// Closes what the system shows of this process to others of the same user, who have no more rights than it:
/// environment, memory and open files in /proc, and debugging. Code under test sees /proc where a container
/// leaves it no other, and without a sandbox. The price: no core files and no debugger that was not its
/// parent. For programs that have secrets; `kernelsearch` calls it first of all.
void close_process() noexcept;

}  // namespace kernelsearch
