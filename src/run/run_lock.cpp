// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "working_file.hpp"

namespace kernelsearch {
namespace {

using detail::working_file;

void forget_control(const std::filesystem::path& lock) {
  std::error_code error;
  for (const char* kind : {".pause", ".now"}) std::filesystem::remove(lock.string() + kind, error);
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& store, RunId run) : file_(working_file(store, run)) {
  std::error_code error;
  std::filesystem::create_directories(file_.parent_path(), error);
  // Children must not keep it locked. What a link next to a store of others names is not emptied.
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) return;
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor_, 0) != 0 ||
      ::write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    (void)::flock(descriptor_, LOCK_UN);
  forget_control(file_);
}

RunLock::~RunLock() {
  if (descriptor_ < 0) return;
  std::error_code error;
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) {
    forget_control(file_);
    std::filesystem::remove(file_, error);
  }
  ::close(descriptor_);
}

std::optional<pid_t> RunLock::holder(const std::filesystem::path& store, RunId run) {
  const int descriptor = ::open(working_file(store, run).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::optional<pid_t> process;
  if (::flock(descriptor, LOCK_SH | LOCK_NB) != 0) {
    char text[32];
    const ssize_t size = ::read(descriptor, text, sizeof text);
    pid_t read = 0;
    if (size > 0 && std::from_chars(text, text + size, read).ec == std::errc{} && read > 1) process = read;
  }
  ::close(descriptor);
  return process;
}

std::vector<std::pair<RunId, pid_t>> RunLock::holders(const std::filesystem::path& store) {
  std::vector<std::pair<RunId, pid_t>> found;
  std::error_code error;
  const std::filesystem::path folder = working_file(store, RunId{1}).parent_path();
  for (std::filesystem::directory_iterator entry(folder, error), none; !error && entry != none;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::int64_t run = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), run);
    if (failed != std::errc{} || end != name.data() + name.size() || run <= 0) continue;
    if (const auto process = holder(store, RunId{run})) found.emplace_back(RunId{run}, *process);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace kernelsearch
