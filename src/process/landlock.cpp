// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/landlock.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernelsearch/core/error.hpp"
#include "process/syscall_filter.hpp"

namespace kernelsearch::detail {
namespace {

// <linux/landlock.h> of Debian 12 knows versions 1 and 2 only; these numbers are the kernel's interface.
constexpr long call_create_ruleset = 444, call_add_rule = 445, call_restrict_self = 446;
constexpr unsigned flag_version = 1;
constexpr int rule_path_beneath = 1;

constexpr std::uint64_t execute = 1u << 0, write_file = 1u << 1, read_file = 1u << 2, read_dir = 1u << 3,
                        refer = 1u << 13, truncate = 1u << 14;
constexpr std::uint64_t all_of_version_1 = (1u << 13) - 1;
constexpr std::uint64_t of_a_file = execute | write_file | read_file | truncate;

struct RuleSet {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scoped = 0;
};

struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};

std::uint64_t handled_files(int version) noexcept {
  return all_of_version_1 | (version >= 2 ? refer : 0) | (version >= 3 ? truncate : 0);
}

[[noreturn]] void fail(const std::string& what) {
  raise<DeviceError>("the rules of a Landlock sandbox cannot be made", what + ": " + std::strerror(errno),
                     "see `kernelsearch doctor`");
}

void allow(int rule_set, std::uint64_t access, int descriptor, const std::string& name) {
  struct stat about {};
  if (fstat(descriptor, &about) == 0 && !S_ISDIR(about.st_mode)) access &= of_a_file;
  const PathBeneath rule{access, descriptor};
  if (syscall(call_add_rule, rule_set, rule_path_beneath, &rule, 0) != 0) fail(name);
}

void allow_path(int rule_set, std::uint64_t access, const std::string& path) {
  const Descriptor place(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (place) allow(rule_set, access, place.number(), path);
}

// Sockets of every kind: Landlock knows only those of TCP. A process that tries gets EPERM, as compilers may
// ask for name services and go on without. CUDA's driver makes no context without a local socket of the kind
// SOCK_SEQPACKET, which it connects to nothing; what uses devices may have that kind, unconnected.
bool deny_sockets(bool devices) noexcept {
  constexpr unsigned denied = SECCOMP_RET_ERRNO | EPERM;
  constexpr unsigned without_devices = 0xffffffffu;  // the number of no system call
  constexpr auto argument = [](unsigned index) { return offsetof(seccomp_data, args) + 8 * index; };
  static_assert(std::endian::native == std::endian::little);  // the lower half of an argument comes first
  sock_filter code[] = {
      KERNELSEARCH_SYSCALL_FILTER,
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, devices ? __NR_socket : without_devices, 0, 7),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(1)),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_SEQPACKET, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, denied),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      KERNELSEARCH_SYSCALL(__NR_socket, denied),
      KERNELSEARCH_SYSCALL(__NR_connect, denied),
      KERNELSEARCH_SYSCALL(__NR_io_uring_setup, denied),  // which can open sockets past this filter
      KERNELSEARCH_SYSCALL(__NR_ptrace, denied),
      KERNELSEARCH_SYSCALL(__NR_process_vm_readv, denied),
      KERNELSEARCH_SYSCALL(__NR_process_vm_writev, denied),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return filter_syscalls(code);
}

}  // namespace

int landlock_version() noexcept {
  const long version = syscall(call_create_ruleset, nullptr, 0, flag_version);
  return version < 0 ? 0 : static_cast<int>(version);
}

Descriptor landlock_rule_set(const LandlockRules& rules) {
  const int version = landlock_version();
  RuleSet wanted{.files = handled_files(version)};
  if (version >= 4) wanted.network = 3;  // binding and connecting of TCP: no rule allows a port
  if (version >= 6) wanted.scoped = 3;   // abstract sockets and signals reach processes inside only
  // An older kernel knows a shorter structure and accepts a longer one whose rest is 0.
  Descriptor made(static_cast<int>(syscall(call_create_ruleset, &wanted, sizeof wanted, 0)));
  if (!made) fail("version " + std::to_string(version));
  constexpr std::uint64_t reading = execute | read_file | read_dir;
  for (const std::string& path : rules.readable) allow_path(made.number(), reading, path);
  for (const std::string& path : rules.writable) allow_path(made.number(), wanted.files, path);
  for (const int file : rules.readable_descriptors) allow(made.number(), reading, file, "a file");
  return made;
}

bool landlock_restrict(int rule_set, bool devices) noexcept {
  // Another user namespace is the price of another network; many systems do not sell it, and Landlock and the
  // filter deny sockets anyway.
  (void)unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC);
  // What changed its user or namespace owns nothing below /proc/self otherwise, where its files are.
  (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(call_restrict_self, rule_set, 0) == 0 &&
         deny_sockets(devices);
}

}  // namespace kernelsearch::detail
