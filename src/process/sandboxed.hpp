// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/process/sandbox.hpp"
#include "process/process.hpp"

namespace kernelsearch::detail {

/// A file whose contents appear inside the sandbox under a path of their own.
struct Inserted {
  int descriptor = -1;  ///< readable, at its beginning
  std::string inside;   ///< path in the sandbox
  std::string outside;  ///< where it is without a sandbox
  bool executable = false;
};

/// What runs inside the sandbox.
struct Boxed {
  std::vector<std::string> argv;                 ///< paths as seen inside
  std::vector<std::pair<int, int>> descriptors;  ///< number inside, our descriptor; below 8
  std::vector<Inserted> files;
  std::vector<std::filesystem::path> readable;  ///< further folders, visible under their own names
  std::vector<int> cores;
  std::vector<std::pair<int, std::uint64_t>> limits;  ///< of everything inside
  std::uint64_t temporary_bytes = std::uint64_t{1} << 20;
  bool devices = false;          ///< sees the machine's devices, /proc and /sys, and may outlive its thread
  bool processes = false;        ///< sees its own processes in /proc
  bool own_processes = false;    ///< the same, but never others' as well: nothing where /proc has them
  bool outlives_thread = false;  ///< it watches its connection to us instead
  /// Folders outside with the names that they have inside; without namespaces they keep their own.
  std::vector<std::pair<std::filesystem::path, std::string>> folders;
  std::filesystem::path scratch;  ///< where it may write where it has no /tmp of its own; see ScratchFolder
  std::vector<std::string> environment;  ///< `NAME=value`
};

/// The number that the first inserted file has in the child; above what runs inside may want.
inline constexpr int first_inserted = 8;

/// The launch of `boxed` in that sandbox; a ConfigError says how to get one that does not work.
[[nodiscard]] Launch launch_in(Sandbox sandbox, const Boxed& boxed);

/// Where `boxed.files[index]` is found by what runs inside.
[[nodiscard]] std::string path_in(Sandbox sandbox, const Boxed& boxed, std::size_t index = 0);

/// The folder to write in as what runs inside names it.
[[nodiscard]] std::string temporary_folder(Sandbox sandbox, const Boxed& boxed);

}  // namespace kernelsearch::detail
