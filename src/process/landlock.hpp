// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "process/process.hpp"

namespace kernelsearch::detail {

/// The version of the kernel's Landlock interface; 0 where there is none or it is switched off.
[[nodiscard]] int landlock_version() noexcept;

/// What a restricted process may still open.
struct LandlockRules {
  std::vector<std::string>
      readable;  ///< files and folders, also to execute; those that are not there are left out
  std::vector<std::string> writable;  ///< folders, with everything below them
  std::vector<int>
      readable_descriptors;  ///< files by descriptor, which a process may open again through /proc/self/fd
};

/// A rule set for `landlock_restrict`, made where memory may still be allocated. Besides files it denies TCP
/// (version 4), and abstract sockets and signals to processes outside (version 6). A DeviceError where the
/// kernel refuses.
[[nodiscard]] Descriptor landlock_rule_set(const LandlockRules& rules);

/// Restricts the calling process for good, denies it sockets, and leaves our network and IPC namespaces where
/// the system lets it. With `devices` it may make local sockets of the kind SOCK_SEQPACKET, as CUDA's driver
/// does, and connect none. Only async-signal-safe calls. False where Landlock refuses.
[[nodiscard]] bool landlock_restrict(int rule_set, bool devices) noexcept;

}  // namespace kernelsearch::detail
