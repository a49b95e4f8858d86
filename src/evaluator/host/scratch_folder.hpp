// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

namespace kernelsearch::detail {

/// A folder for temporary files that only its maker may enter, removed with its owner.
class ScratchFolder {
 public:
  /// `for_nobody`: what runs in a sandbox as nobody may write there, too. DeviceError where none can be made.
  explicit ScratchFolder(bool for_nobody = false);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kernelsearch::detail
