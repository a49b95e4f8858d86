// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "kernelsearch/core/error.hpp"
#include "process/landlock.hpp"

namespace kernelsearch::detail {
namespace {

// Until it executes its program the child shares our memory, whose threads go on: it allocates nothing,
// writes to nothing but its own stack, and calls the kernel itself where the C library would speak to threads
// that the child does not have.
struct Prepared {
  std::vector<char*> argv;
  std::vector<char*> environment;
  cpu_set_t cores;
  pid_t parent = 0;
};

[[noreturn]] void die(int report, int stage) {
  const int message[2] = {stage, errno};
  (void)!write(report, message, sizeof message);
  _exit(127);
}

void end_with_parent(const Launch& launch, const Prepared& prepared) {
  if (!launch.ends_with_thread) return;
  if (!launch.sees_to_its_end) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != prepared.parent) _exit(127);  // it was killed before we asked
}

[[noreturn]] void become(const Launch& launch, const Prepared& prepared, int report) {
  end_with_parent(launch, prepared);
  setsid();
  constexpr int high = 200;  // out of the way of the numbers the child wants
  int moved[16];
  std::size_t count = 0;
  const int rules = launch.rule_set ? fcntl(launch.rule_set->number(), F_DUPFD_CLOEXEC, high) : -1;
  for (const auto& [wanted, ours] : launch.descriptors) {
    if (count == 16) die(report, 1);
    moved[count] = fcntl(ours, F_DUPFD, high);
    if (moved[count++] < 0) die(report, 1);
  }
  const int report_at = fcntl(report, F_DUPFD_CLOEXEC, high);
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
  int last = 2;
  count = 0;
  for (const auto& [wanted, ours] : launch.descriptors) {
    if (dup2(moved[count++], wanted) < 0) die(report_at, 1);
    last = wanted > last ? wanted : last;
  }
  for (int fd = 3; fd <= last; ++fd) {
    bool wanted_here = false;
    for (const auto& descriptor : launch.descriptors) wanted_here |= descriptor.first == fd;
    if (!wanted_here) close(fd);
  }
  // everything above is ours by accident only; the report's descriptor and the rules' close on exec
  const int lower = rules >= 0 && rules < report_at ? rules : report_at;
  const int upper = rules > report_at ? rules : report_at;
  if (lower > last + 1) syscall(SYS_close_range, last + 1, lower - 1, 0);
  if (upper > lower + 1) syscall(SYS_close_range, lower + 1, upper - 1, 0);
  syscall(SYS_close_range, upper + 1, ~0u, 0);

  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int s = 1; s < NSIG; ++s) sigaction(s, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!launch.cores.empty()) sched_setaffinity(0, sizeof prepared.cores, &prepared.cores);
  for (const auto& [resource, value] : launch.limits) {
    const rlimit both{value, value};
    setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
  }
  if (launch.as_nobody) {
    if (syscall(SYS_setgroups, 0, nullptr) != 0 || syscall(SYS_setresgid, nobody, nobody, nobody) != 0 ||
        syscall(SYS_setresuid, nobody, nobody, nobody) != 0)
      die(report_at, 2);
  }
  if (!launch.directory.empty() && chdir(launch.directory.c_str()) != 0) die(report_at, 4);
  if (rules >= 0 && !landlock_restrict(rules, launch.devices)) die(report_at, 5);
  // Changing the user or the namespace cleared it.
  end_with_parent(launch, prepared);
  execve(prepared.argv[0], prepared.argv.data(), const_cast<char**>(prepared.environment.data()));
  die(report_at, 3);
}

/// What the child needs to know, read from the memory of its parent.
struct Start {
  const Launch& launch;
  const Prepared& prepared;
  int report;
};

int run_child(void* start) {
  const Start& given = *static_cast<const Start*>(start);
  become(given.launch, given.prepared, given.report);
}

// Sanitizers know nothing of a second stack in a thread's memory. g++ has macros for them, clang features.
#if defined(__has_feature)
#  define KERNELSEARCH_CLANG_SANITIZES (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#  define KERNELSEARCH_CLANG_SANITIZES 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || KERNELSEARCH_CLANG_SANITIZES
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

/// Whether the child may share our memory until it executes its program. Not where it changes its namespaces,
/// for Landlock: that makes /proc/self root's, for all that share the memory.
bool may_share_memory(const Launch& launch) {
  return !is_sanitized && launch.rule_set == nullptr;
}

/// The child's process number, or what fork returns on an error. To copy the page tables of a process that
/// holds the inputs of a problem took a sixth of a run's processor time: the child shares the memory until it
/// executes its program, and this thread waits for that, as with posix_spawn.
pid_t start_child(Start start) {
  if (!may_share_memory(start.launch)) {
    const pid_t child = fork();
    if (child == 0) run_child(&start);
    return child;
  }
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  // A child that gives up root takes this from the memory that it shares.
  const int dumpable = prctl(PR_GET_DUMPABLE);
  alignas(16) std::array<std::byte, 64 * 1024> stack;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours in a child that shares our memory
  const pid_t child = clone(run_child, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (prctl(PR_GET_DUMPABLE) != dumpable) prctl(PR_SET_DUMPABLE, dumpable);
  errno = error;
  return child;
}

/// What a file of /proc says, at most 4095 bytes.
std::string proc_text(const char* path) {
  char text[4096];
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t got = file ? read(file.number(), text, sizeof text - 1) : -1;
  return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : std::string();
}

/// The fields of a `stat` file of /proc behind the name, from the state on; empty when it is gone.
std::string stat_fields(const char* path) {
  const std::string text = proc_text(path);
  const auto end = text.rfind(") ");  // the name may hold blanks and parentheses
  return end == std::string::npos ? std::string() : text.substr(end + 2);
}

std::string variable(const char* name, const char* standard) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : standard;
}

}  // namespace

Launch shell_launch(const std::string& command, const std::string& folder) {
  constexpr const char* script =
      "PATH=$1; if [ -n \"$2\" ]; then LC_ALL=$2; else unset LC_ALL; fi; exec /bin/sh -c \"$3\"";
  Launch launch{{"/bin/sh", "-c", script, "sh", variable("PATH", "/usr/local/bin:/usr/bin:/bin"),
                 variable("LC_ALL", ""), command}};
  launch.directory = folder;
  // The thread that made it may end before it: runs are stepped from several.
  launch.ends_with_thread = false;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with("PATH=") && !text.starts_with("LC_ALL=")) launch.environment.emplace_back(text);
  }
  return launch;
}

PipeEnds make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    raise<DeviceError>("no pipe could be opened", std::strerror(errno), "close files");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void do_not_block(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

ssize_t write_quietly(int fd, const char* data, std::size_t size) {
  sigset_t pipe_signal, before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t written = ::write(fd, data, size);
  const int error = errno;
  if (written < 0 && error == EPIPE && sigismember(&before, SIGPIPE) == 0) {
    const timespec now{0, 0};
    while (sigtimedwait(&pipe_signal, nullptr, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

void Descriptor::reset() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Process::Process(const Launch& launch) : leaves_nothing_(launch.leaves_nothing) {
  Prepared prepared;
  for (const auto& argument : launch.argv) prepared.argv.push_back(const_cast<char*>(argument.c_str()));
  prepared.argv.push_back(nullptr);
  static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", locale[] = "LC_ALL=C";
  prepared.environment = {path, locale};
  for (const auto& entry : launch.environment)
    prepared.environment.push_back(const_cast<char*>(entry.c_str()));
  prepared.environment.push_back(nullptr);
  prepared.parent = getpid();
  CPU_ZERO(&prepared.cores);
  for (const int core : launch.cores) CPU_SET(static_cast<std::size_t>(core), &prepared.cores);
  PipeEnds report = make_pipe();
  const pid_t child = start_child({launch, prepared, report.write.number()});
  const int error = errno;
  report.write.reset();
  if (child < 0)
    raise<DeviceError>("no process could be started", std::strerror(error), "end other processes");
  pid_ = child;
  int message[2] = {};
  ssize_t got = 0;
  while ((got = read(report.read.number(), message, sizeof message)) < 0 && errno == EINTR) {
  }
  if (got == static_cast<ssize_t>(sizeof message)) {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    constexpr const char* stages[] = {"",
                                      "passing descriptors",
                                      "changing the user",
                                      "executing it",
                                      "entering its folder",
                                      "restricting it with Landlock"};
    raise<ConfigError>("a program could not be started",
                       launch.argv[0] + " (" + stages[message[0]] + ": " + std::strerror(message[1]) + ")",
                       "see `kernelsearch doctor`");
  }
}

bool Process::wait(double seconds, int& status) {
  if (pid_ <= 0) return true;
  const double deadline = monotonic_seconds() + seconds;
  const long opened = syscall(SYS_pidfd_open, pid_, 0);
  const Descriptor handle(opened < 0 ? -1 : static_cast<int>(opened));
  while (true) {
    // Before it is gone, as its number may then be another's: without a pid namespace what it left behind in
    // its session's first group would run on.
    siginfo_t ended{};
    if (leaves_nothing_ && waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid == pid_)
      ::kill(-pid_, SIGKILL);
    const pid_t got = waitpid(pid_, &status, WNOHANG);
    if (got == pid_ || (got < 0 && errno == ECHILD)) {
      pid_ = 0;
      return true;
    }
    const double left = deadline - monotonic_seconds();
    if (left <= 0) return false;
    pollfd ready{handle.number(), POLLIN, 0};
    poll(&ready, handle ? 1 : 0, static_cast<int>(std::clamp(left * 1000, 1.0, handle ? 1000.0 : 5.0)));
  }
}

void Process::kill() noexcept {
  if (pid_ <= 0) return;
  // With a pid namespace the kernel ends all of it; without one this reaches what stayed our descendant.
  for (const pid_t pid : process_tree(pid_))
    if (pid != pid_) ::kill(pid, SIGKILL);
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

std::vector<pid_t> process_tree(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return {root};
  while (const dirent* entry = readdir(proc)) {
    const pid_t pid = static_cast<pid_t>(std::atoi(entry->d_name));
    if (pid <= 0) continue;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int parent = 0;
    char state = 0;
    if (std::sscanf(stat_fields(path).c_str(), "%c %d", &state, &parent) == 2) children.emplace(parent, pid);
  }
  closedir(proc);
  std::vector<pid_t> tree{root};
  for (std::size_t i = 0; i < tree.size(); ++i)
    for (auto [at, end] = children.equal_range(tree[i]); at != end; ++at) tree.push_back(at->second);
  return tree;
}

int child_count(pid_t pid) {
  char path[96];
  std::snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR* tasks = opendir(path);
  if (tasks == nullptr) return -1;
  int count = 0;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    std::snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", pid, entry->d_name);
    const Descriptor file(open(path, O_RDONLY | O_CLOEXEC));
    char text[4096];
    const ssize_t got = file ? read(file.number(), text, sizeof text) : -1;
    if (got < 0) {
      closedir(tasks);
      return -1;
    }
    count += static_cast<int>(std::count(text, text + got, ' '));
  }
  closedir(tasks);
  return count;
}

int thread_count(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR* tasks = opendir(path);
  if (tasks == nullptr) return 0;
  int count = 0;
  while (const dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

bool is_stopped(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR* tasks = opendir(path);
  if (tasks == nullptr) return true;
  bool stopped = true;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    char stat[96];
    std::snprintf(stat, sizeof stat, "/proc/%d/task/%.20s/stat", pid, entry->d_name);
    const std::string fields = stat_fields(stat);
    if (fields.empty()) continue;
    const char state = fields.front();
    if (state != 'T' && state != 't' && state != 'Z' && state != 'X') stopped = false;
  }
  closedir(tasks);
  return stopped;
}

int filter_count(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/status", pid);
  const std::string text = proc_text(path);
  const auto at = text.find("\nSeccomp_filters:");
  return at == std::string::npos ? -1 : std::atoi(text.c_str() + at + 17);
}

double cpu_seconds(pid_t pid) {
  clockid_t clock{};
  return clock_getcpuclockid(pid, &clock) == 0 ? clock_seconds(clock) : -1;
}

std::string end_text(int status) {
  return WIFSIGNALED(status) ? "was ended by " + signal_text(WTERMSIG(status))
                             : "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

std::string seconds_text(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

std::string signal_text(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV (invalid memory access)";
    case SIGBUS:
      return "SIGBUS (invalid memory access)";
    case SIGILL:
      return "SIGILL (illegal instruction)";
    case SIGFPE:
      return "SIGFPE (arithmetic error such as division by zero)";
    case SIGABRT:
      return "SIGABRT (aborted, for instance by an uncaught exception)";
    case SIGXCPU:
      return "SIGXCPU (CPU time limit)";
    case SIGXFSZ:
      return "SIGXFSZ (tried to write a file)";
    case SIGKILL:
      return "SIGKILL (killed)";
    case SIGSYS:
      return "SIGSYS (forbidden system call)";
    default: {
      const char* name = sigabbrev_np(signal);
      return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
    }
  }
}

Descriptor open_for_reading(const std::string& path) {
  return Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

double clock_seconds(clockid_t clock) noexcept {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return -1;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double monotonic_seconds() noexcept {
  return clock_seconds(CLOCK_MONOTONIC_RAW);
}

void fill_secret(std::span<std::byte> memory) {
  while (!memory.empty()) {
    const ssize_t got = getrandom(memory.data(), memory.size(), 0);
    if (got > 0) memory = memory.subspan(static_cast<std::size_t>(got));
  }
}

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
  fill_secret(std::as_writable_bytes(std::span(&seed, 1)));
  return seed;
}

}  // namespace kernelsearch::detail
