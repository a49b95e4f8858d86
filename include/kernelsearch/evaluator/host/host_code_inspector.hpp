// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/evaluator/host/object_code.hpp"
#include "kernelsearch/process/sandbox.hpp"

namespace kernelsearch {

/// How machine code of the host is read.
struct ObjectCodeOptions {
  std::filesystem::path program{};       ///< objdump; empty: KERNELSEARCH_OBJDUMP, else that of the system
  Sandbox sandbox = Sandbox::automatic;  ///< a candidate may leave anything in its library
  std::vector<int> cores{};              ///< to run on; empty: as we may
  double seconds = 30.0;
};

/// The disassembler that would be used; empty where there is none.
[[nodiscard]] std::filesystem::path find_objdump(const std::filesystem::path& program = {});

/// The features of a candidate's machine code (docs/evidence.md), read by objdump in the sandbox and kept for
/// libraries that were seen before. None where there is no objdump, it fails or takes too long. Thread-safe.
class HostCodeInspector {
 public:
  explicit HostCodeInspector(ObjectCodeOptions options = {});
  HostCodeInspector(HostCodeInspector&&) noexcept;
  HostCodeInspector& operator=(HostCodeInspector&&) noexcept;
  ~HostCodeInspector();

  [[nodiscard]] Features inspect(const HostArtifact& artifact);

  /// The code that a library runs from this function on; a ConfigError where it cannot be read.
  [[nodiscard]] ObjectCode read(const std::filesystem::path& library,
                                const std::string& entry = "kernelsearch_entry") const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch
