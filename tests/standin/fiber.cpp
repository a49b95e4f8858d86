// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace kernelsearch_standin {
namespace {

/// The fiber that is entered for the first time.
thread_local Fiber* starting = nullptr;

unsigned char* new_stack() {
  void* const memory = mmap(nullptr, Fiber::stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  (void)mprotect(memory, 4096, PROT_NONE);
  return static_cast<unsigned char*>(memory);
}

}  // namespace

void Fiber::start() {
  Fiber* const self = starting;
  for (;;) {
    self->body_(self->argument_);
    self->leave();
  }
}

Fiber::~Fiber() {
  (void)munmap(stack_, stack_bytes);
}

#if !defined(__x86_64__) || defined(KERNELSEARCH_STANDIN_UCONTEXT)

Fiber::Fiber(Body body, void* argument) : body_(body), argument_(argument), stack_(new_stack()) {
  (void)getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_;
  inside_.uc_stack.ss_size = stack_bytes;
  makecontext(&inside_, &Fiber::start, 0);
}
void Fiber::enter() {
  starting = this;
  (void)swapcontext(&outside_, &inside_);
}
void Fiber::leave() {
  (void)swapcontext(&inside_, &outside_);
}

#else

extern "C" void kernelsearch_standin_switch(void** save, void* load);
// Saves what a call must preserve, and goes on where the other stack was left.
__asm__(
    ".text\n.hidden kernelsearch_standin_switch\n.globl kernelsearch_standin_switch\n"
    ".type kernelsearch_standin_switch,@function\nkernelsearch_standin_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp,(%rdi)\nmovq %rsi,%rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
    ".size kernelsearch_standin_switch,.-kernelsearch_standin_switch\n");

Fiber::Fiber(Body body, void* argument) : body_(body), argument_(argument), stack_(new_stack()) {
  // Six registers, the address to return to, and a null one behind it, so that the stack is aligned as at a
  // call.
  auto* top = reinterpret_cast<std::uintptr_t*>(stack_ + stack_bytes) - 10;
  for (int i = 0; i < 10; ++i) top[i] = 0;
  top[6] = reinterpret_cast<std::uintptr_t>(&Fiber::start);
  inside_ = top;
}
void Fiber::enter() {
  starting = this;
  kernelsearch_standin_switch(&outside_, inside_);
}
void Fiber::leave() {
  kernelsearch_standin_switch(&inside_, outside_);
}

#endif

}  // namespace kernelsearch_standin
