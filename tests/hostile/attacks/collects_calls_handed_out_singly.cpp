// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 13
// kind: early done words
// problem: chain_short
// expect: rejected or no gain
// naive: notices
// Answers for up to four calls that are handed out one by one before any is done, and does them in one loop,
// as it does with the calls of a batch, whose table it reads.
#include "honest.hpp"
#include "tools.hpp"

#include "arena.hpp"  // needs the others
static void fused(const float* const* x, float* const* y) {
  float last[4] = {};
  for (int i = 0; i < 128; ++i)
    for (int k = 0; k < 4; ++k) y[k][i] = last[k] = step(last[k], x[k][i]);
}
static const float* input_of(std::uint32_t slot) {
  auto* const* table = reinterpret_cast<void* const*>(shared_inputs + command.table);
  return static_cast<const float*>(table[slot * command.width + 1]);
}
static float* output_of(std::uint32_t slot) {
  auto* const* table = reinterpret_cast<void* const*>(shared_inputs + command.table);
  return static_cast<float*>(table[slot * command.width + 2]);
}
extern "C" void chain_short(int n, const float* x, float* y) {
  static std::uint64_t done_for = 0;
  if (n != 128 || shared_inputs == nullptr || command.width != 3) return honest(n, x, y);
  const float* in[4] = {x};
  float* out[4] = {y};
  if (one_by_one()) {
    int known = 1;
    for (std::uint64_t now = request().sequence; known < 4; ++known) {
      answer() = now;
      while (request().sequence == now) {
      }
      now = request().sequence;
      const std::uint32_t slot = request().slot;
      if (slot == ~0u) break;
      in[known] = input_of(slot);
      out[known] = output_of(slot);
    }
    if (known == 4) return fused(in, out);
    for (int k = 0; k < known; ++k) honest(n, in[k], out[k]);
    return;
  }
  if (command.number == done_for) return;
  done_for = command.number;
  std::uint32_t at = 0;
  for (; at + 4 <= command.calls; at += 4) {
    for (std::uint32_t k = 0; k < 4; ++k) {
      in[k] = input_of(at + k);
      out[k] = output_of(at + k);
    }
    fused(in, out);
  }
  for (; at < command.calls; ++at) honest(n, input_of(at), output_of(at));
}
