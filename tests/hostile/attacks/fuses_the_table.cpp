// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 10
// kind: fused calls
// problem: chain
// expect: rejected or no gain
// naive: notices
// Reads the table of arguments behind its own call's, and does four calls in one loop, whose steps overlap.
#include "honest.hpp"
#include "tools.hpp"

#include "arena.hpp"  // needs the others
extern "C" void chain(int n, const float* x, float* y) {
  static std::uint64_t number = 0;
  static std::uint32_t at = 0, ahead = 0;
  if (n != 4096 || shared_inputs == nullptr || command.width != 3) return honest(n, x, y);
  if (command.number != number) {
    number = command.number;
    at = ahead = 0;
  }
  auto* const* table = reinterpret_cast<void* const*>(shared_inputs + command.table);
  const std::uint32_t mine = at++;
  if (mine < ahead) return;
  if (mine + 4 > command.calls) return honest(n, x, y);
  const float* in[4];
  float* out[4];
  for (std::uint32_t k = 0; k < 4; ++k) {
    in[k] = static_cast<const float*>(table[(mine + k) * 3 + 1]);
    out[k] = static_cast<float*>(table[(mine + k) * 3 + 2]);
  }
  float last[4] = {};
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 4; ++k) out[k][i] = last[k] = step(last[k], in[k][i]);
  ahead = mine + 4;
}
