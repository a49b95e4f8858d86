// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>

/// What filters of system calls are written with; the worker's program, which does without the library, too.
namespace kernelsearch::detail {

#if defined(__x86_64__)
inline constexpr unsigned syscall_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr unsigned syscall_architecture = AUDIT_ARCH_AARCH64;
#else
#  error "kernelsearch: the system calls of this processor are not known"
#endif

// Macros, as a filter is one array of statements.

/// The end by `action` where the system call is `number`.
#define KERNELSEARCH_SYSCALL(number, action) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, (action))

#if defined(__x86_64__)
#  define KERNELSEARCH_NO_OTHER_NUMBERING                               \
    , BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1), /* x32 */ \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#else
#  define KERNELSEARCH_NO_OTHER_NUMBERING
#endif

/// How a filter begins: other instruction sets, which number system calls otherwise, end the process; then
/// the number of the system call is at hand.
#define KERNELSEARCH_SYSCALL_FILTER                                                          \
  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),                          \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kernelsearch::detail::syscall_architecture, 1, 0), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),                                   \
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)) KERNELSEARCH_NO_OTHER_NUMBERING

/// Puts the filter in force for the calling process and all that it starts; false where the system refuses.
template <std::size_t count>
[[nodiscard]] bool filter_syscalls(sock_filter (&code)[count]) noexcept {
  const sock_fprog program{static_cast<unsigned short>(count), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace kernelsearch::detail
