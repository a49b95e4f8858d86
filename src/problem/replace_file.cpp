// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>

namespace kernelsearch::detail {
namespace {

namespace fs = std::filesystem;

std::error_code last_error() {
  return {errno != 0 ? errno : EIO, std::generic_category()};
}

/// Creates an empty file of its own next to `file`, also where other threads, processes or machines do the
/// same.
std::optional<fs::path> create_beside(const fs::path& file, ::mode_t mode) {
  static std::atomic<std::uint64_t> count{0};
  for (;;) {
    fs::path draft = file;
    draft += "." + std::to_string(::getpid()) + "." + std::to_string(++count) + ".part";
    const int descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0) {
      ::close(descriptor);
      return draft;
    }
    if (errno != EEXIST) return std::nullopt;
  }
}

bool write_all(const fs::path& file, std::string_view text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  const int error = errno;
  // The disk begins now, without anybody waiting: little is lost when the machine stops.
  (void)::sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
  const bool closed = ::close(descriptor) == 0;
  if (!text.empty()) errno = error;
  return text.empty() && closed;
}

}  // namespace

namespace {

std::error_code replace(const fs::path& file, ::mode_t mode,
                        const std::function<bool(const fs::path&)>& write) {
  errno = 0;
  const std::optional<fs::path> draft = create_beside(file, mode);
  if (!draft) return last_error();
  if (write(*draft) && ::rename(draft->c_str(), file.c_str()) == 0) return {};
  const std::error_code error = last_error();
  ::unlink(draft->c_str());
  return error;
}

}  // namespace

std::error_code replace_file(const fs::path& file, const std::function<bool(const fs::path&)>& write) {
  return replace(file, 0666, write);
}

std::error_code replace_file(const fs::path& file, std::string_view text) {
  return replace(file, 0666, [text](const fs::path& draft) { return write_all(draft, text); });
}

std::error_code replace_private_file(const fs::path& file, std::string_view text) {
  return replace(file, 0600, [text](const fs::path& draft) { return write_all(draft, text); });
}

std::error_code create_private_file(const fs::path& file) {
  errno = 0;
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return errno == EEXIST ? std::error_code() : last_error();
  ::close(descriptor);
  return {};
}

std::error_code create_private_folders(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return {};
  if (const fs::path above = folder.parent_path(); above != folder)
    if (const std::error_code failed = create_private_folders(above)) return failed;
  errno = 0;
  if (::mkdir(folder.c_str(), 0700) == 0 || (errno == EEXIST && fs::is_directory(folder, error))) return {};
  return last_error();
}

}  // namespace kernelsearch::detail
