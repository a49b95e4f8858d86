// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

#include "process/process.hpp"

namespace kernelsearch::detail {

/// A folder for temporary files that only its maker may enter, removed with its owner; where the owner was
/// killed, by the next process of this user that makes one.
class ScratchFolder {
 public:
  /// `for_nobody`: what runs in a sandbox as nobody may write there, too. DeviceError where none can be made.
  explicit ScratchFolder(bool for_nobody = false);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  /// Removes those in `parent` whose owners are no more; each process does so before it makes its first one.
  static void remove_abandoned(const std::filesystem::path& parent);
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor lock_;  ///< says that the owner lives
};

}  // namespace kernelsearch::detail
