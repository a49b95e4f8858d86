// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "guarded.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "evaluator/host/guarded_call.hpp"
#include "load.hpp"
#include "lockdown.hpp"

namespace kernelsearch {
namespace {

using namespace guarded_call;
Call* call = nullptr;
std::byte* arrays[max_arguments];  // where each array begins
std::byte* first[max_arguments];   // the address space of each, guards included
std::byte* last[max_arguments];
std::byte scalars[max_arguments][16];

Access access_of(const void* context) {
#if defined(__x86_64__)
  const auto* state = static_cast<const ucontext_t*>(context);
  return (state->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? Access::write : Access::read;
#else
  (void)context;
  return Access::unknown;
#endif
}

// Async-signal-safe. What is not an access to a guard page ends the process as it would have without us.
void on_fault(int signal, siginfo_t* info, void* context) {
  // For an access that the processor refuses for its alignment there is no address: it is in no array.
  const auto* address = static_cast<const std::byte*>(info->si_addr);
  for (std::uint32_t a = 0; a < call->argument_count; ++a) {
    if (call->arguments[a].is_array == 0 || address < first[a] || address >= last[a]) continue;
    call->argument = a;
    call->distance = address - arrays[a];
    call->access = access_of(context);
    _exit(ended_by_access);
  }
  ::signal(signal, SIG_DFL);
  raise(signal);
}

/// A kernel that handled these itself would hide what it does.
bool keep_handlers() {
  sock_filter code[] = {
      KERNELSEARCH_SYSCALL_FILTER,
      KERNELSEARCH_SYSCALL(__NR_rt_sigaction, SECCOMP_RET_ERRNO | EPERM),
      KERNELSEARCH_SYSCALL(__NR_sigaltstack, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return detail::filter_syscalls(code);
}

bool watch_faults() {
  static std::byte stack[64 << 10];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  return sigaltstack(&other, nullptr) == 0 && sigaction(SIGSEGV, &action, nullptr) == 0 &&
         sigaction(SIGBUS, &action, nullptr) == 0;
}

bool map_array(std::uint32_t a) {
  const Argument& argument = call->arguments[a];
  const std::uint64_t bytes = argument.region_bytes + 2 * guard_bytes;
  void* space = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return false;
  first[a] = static_cast<std::byte*>(space);
  last[a] = first[a] + bytes;
  std::byte* pages = first[a] + guard_bytes;
  arrays[a] = pages + argument.begin;
  return argument.region_bytes == 0 ||
         mmap(pages, argument.region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
              memory_fd, static_cast<off_t>(argument.offset)) != MAP_FAILED;
}

int fail(const char* text) {
  std::snprintf(call->text, sizeof call->text, "%s", text != nullptr ? text : "unknown error");
  return ended_by_loading;
}

}  // namespace

int run_guarded(int argc, char** argv) {
  if (argc != 7) return 2;
  void* shared = mmap(nullptr, sizeof(Call), PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  if (shared == MAP_FAILED) return 3;
  call = static_cast<Call*>(shared);
  limit_resources(argv[2], argv[3], argv[4]);
  static void* table[max_arguments + 1];
  for (std::uint32_t a = 0; a < call->argument_count && a < max_arguments; ++a) {
    if (call->arguments[a].is_array != 0) {
      if (!map_array(a)) return fail("the shared memory cannot be mapped");
      table[a] = arrays[a];
    } else {
      if (pread(memory_fd, scalars[a], sizeof scalars[a], static_cast<off_t>(call->arguments[a].offset)) !=
          static_cast<ssize_t>(sizeof scalars[a]))
        return fail("the shared memory cannot be read");
      table[a] = scalars[a];
    }
  }
  if (!watch_faults() || !keep_handlers() || !lock_down()) return 4;
  const Entry entry = load_entry(argv[5], argv[6]).entry;
  if (entry == nullptr) return fail(dlerror());
  // As where it is timed, so that no kernel knows by what it is refused that it is watched.
  if (!allow_only_computing(call->threads > 1)) return 4;
  entry(table);
  _exit(ended_well);  // what the library does when it is unloaded is not part of a call
}

}  // namespace kernelsearch
