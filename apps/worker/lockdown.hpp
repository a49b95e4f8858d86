// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "judge/protocol.hpp"
#include "process/syscall_filter.hpp"

namespace kernelsearch {

/// Sets the limits of resources, given as words of the command line; they stay for good.
inline void limit_resources(const char* address_space_bytes, const char* processes, const char* cpu_seconds) {
  const auto limit = [](int resource, std::uint64_t value) {
    const rlimit both{value, value};
    setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
  };
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CPU, std::strtoull(cpu_seconds, nullptr, 10));
  limit(RLIMIT_AS, std::strtoull(address_space_bytes, nullptr, 10));
  limit(RLIMIT_NPROC, std::strtoull(processes, nullptr, 10));
}

/// Forbids what no kernel needs: new processes and programs, sockets, debugging others, other instruction
/// sets (the process dies by SIGSYS); moving to other cores, another priority or clock, timers, signals to
/// others and memory that other processes can reach (fail with EPERM). It is in force while the candidate is
/// loaded, too, and whatever else the sandbox keeps apart. False where the system refuses.
inline bool lock_down() {
#define KERNELSEARCH_KILL(number) KERNELSEARCH_SYSCALL(number, SECCOMP_RET_KILL_PROCESS)
#define KERNELSEARCH_REFUSE(number) KERNELSEARCH_SYSCALL(number, SECCOMP_RET_ERRNO | EPERM)
  const auto own = static_cast<unsigned>(getpid());
  sock_filter code[] = {
    KERNELSEARCH_SYSCALL_FILTER,
#if defined(__x86_64__)
    KERNELSEARCH_KILL(__NR_fork),
    KERNELSEARCH_KILL(__NR_vfork),
#endif
    KERNELSEARCH_KILL(__NR_execve),
    KERNELSEARCH_KILL(__NR_execveat),
    KERNELSEARCH_KILL(__NR_socket),
    KERNELSEARCH_KILL(__NR_connect),
    KERNELSEARCH_KILL(__NR_bind),
    KERNELSEARCH_KILL(__NR_ptrace),
    KERNELSEARCH_KILL(__NR_process_vm_readv),
    KERNELSEARCH_KILL(__NR_process_vm_writev),
    KERNELSEARCH_KILL(__NR_unshare),
    KERNELSEARCH_KILL(__NR_setns),
    KERNELSEARCH_KILL(__NR_mount),
    KERNELSEARCH_KILL(__NR_bpf),
    KERNELSEARCH_KILL(__NR_io_uring_setup),
    KERNELSEARCH_KILL(__NR_perf_event_open),
    KERNELSEARCH_KILL(__NR_seccomp),
    KERNELSEARCH_REFUSE(__NR_sched_setaffinity),
    KERNELSEARCH_REFUSE(__NR_sched_setscheduler),
    KERNELSEARCH_REFUSE(__NR_sched_setparam),
    KERNELSEARCH_REFUSE(__NR_sched_setattr),
    KERNELSEARCH_REFUSE(__NR_setpriority),
    KERNELSEARCH_REFUSE(__NR_ioprio_set),
    KERNELSEARCH_REFUSE(__NR_personality),
    KERNELSEARCH_REFUSE(__NR_kill),
    KERNELSEARCH_REFUSE(__NR_tkill),
    KERNELSEARCH_REFUSE(__NR_rt_sigqueueinfo),
    KERNELSEARCH_REFUSE(__NR_rt_tgsigqueueinfo),
    KERNELSEARCH_REFUSE(424),  // pidfd_send_signal
    KERNELSEARCH_REFUSE(434),  // pidfd_open
    KERNELSEARCH_REFUSE(438),  // pidfd_getfd
    KERNELSEARCH_REFUSE(__NR_shmget),
    KERNELSEARCH_REFUSE(__NR_shmat),
    KERNELSEARCH_REFUSE(__NR_msgget),
    KERNELSEARCH_REFUSE(__NR_semget),
    KERNELSEARCH_REFUSE(__NR_mq_open),
    KERNELSEARCH_REFUSE(__NR_add_key),
    KERNELSEARCH_REFUSE(__NR_keyctl),
    KERNELSEARCH_REFUSE(__NR_userfaultfd),
    // A timer that is set while the candidate is loaded would run it between its calls.
    KERNELSEARCH_REFUSE(__NR_setitimer),
    KERNELSEARCH_REFUSE(__NR_timer_create),
    KERNELSEARCH_REFUSE(__NR_timerfd_create),
#if defined(__x86_64__)
    KERNELSEARCH_REFUSE(__NR_alarm),
#endif
    // A process chooses how its branches are predicted, and so its speed.
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_prctl, 0, 4),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SPECULATION_CTRL, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    KERNELSEARCH_SYSCALL(__NR_clone3, SECCOMP_RET_ERRNO | ENOSYS),  // its flags are out of reach: use clone
    // abort() signals itself.
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_tgkill, 0, 4),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
#undef KERNELSEARCH_REFUSE
#undef KERNELSEARCH_KILL
  return detail::filter_syscalls(code);
}

/// After the candidate is loaded: only what computing needs, its memory, its own threads where the problem
/// declares some, and the socket to the controller. Everything else fails with EPERM, or ends the process
/// where `lock_down` says so. Without timers, signal handlers, sleep and files nothing of a candidate runs
/// but in its calls, and all that runs in them takes processor time. False where the system refuses.
inline bool allow_only_computing(bool threads) {
#define KERNELSEARCH_ARGUMENT(index) \
  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, args) + 8 * (index)))
#define KERNELSEARCH_ALLOW(number) KERNELSEARCH_SYSCALL(number, SECCOMP_RET_ALLOW)
// Where the argument is as given, else EPERM.
#define KERNELSEARCH_ALLOW_WITH(number, index, value)                                \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4), KERNELSEARCH_ARGUMENT(index), \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(value), 0, 1),       \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
// Where no memory becomes executable.
#define KERNELSEARCH_ALLOW_NO_CODE(number)                                                                 \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4), KERNELSEARCH_ARGUMENT(2),                           \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
// For a problem with threads.
#define KERNELSEARCH_ALLOW_THREADS(number) \
  KERNELSEARCH_SYSCALL(number, threads ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM)
  const auto own = static_cast<unsigned>(getpid());
  constexpr unsigned no_syscall = 0xffff;
  sock_filter code[] = {
    KERNELSEARCH_SYSCALL_FILTER,
    KERNELSEARCH_ALLOW_WITH(__NR_recvfrom, 0, host_protocol::socket_fd),
    KERNELSEARCH_ALLOW_WITH(__NR_sendto, 0, host_protocol::socket_fd),
    KERNELSEARCH_ALLOW_NO_CODE(__NR_mmap),
    KERNELSEARCH_ALLOW_NO_CODE(__NR_mprotect),
    KERNELSEARCH_ALLOW(__NR_munmap),
    KERNELSEARCH_ALLOW(__NR_mremap),
    KERNELSEARCH_ALLOW(__NR_madvise),
    KERNELSEARCH_ALLOW(__NR_brk),
    KERNELSEARCH_ALLOW(__NR_exit),
    KERNELSEARCH_ALLOW(__NR_exit_group),
    KERNELSEARCH_ALLOW(__NR_restart_syscall),
    KERNELSEARCH_ALLOW(__NR_rt_sigreturn),
    KERNELSEARCH_ALLOW(__NR_rt_sigprocmask),
    KERNELSEARCH_ALLOW_WITH(__NR_tgkill, 0, own),  // abort()
    KERNELSEARCH_ALLOW(__NR_write),                // only standard output is open, and leads nowhere
    KERNELSEARCH_ALLOW(__NR_writev),
    KERNELSEARCH_ALLOW(__NR_fstat),
    KERNELSEARCH_ALLOW(__NR_clock_gettime),
    KERNELSEARCH_ALLOW(__NR_gettimeofday),
    KERNELSEARCH_ALLOW(__NR_getrandom),
    KERNELSEARCH_ALLOW(__NR_getpid),
    KERNELSEARCH_ALLOW(__NR_gettid),
    KERNELSEARCH_ALLOW(__NR_getcpu),
    KERNELSEARCH_ALLOW(__NR_getrusage),
    KERNELSEARCH_ALLOW(__NR_uname),
    KERNELSEARCH_ALLOW(__NR_sysinfo),
    KERNELSEARCH_ALLOW(__NR_sched_yield),
    KERNELSEARCH_ALLOW(__NR_sched_getaffinity),
#if defined(__x86_64__)
    KERNELSEARCH_ALLOW(__NR_arch_prctl),  // permission for wide registers (AMX)
#endif
    KERNELSEARCH_ALLOW_THREADS(__NR_clone),
    KERNELSEARCH_SYSCALL(__NR_clone3, SECCOMP_RET_ERRNO | ENOSYS),
    KERNELSEARCH_ALLOW_THREADS(__NR_set_robust_list),
    KERNELSEARCH_ALLOW_THREADS(__NR_rseq),
    KERNELSEARCH_ALLOW_THREADS(__NR_sched_getparam),
    KERNELSEARCH_ALLOW_THREADS(__NR_sched_getscheduler),
    KERNELSEARCH_ALLOW(threads ? __NR_futex : no_syscall),
    // One thread alone that waits until some time sleeps, which takes no processor time.
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_futex, 0, 9),
    KERNELSEARCH_ARGUMENT(1),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FUTEX_CMD_MASK & 0x7fu),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAKE, 4, 0),
    KERNELSEARCH_ARGUMENT(3),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0u, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offsetof(seccomp_data, args) + 8 * 3 + 4)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0u, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
#undef KERNELSEARCH_ALLOW_THREADS
#undef KERNELSEARCH_ALLOW_NO_CODE
#undef KERNELSEARCH_ALLOW_WITH
#undef KERNELSEARCH_ALLOW
#undef KERNELSEARCH_ARGUMENT
  return detail::filter_syscalls(code);
}

}  // namespace kernelsearch
