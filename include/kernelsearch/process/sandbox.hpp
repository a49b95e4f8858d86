// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelsearch {

/// What keeps compilers and candidates away from the rest of the machine, the weaker ones first.
enum class Sandbox : std::uint8_t {
  none,      ///< limits and system call filter only: for candidates you trust as you trust your own programs
  landlock,  ///< the kernel's Landlock rules on files, sockets and signals; a private folder to write in
  bubblewrap,  ///< own user, mount, pid and network namespaces; system folders read-only; private /tmp
  automatic,  ///< the strongest that works on this machine; where none does, a ConfigError says what to change
};

[[nodiscard]] constexpr std::string_view to_string(Sandbox sandbox) noexcept {
  constexpr std::string_view names[] = {"none", "landlock", "bubblewrap", "auto"};
  return names[static_cast<int>(sandbox)];
}

/// The sandbox of that name; a ConfigError lists those that there are.
[[nodiscard]] Sandbox sandbox_from(std::string_view name);

/// What a sandbox can do on this machine.
struct SandboxStatus {
  bool works = false;
  bool as_nobody = false;  ///< we are root, and what runs inside is not
  std::string path;        ///< of bwrap; empty where it is not installed
  std::string version;     ///< of bwrap, or of Landlock's interface
  std::string problem;     ///< why it does not work
  /// bwrap can give what runs inside a /proc of its own. Inside some containers it cannot; those that need
  /// one see ours instead, read-only.
  bool mounts_proc = false;
};

/// Starts an empty sandbox to see whether it works; asks the machine once and remembers the answer.
/// `Sandbox::none` always works, `Sandbox::automatic` is `resolved` first.
[[nodiscard]] const SandboxStatus& sandbox_status(Sandbox sandbox = Sandbox::bubblewrap);

/// For `automatic` the strongest that works here, never `none`; any other is returned where it works. A
/// ConfigError says why what was asked for does not work, and what to install or allow.
[[nodiscard]] Sandbox resolved(Sandbox sandbox);

/// What a sandbox is on this machine, for people and records, e.g. `bubblewrap 0.8.0` or `landlock, ABI 7`.
[[nodiscard]] std::string description_of(Sandbox sandbox);

}  // namespace kernelsearch
