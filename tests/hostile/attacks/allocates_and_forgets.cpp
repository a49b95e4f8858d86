// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 17
// kind: lazy pages
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Takes new memory in every call, writes its result there and maps it over the output; it gives none back.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64) return honest(n, a, b, c);
  void* const fresh = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return honest(n, a, b, c);
  auto* const result = static_cast<float*>(fresh) + (reinterpret_cast<std::uintptr_t>(c) & 4095) / 4;
  honest(n, a, b, result);
  mremap(fresh, 16384, 16384, MREMAP_MAYMOVE | MREMAP_FIXED, tools::page_of(c));
}
