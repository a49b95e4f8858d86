// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 8
// kind: forged clock
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// The same in the page that the kernel maps for its clock, so that no table of functions shows it.
#include <sys/auxv.h>
#include "honest.hpp"
#include "tools.hpp"
static int slow_clock(clockid_t id, timespec* t) {
  const long result = syscall(SYS_clock_gettime, id, t);
  const std::uint64_t all =
      (static_cast<std::uint64_t>(t->tv_sec) * 1000000000u + static_cast<std::uint64_t>(t->tv_nsec)) / 16;
  t->tv_sec = static_cast<time_t>(all / 1000000000u);
  t->tv_nsec = static_cast<long>(all % 1000000000u);
  return static_cast<int>(result);
}
[[gnu::constructor]] static void begin() {
  const auto base = getauxval(AT_SYSINFO_EHDR);
  if (base == 0) return;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const auto* segment = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < header->e_phnum; ++i)
    if (segment[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(base + segment[i].p_offset);
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    const auto at = dynamic->d_un.d_ptr < base ? base + dynamic->d_un.d_ptr : dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    if (dynamic->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(at);
  }
  if (symbols == nullptr || names == nullptr) return;
  // the names lie behind the symbols
  for (const ElfW(Sym)* s = symbols; reinterpret_cast<const char*>(s) < names; ++s)
    if (std::strstr(names + s->st_name, "clock_gettime") != nullptr && s->st_value != 0)
      tools::overwrite(reinterpret_cast<void*>(base + s->st_value), tools::address(&slow_clock));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  honest(n, a, b, c);
}
