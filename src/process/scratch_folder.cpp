// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/scratch_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <string>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "kernelsearch-scratch-";

fs::path temporary_parent() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : parent;
}

bool is_still(const fs::path& path, int folder) {
  struct stat named {
  }, held{};
  return lstat(path.c_str(), &named) == 0 && fstat(folder, &held) == 0 && named.st_ino == held.st_ino &&
         named.st_dev == held.st_dev;
}

}  // namespace

ScratchFolder::ScratchFolder(bool for_nobody) {
  const fs::path parent = temporary_parent();
  static std::once_flag cleared;
  std::call_once(cleared, [&parent] { remove_abandoned(parent); });
  const std::string pattern = (parent / (std::string(prefix) + "XXXXXX")).string();
  const auto refuse = [](const std::string& name) {
    raise<DeviceError>("a folder for temporary files cannot be made", name, "set TMPDIR to one with room");
  };
  for (;;) {
    std::string name = pattern;
    if (mkdtemp(name.data()) == nullptr) refuse(pattern);
    lock_ = Descriptor(open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (lock_ && flock(lock_.number(), LOCK_EX) != 0 && errno == EINTR) {
    }
    // A process that clears may have taken it for an abandoned one before it was locked.
    if (lock_ ? !is_still(name, lock_.number()) : errno == ENOENT) continue;
    if (!lock_ || (for_nobody && chown(name.c_str(), nobody, nobody) != 0)) {
      rmdir(name.c_str());
      refuse(name);
    }
    path_ = name;
    return;
  }
}

void ScratchFolder::remove_abandoned(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(prefix)) continue;
    const Descriptor folder(
        open(it->path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat about {};
    if (!folder || fstat(folder.number(), &about) != 0) continue;
    if (about.st_uid != geteuid() && !(geteuid() == 0 && about.st_uid == nobody)) continue;
    // The one who was killed could not remove its folder, but its lock ended with it.
    if (flock(folder.number(), LOCK_EX | LOCK_NB) != 0) continue;
    std::error_code ignored;
    fs::remove_all(it->path(), ignored);
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace kernelsearch::detail
