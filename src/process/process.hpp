// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelsearch::detail {

/// The user without rights that sandboxed processes of root become.
inline constexpr unsigned nobody = 65534;

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { reset(); }
  void reset() noexcept;
  [[nodiscard]] int number() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_;
};

/// What to start and how. The child gets exactly the descriptors named, its own session and nothing else of
/// ours.
struct Launch {
  std::vector<std::string> argv;                        ///< argv[0] is a path
  std::vector<std::pair<int, int>> descriptors{};       ///< number in the child, our descriptor
  std::vector<int> cores{};                             ///< that it may run on; empty: as we may
  std::vector<std::pair<int, std::uint64_t>> limits{};  ///< resource, value
  bool ends_with_thread = true;                         ///< killed when the thread that started it ends
  bool sees_to_its_end = false;  ///< it asks the kernel itself to be killed with that thread; see launch_in
  bool leaves_nothing = false;   ///< once it has ended, what is left of its process group is killed
  bool as_nobody = false;        ///< give up root first
  std::shared_ptr<const Descriptor> rule_set{};  ///< of Landlock, to be restricted by; null: none
  bool devices = false;                          ///< with rules: it uses the machine's devices
  std::string directory{};                       ///< to start in; empty: ours
  std::vector<std::string> environment{};        ///< `NAME=value` besides PATH and LC_ALL
};

/// A child and everything it started; killed when it goes out of scope.
class Process {
 public:
  Process() = default;
  explicit Process(const Launch& launch);  ///< ConfigError where it cannot be started
  Process(Process&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), leaves_nothing_(other.leaves_nothing_) {}
  Process& operator=(Process&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(leaves_nothing_, other.leaves_nothing_);
    return *this;
  }
  ~Process() { kill(); }

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] bool running() const noexcept { return pid_ > 0; }

  /// Waits up to `seconds` for its end and sets `status` as waitpid does; false when it still runs.
  bool wait(double seconds, int& status);

  /// Ends it and its descendants.
  void kill() noexcept;

 private:
  pid_t pid_ = 0;
  bool leaves_nothing_ = false;
};

/// How `/bin/sh -c command` is started with what the user's own shell would have: `Launch` gives its children
/// a fixed PATH and LC_ALL, as compilers need it, so these two are set by the shell. It outlives the thread
/// that starts it.
[[nodiscard]] Launch shell_launch(const std::string& command, const std::string& folder);

/// The two ends of a pipe, to read from and to write to, which no child gets by accident.
struct PipeEnds {
  Descriptor read, write;
};
/// DeviceError where there are no more descriptors.
[[nodiscard]] PipeEnds make_pipe();

/// Reads and writes return instead of waiting.
void do_not_block(int fd);

/// `write`, to a pipe that nobody reads any more with EPIPE instead of a signal that ends the program.
[[nodiscard]] ssize_t write_quietly(int fd, const char* data, std::size_t size);

/// The processes descended from `root`, itself included, as the kernel lists them now.
[[nodiscard]] std::vector<pid_t> process_tree(pid_t root);

/// The processes that threads of this one have started and that are there; negative where the kernel does not
/// list them by process (CONFIG_PROC_CHILDREN), or it is gone. If one runs meanwhile, it may miss some of
/// several.
[[nodiscard]] int child_count(pid_t pid);

/// The number of threads of a process, 0 when it is gone.
[[nodiscard]] int thread_count(pid_t pid);

/// CPU time of a process, all its threads, ended ones too; negative when unknown.
[[nodiscard]] double cpu_seconds(pid_t pid);

/// Whether every thread of a process is stopped by a signal; true also when it is gone.
[[nodiscard]] bool is_stopped(pid_t pid);

/// How many filters of system calls are in force for a process; negative when unknown (before Linux 5.10).
[[nodiscard]] int filter_count(pid_t pid);

/// A signal by name, e.g. `SIGSEGV (invalid memory access)`.
[[nodiscard]] std::string signal_text(int signal);

/// How a process ended, by a status as waitpid gives it: `was ended by SIGKILL (killed)`.
[[nodiscard]] std::string end_text(int status);

/// A limit of time, e.g. `2.5 s`.
[[nodiscard]] std::string seconds_text(double seconds);

/// A descriptor for an anonymous file with these contents, to hand to a child.
[[nodiscard]] Descriptor open_for_reading(const std::string& path);

/// What a clock of the system shows; negative where it cannot be read.
[[nodiscard]] double clock_seconds(clockid_t clock) noexcept;
[[nodiscard]] double monotonic_seconds() noexcept;

/// Fills memory from the operating system's entropy.
void fill_secret(std::span<std::byte> memory);
/// 64 bits of it.
[[nodiscard]] std::uint64_t secret_seed();

}  // namespace kernelsearch::detail
