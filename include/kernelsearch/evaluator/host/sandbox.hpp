// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelsearch {

/// What keeps compilers and candidates away from the rest of the machine.
enum class Sandbox : std::uint8_t {
  bubblewrap,  ///< own user, mount, pid and network namespaces; system folders read-only; private /tmp
  none,  ///< limits and system call filter only: for candidates you trust as you trust your own programs
};

[[nodiscard]] constexpr std::string_view to_string(Sandbox sandbox) noexcept {
  return sandbox == Sandbox::bubblewrap ? "bubblewrap" : "none";
}

/// What bubblewrap can do on this machine.
struct SandboxStatus {
  bool works = false;
  bool as_nobody = false;  ///< we are root, and what runs inside is not
  std::string path;        ///< of bwrap; empty where it is not installed
  std::string version;
  std::string problem;  ///< why it does not work
};

/// Starts an empty sandbox to see what works; asks the machine once and remembers the answer.
[[nodiscard]] const SandboxStatus& sandbox_status();

}  // namespace kernelsearch
