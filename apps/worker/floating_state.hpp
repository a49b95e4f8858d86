// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>

#include "judge/protocol.hpp"

namespace kernelsearch {

/// The registers that decide what arithmetic means and that a function must leave as it found them (System V
/// ABI of x86-64, section 3.2.1; Procedure Call Standard of ARM, section 6.1.2). Sticky flags of exceptions
/// do not count.
#if defined(__x86_64__)

/// As a program finds them when it starts. What a library sets as it is loaded, and whatever an earlier batch
/// did, is undone: a caller's own arithmetic is not the kernel's to change.
inline void set_floating_state() {
  constexpr std::uint32_t csr = 0x1f80;
  constexpr std::uint16_t control = 0x037f;
  asm volatile("ldmxcsr %0\n\tfninit\n\tfldcw %1\n\tcld" ::"m"(csr), "m"(control) : "memory", "cc");
}

/// What is otherwise than `set_floating_state` made it.
inline std::optional<host_protocol::LeftChanged> changed_floating_state() {
  struct alignas(16) State {  // what fxsave writes
    std::uint16_t control, status;
    std::uint8_t used, reserved;
    std::uint16_t opcode;
    std::uint64_t instruction, operand;
    std::uint32_t csr, csr_mask;
    std::uint8_t registers[480];
  } state;
  std::uint64_t flags = 0;
  // The flags first, off the red zone: then the direction is set right for the code that follows.
  asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tpopq %0\n\tlea 128(%%rsp), %%rsp\n\tcld"
               : "=r"(flags)::"memory", "cc");
  asm volatile("fxsave %0" : "=m"(state));
  constexpr std::uint64_t direction = 0x400;
  constexpr std::uint32_t sticky = 0x3f;
  if ((flags & direction) != 0) return host_protocol::direction_flag;
  if ((state.csr & ~sticky) != 0x1f80) return host_protocol::mxcsr;
  // Bit 6 is always set, and reserved.
  if (((state.control ^ 0x037f) & 0x0f3f) != 0) return host_protocol::x87_control;
  if (state.used != 0) return host_protocol::x87_stack;
  return std::nullopt;
}

#elif defined(__aarch64__)

inline void set_floating_state() {
  asm volatile("msr fpcr, %0" ::"r"(std::uint64_t{0}));
}

inline std::optional<host_protocol::LeftChanged> changed_floating_state() {
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  if (control != 0) return host_protocol::fpcr;
  return std::nullopt;
}

#else
#  error "kernelsearch: no floating-point control known for this processor"
#endif

}  // namespace kernelsearch
