// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "replace_file.hpp"

#include <fcntl.h>
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

/// Creates an empty file of its own beside `file`, also where other threads, processes or machines do the
/// same.
std::optional<fs::path> create_beside(const fs::path& file) {
  static std::atomic<std::uint64_t> count{0};
  for (;;) {
    fs::path draft = file;
    draft += "." + std::to_string(::getpid()) + "." + std::to_string(++count) + ".part";
    const int descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
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

std::error_code replace_file(const fs::path& file, const std::function<bool(const fs::path&)>& write) {
  errno = 0;
  const std::optional<fs::path> draft = create_beside(file);
  if (!draft) return last_error();
  if (write(*draft) && ::rename(draft->c_str(), file.c_str()) == 0) return {};
  const std::error_code error = last_error();
  ::unlink(draft->c_str());
  return error;
}

std::error_code replace_file(const fs::path& file, std::string_view text) {
  return replace_file(file, [text](const fs::path& draft) { return write_all(draft, text); });
}

}  // namespace kernelsearch::detail
