// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <system_error>

namespace kernelsearch {
namespace {

std::filesystem::path file_of(const std::filesystem::path& store, RunId run) {
  return store.string() + ".working/" + std::to_string(number(run));
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& store, RunId run) : file_(file_of(store, run)) {
  std::error_code error;
  std::filesystem::create_directories(file_.parent_path(), error);
  // Children must not keep it locked.
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) return;
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor_, 0) != 0 ||
      ::write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    (void)::flock(descriptor_, LOCK_UN);
}

RunLock::~RunLock() {
  if (descriptor_ < 0) return;
  std::error_code error;
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) std::filesystem::remove(file_, error);
  ::close(descriptor_);
}

std::optional<pid_t> RunLock::holder(const std::filesystem::path& store, RunId run) {
  const int descriptor = ::open(file_of(store, run).c_str(), O_RDONLY | O_CLOEXEC);
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

}  // namespace kernelsearch
