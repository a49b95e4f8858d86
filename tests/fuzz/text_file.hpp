// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace kernelsearch_fuzz {

/// A file in memory with this text, for what reads nothing but files.
class TextFile {
 public:
  explicit TextFile(std::string_view text) : file_(memfd_create("text", MFD_CLOEXEC)) {
    if (file_ < 0 || write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      std::abort();
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() { close(file_); }

  [[nodiscard]] std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace kernelsearch_fuzz
