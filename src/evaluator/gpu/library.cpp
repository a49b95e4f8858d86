// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/library.hpp"

#include <dlfcn.h>

namespace kernelsearch::detail::gpu {

Library Library::open(std::initializer_list<const char*> names, std::string& problem) {
  Library library;
  std::string tried;
  for (const char* name : names) {
    if (name == nullptr || *name == '\0') continue;
    library.handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ != nullptr) {
      library.path_ = name;
      return library;
    }
    const char* error = dlerror();
    tried += (tried.empty() ? "" : "; ") + std::string(error != nullptr ? error : name);
  }
  problem = tried;
  return library;
}

Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* Library::address(const char* name) const {
  return dlsym(handle_, name);
}

}  // namespace kernelsearch::detail::gpu
