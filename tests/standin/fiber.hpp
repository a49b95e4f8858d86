// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#if !defined(__x86_64__) || defined(KERNELSEARCH_STANDIN_UCONTEXT)
#  include <ucontext.h>
#endif

namespace kernelsearch_standin {

/// A line of execution with a stack of its own, which calls `body(argument)` whenever it is entered anew and
/// comes back by `leave`. On x86-64 switching takes some ten instructions; swapcontext, used elsewhere, asks
/// the system about signals each time.
class Fiber {
 public:
  using Body = void (*)(void* argument);

  Fiber(Body body, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs it until it leaves.
  void enter();
  /// From inside: back to where it was entered.
  void leave();

  static constexpr std::size_t stack_bytes = 128 * 1024;  ///< the lowest page is a guard

 private:
  static void start();

  Body body_;
  void* argument_;
  unsigned char* stack_;
#if !defined(__x86_64__) || defined(KERNELSEARCH_STANDIN_UCONTEXT)
  ucontext_t inside_{}, outside_{};
#else
  void* inside_ = nullptr;
  void* outside_ = nullptr;
#endif
};

}  // namespace kernelsearch_standin
