// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dlfcn.h>

#include <cstring>

namespace kernelsearch {

using Entry = void (*)(void* const*);

/// A candidate's library as it is loaded.
struct Loaded {
  void* library = nullptr;
  Entry entry = nullptr;  ///< nothing: `dlerror()` says why
};

/// Loads a library that has our entry; with `caller`, one that has not: the caller has the entry and is given
/// the kernel's address, which is looked up in the library alone. Neither sees the other's symbols, and none
/// of this process's own calls goes to either (RTLD_LOCAL).
inline Loaded load_entry(const char* library, const char* caller) {
  Loaded loaded;
  void* holder = nullptr;
  if (*caller != '\0' && (holder = dlopen(caller, RTLD_NOW | RTLD_LOCAL)) == nullptr) return loaded;
  void* const entry = holder != nullptr ? dlsym(holder, "kernelsearch_entry") : nullptr;
  void* const name = holder != nullptr ? dlsym(holder, "kernelsearch_function_name") : nullptr;
  void* const pointer = holder != nullptr ? dlsym(holder, "kernelsearch_function") : nullptr;
  if (holder != nullptr && (entry == nullptr || name == nullptr || pointer == nullptr)) return loaded;
  loaded.library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (loaded.library == nullptr) return loaded;
  void* const found =
      dlsym(loaded.library, holder != nullptr ? static_cast<const char*>(name) : "kernelsearch_entry");
  if (found == nullptr) return loaded;
  if (holder != nullptr) std::memcpy(pointer, &found, sizeof found);
  std::memcpy(&loaded.entry, holder != nullptr ? &entry : &found, sizeof loaded.entry);
  return loaded;
}

}  // namespace kernelsearch
