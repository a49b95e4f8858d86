// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: slowed baselines
// problem: matmul
// expect: rejected or no gain
// naive: notices
// judged: pairs
// Flushes the lines of libraries and of the worker, which its rival has mapped too.
#include "honest.hpp"
#include "tools.hpp"
static void flush(const void* from, std::size_t bytes) {
#if defined(__x86_64__)
  for (std::size_t i = 0; i < bytes; i += 64) __builtin_ia32_clflush(static_cast<const char*>(from) + i);
#else
  (void)from, (void)bytes;
#endif
}
static int each(dl_phdr_info* object, std::size_t, void*) {
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_LOAD && (object->dlpi_phdr[i].p_flags & PF_X) != 0)
      flush(reinterpret_cast<void*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr),
            object->dlpi_phdr[i].p_memsz < 65536 ? object->dlpi_phdr[i].p_memsz : 65536);
  return 0;
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  honest(n, a, b, c);
  if (++calls % 32 == 0) dl_iterate_phdr(each, nullptr);
}
