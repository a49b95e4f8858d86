// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>

namespace kernelsearch {

/// Forbids what no kernel needs: new processes and programs, sockets, debugging others, other instruction
/// sets (the process dies by SIGSYS), and moving to other cores (fails with EPERM). False where the system
/// refuses.
inline bool lock_down() {
#if defined(__x86_64__)
  constexpr unsigned architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  constexpr unsigned architecture = AUDIT_ARCH_AARCH64;
#else
#  error "kernelsearch-worker: the system calls of this processor are not known"
#endif
#define KERNELSEARCH_WHEN(number, action) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, (action))
#define KERNELSEARCH_KILL(number) KERNELSEARCH_WHEN(number, SECCOMP_RET_KILL_PROCESS)
  sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
#if defined(__x86_64__)
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1),  // the x32 numbering
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
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
    KERNELSEARCH_WHEN(__NR_sched_setaffinity, SECCOMP_RET_ERRNO | EPERM),
    KERNELSEARCH_WHEN(__NR_sched_setscheduler, SECCOMP_RET_ERRNO | EPERM),
    KERNELSEARCH_WHEN(__NR_clone3, SECCOMP_RET_ERRNO | ENOSYS),  // its flags are out of reach: use clone
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
#undef KERNELSEARCH_KILL
#undef KERNELSEARCH_WHEN
  const sock_fprog program{static_cast<unsigned short>(sizeof code / sizeof *code), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace kernelsearch
