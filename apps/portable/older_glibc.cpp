// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What libstdc++, libgcc and libm of the building machine ask of a glibc newer than 2.34, by what 2.34
// has: so programs that are built on Debian 12 (glibc 2.36) also start on Ubuntu 22.04 and RHEL 9. Older
// versions of glibc keep threads and dlopen in other libraries, so they would need another build.
#include <link.h>
#include <sys/random.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

struct Sought {
  std::uintptr_t address;
  std::uintptr_t begin = 0, end = 0;
  void* frames = nullptr;
};

int look_at(dl_phdr_info* object, std::size_t, void* context) {
  Sought& sought = *static_cast<Sought*>(context);
  void* frames = nullptr;
  bool inside = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) frames = reinterpret_cast<void*>(begin);
    if (part.p_type != PT_LOAD || sought.address < begin || sought.address >= begin + part.p_memsz) continue;
    inside = true;
    sought.begin = begin;
    sought.end = begin + part.p_memsz;
  }
  if (!inside) return 0;
  sought.frames = frames;
  return 1;
}

}  // namespace

// For glibc 2.35 and later: <dlfcn.h> declares its like, or nothing.
struct FoundObject {
  unsigned long long flags;
  void* begin;
  void* end;
  link_map* map;
  void* frames;
  unsigned long long reserved[7];
};

extern "C" {

[[gnu::visibility("hidden")]] int kernelsearch_find_object(void* address,
                                                           FoundObject* found) __asm__("_dl_find_object");
int kernelsearch_find_object(void* address, FoundObject* found) {
  Sought sought{.address = reinterpret_cast<std::uintptr_t>(address)};
  if (dl_iterate_phdr(look_at, &sought) == 0 || sought.frames == nullptr) return -1;
  *found = FoundObject{.flags = 0,
                       .begin = reinterpret_cast<void*>(sought.begin),
                       .end = reinterpret_cast<void*>(sought.end),
                       .map = nullptr,
                       .frames = sought.frames,
                       .reserved = {}};
  return 0;
}

// std::random_device.
[[gnu::visibility("hidden")]] std::uint32_t kernelsearch_random_word() __asm__("arc4random");
std::uint32_t kernelsearch_random_word() {
  std::uint32_t word = 0;
  if (getrandom(&word, sizeof word, 0) != static_cast<ssize_t>(sizeof word)) std::abort();
  return word;
}

#if defined(__x86_64__) || defined(__aarch64__)
double kernelsearch_older_hypot(double x, double y);
#  if defined(__x86_64__)
__asm__(".symver kernelsearch_older_hypot, hypot@GLIBC_2.2.5");
#  else
__asm__(".symver kernelsearch_older_hypot, hypot@GLIBC_2.17");
#  endif
[[gnu::visibility("hidden")]] double kernelsearch_hypot(double x, double y) __asm__("hypot");
double kernelsearch_hypot(double x, double y) {
  return kernelsearch_older_hypot(x, y);
}
#endif

}  // extern "C"
