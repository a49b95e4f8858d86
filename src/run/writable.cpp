// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "writable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what, const fs::path& path, const std::string& why) {
  raise<ConfigError>(what + " could not be written", path.string() + ": " + why,
                     "make it writable or name another place; nothing was measured yet");
}

}  // namespace

void require_writable_folder(const fs::path& folder, const std::string& what) {
  // The topmost folder that is made here goes again with all below it.
  fs::path made;
  std::error_code error;
  for (fs::path at = fs::absolute(folder); !fs::exists(at, error) && at.has_relative_path();
       at = at.parent_path())
    if (!at.filename().empty()) made = at;
  fs::create_directories(folder, error);
  std::string why = error ? error.message() : "";
  if (why.empty()) {
    // Permissions say nothing of read-only file systems or of root, so one is really written.
    std::string probe = (folder / ".kernelsearch_XXXXXX").string();
    const int file = ::mkstemp(probe.data());
    if (file < 0) why = std::strerror(errno);
    if (file >= 0) {
      ::close(file);
      ::unlink(probe.c_str());
    }
  }
  if (!made.empty()) fs::remove_all(made, error);
  if (!why.empty()) refuse(what, folder, why);
}

void require_writable_file(const fs::path& file, const std::string& what) {
  std::error_code error;
  const bool there = fs::exists(file, error);
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (opened < 0) refuse(what, file, std::strerror(errno));
  ::close(opened);
  if (!there) fs::remove(file, error);
}

}  // namespace kernelsearch::detail
