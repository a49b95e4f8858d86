// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "loaded_module.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "symbols.hpp"

namespace kernelsearch_standin {
namespace {

template <class T>
T symbol(void* handle, const std::string& name) {
  void* const address = dlsym(handle, name.c_str());
  T result = nullptr;
  static_assert(sizeof result == sizeof address);
  std::memcpy(&result, &address, sizeof result);
  return result;
}

}  // namespace

std::unique_ptr<LoadedModule> LoadedModule::load(const void* image, State& state) {
  // As AMD's runtime does, it takes code objects and bundles; a bundle of ours has one after its magic.
  if (std::memcmp(image, bundle_magic, sizeof bundle_magic) == 0)
    image = static_cast<const unsigned char*>(image) + sizeof bundle_magic;
  ImageHeader header;
  std::memcpy(header.magic, image, sizeof header.magic);
  if (std::memcmp(header.magic, image_magic, sizeof image_magic) != 0) return nullptr;
  std::memcpy(&header, image, sizeof header);
  const unsigned char* const object = static_cast<const unsigned char*>(image) + sizeof header;
  std::unique_ptr<LoadedModule> module(new LoadedModule);
  if (!module->open(object, header.bytes)) return nullptr;
  State** const slot = symbol<State**>(module->handle_, "kernelsearch_standin_state");
  if (slot == nullptr) return nullptr;
  *slot = &state;
  module->find_kernels(object, header.bytes, header.kernels, header.warp);
  return module;
}

LoadedModule::~LoadedModule() {
  if (handle_ != nullptr) (void)dlclose(handle_);
  // Only now: while it is open, no other module can get the same path and be taken for this one.
  if (file_ >= 0) (void)close(file_);
}

bool LoadedModule::open(const unsigned char* image, std::size_t bytes) {
  file_ = memfd_create("kernelsearch_standin_module", MFD_CLOEXEC);
  if (file_ < 0) return false;
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t written = write(file_, image + done, bytes - done);
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  const std::string path = "/proc/self/fd/" + std::to_string(file_);
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle_ != nullptr;
}

void LoadedModule::find_kernels(const unsigned char* image, std::size_t bytes, unsigned count,
                                unsigned warp) {
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return;
  const std::vector<ObjectSymbol> symbols = symbols_of(image, bytes);
  std::vector<std::string> functions;
  for (unsigned i = 0; i < count; ++i) {
    using Address = const void* (*)();
    const auto address = symbol<Address>(handle_, "kernelsearch_standin_kernel_" + std::to_string(i));
    functions.push_back(
        address == nullptr ? ""
                           : function_at(symbols, reinterpret_cast<std::uintptr_t>(address()) - map->l_addr));
  }
  void* const* const dynamic = symbol<void* const*>(handle_, "kernelsearch_standin_dynamic");
  for (unsigned i = 0; i < count; ++i) {
    const std::string name = "kernelsearch_standin_call_" + std::to_string(i);
    KernelEntry entry;
    entry.call = symbol<void (*)(void**)>(handle_, name);
    entry.warp = warp;
    if (const auto bound = symbol<unsigned (*)()>(handle_, "kernelsearch_standin_bound_" + std::to_string(i));
        bound != nullptr)
      entry.launch_bound = bound();
    entry.dynamic_shared = dynamic != nullptr ? static_cast<unsigned char*>(*dynamic) : nullptr;
    for (const ObjectSymbol& variable : shared_of(symbols, functions[i], functions)) {
      entry.shared.push_back(
          {reinterpret_cast<unsigned char*>(map->l_addr + variable.address), variable.bytes});
      entry.static_shared += variable.bytes;
    }
    if (entry.call == nullptr) continue;
    kernels_[name] = entry;
    if (!functions[i].empty()) kernels_[functions[i]] = entry;  // as it is called in the code
  }
}

const KernelEntry* LoadedModule::kernel(const std::string& lowered) {
  const auto found = kernels_.find(lowered);
  return found == kernels_.end() ? nullptr : &found->second;
}

ModuleGlobal LoadedModule::global(const char* name) const {
  void* const address = dlsym(handle_, name);
  link_map* map = nullptr;
  Dl_info where{};
  void* extra = nullptr;
  if (address == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return {};
  if (dladdr1(address, &where, &extra, RTLD_DL_SYMENT) == 0 || extra == nullptr) return {};
  if (reinterpret_cast<std::uintptr_t>(where.dli_fbase) != map->l_addr) return {};  // of another library
  const auto* const entry = static_cast<const ElfW(Sym)*>(extra);
  if (ELF64_ST_TYPE(entry->st_info) != STT_OBJECT) return {};
  return {reinterpret_cast<std::uint64_t>(address), entry->st_size};
}

}  // namespace kernelsearch_standin
