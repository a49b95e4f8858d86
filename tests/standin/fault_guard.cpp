// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fault_guard.hpp"

namespace kernelsearch_standin {
namespace {
thread_local FaultGuard* current = nullptr;
}

FaultGuard::FaultGuard() {
  stack_t stack{};
  stack.ss_sp = stack_;
  stack.ss_size = sizeof stack_;
  (void)sigaltstack(&stack, &stack_before_);
  struct sigaction action {};
  action.sa_sigaction = &FaultGuard::handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  (void)sigemptyset(&action.sa_mask);
  for (int i = 0; i < count_; ++i) (void)sigaction(signals_[i], &action, &before_[i]);
  current = this;
}

FaultGuard::~FaultGuard() {
  current = nullptr;
  for (int i = 0; i < count_; ++i) (void)sigaction(signals_[i], &before_[i], nullptr);
  (void)sigaltstack(&stack_before_, nullptr);
}

int FaultGuard::run(void (*body)(void*), void* argument) {
  const int status = sigsetjmp(out_, 1);
  if (status == 0) {
    inside_ = true;
    body(argument);
  }
  inside_ = false;
  return status;
}

void FaultGuard::fail(int status) {
  siglongjmp(current->out_, status);
}

void FaultGuard::handle(int signal, siginfo_t*, void*) {
  if (current != nullptr && current->inside_)
    siglongjmp(current->out_, signal == SIGSEGV || signal == SIGBUS ? 700 : 719);
  // Another thread's, or not of a kernel: as it would be without a guard.
  (void)std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

}  // namespace kernelsearch_standin
