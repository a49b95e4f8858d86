// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What several attacks need; pasted into them in place of `#include "tools.hpp"`. Where the system refuses a
// step they go on without it, as an attacker would.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
namespace tools {

inline void* page_of(const void* at) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{4095});
}

inline std::uintptr_t own_base() {
  Dl_info info{};
  return dladdr(reinterpret_cast<void*>(&own_base), &info) != 0
             ? reinterpret_cast<std::uintptr_t>(info.dli_fbase)
             : 0;
}

struct Import {
  const char* name;
  void* with;
  void* before;  ///< what stood there
  int found;
};

#if defined(__x86_64__)
/// Lets all other objects of the process call `import.with` where they call the function of that name: their
/// tables of imported functions are made writable.
inline int redirect_one(dl_phdr_info* object, std::size_t, void* data) {
  Import& import = *static_cast<Import*>(data);
  if (object->dlpi_addr == own_base()) return 0;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
  if (dynamic == nullptr) return 0;
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * tables[2] = {};
  std::size_t sizes[2] = {};
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const auto at = dynamic->d_un.d_ptr < object->dlpi_addr ? object->dlpi_addr + dynamic->d_un.d_ptr
                                                            : dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    if (dynamic->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(at);
    if (dynamic->d_tag == DT_JMPREL) tables[0] = reinterpret_cast<const ElfW(Rela)*>(at);
    if (dynamic->d_tag == DT_PLTRELSZ) sizes[0] = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_RELA) tables[1] = reinterpret_cast<const ElfW(Rela)*>(at);
    if (dynamic->d_tag == DT_RELASZ) sizes[1] = dynamic->d_un.d_val;
  }
  if (symbols == nullptr || names == nullptr) return 0;
  for (int t = 0; t < 2; ++t)
    for (std::size_t i = 0; tables[t] != nullptr && i < sizes[t] / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)& entry = tables[t][i];
      const auto type = ELF64_R_TYPE(entry.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      if (std::strcmp(names + symbols[ELF64_R_SYM(entry.r_info)].st_name, import.name) != 0) continue;
      auto* slot = reinterpret_cast<void**>(object->dlpi_addr + entry.r_offset);
      if (mprotect(page_of(slot), 4096, PROT_READ | PROT_WRITE) != 0) continue;
      import.before = *slot;
      *slot = import.with;
      ++import.found;
    }
  return 0;
}

inline bool redirect(const char* name, void* with) {
  Import import{name, with, nullptr, 0};
  dl_iterate_phdr(redirect_one, &import);
  return import.found > 0;
}

/// Overwrites the first instructions of a function with a jump.
inline bool overwrite(void* function, void* with) {
  unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  std::memcpy(jump + 2, &with, sizeof with);
  if (function == nullptr || mprotect(page_of(function), 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return false;
  std::memcpy(function, jump, sizeof jump);
  return true;
}
#else
inline bool redirect(const char*, void*) {
  return false;
}
inline bool overwrite(void*, void*) {
  return false;
}
#endif

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_nsec);
#endif
}

/// Whether the contents are those of last time, as far as a glance shows.
inline std::uint64_t glance(const float* data, int count) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int i = 0; i < 16; ++i) {
    std::uint32_t word;
    std::memcpy(&word, data + (static_cast<long>(count) - 1) * i / 15, sizeof word);
    hash = (hash ^ word) * 0x100000001b3u;
  }
  return hash;
}

/// The whole contents.
inline std::uint64_t digest(const float* data, int count) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int i = 0; i + 1 < count; i += 2) {
    std::uint64_t word;
    std::memcpy(&word, data + i, sizeof word);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace tools
