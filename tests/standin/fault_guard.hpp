// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <csetjmp>
#include <csignal>

namespace kernelsearch_standin {

/// While it lives, faults of the calling thread end the code that `run` executes, with the error that HIP has
/// for them: 700 for memory, 719 for the rest.
class FaultGuard {
 public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;

  /// 0, or the error with which `body(argument)` ended. What it had on its stacks is abandoned.
  [[nodiscard]] int run(void (*body)(void*), void* argument);
  /// From inside `run`, on whatever stack: ends it with this error.
  [[noreturn]] static void fail(int status);

 private:
  static void handle(int signal, siginfo_t* info, void* context);

  static constexpr int signals_[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  static constexpr int count_ = 5;
  struct sigaction before_[count_] = {};
  stack_t stack_before_{};
  alignas(16) unsigned char stack_[64 * 1024];
  sigjmp_buf out_;
  bool inside_ = false;
};

}  // namespace kernelsearch_standin
