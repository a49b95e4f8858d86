// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/ptx_assembler.hpp"

#include <cstdlib>

namespace kernelsearch::detail::gpu {

std::unique_ptr<PtxAssembler> PtxAssembler::load() {
  std::string problem;
  Library library =
      Library::open({std::getenv("KERNELSEARCH_NVJITLINK"), "libnvJitLink.so.13", "libnvJitLink.so.12",
                     "libnvJitLink.so", "/usr/local/cuda/lib64/libnvJitLink.so"},
                    problem);
  if (!library) return nullptr;
  int (*version)(unsigned*, unsigned*) = nullptr;
  unsigned major = 0, minor = 0;
  if (!library.find("nvJitLinkVersion", version) || version(&major, &minor) != 0) return nullptr;
  auto assembler = std::make_unique<PtxAssembler>();
  PtxAssembler& a = *assembler;
  // Its functions carry the number of the release under which their contract last changed.
  const std::string suffix = "_" + std::to_string(major) + "_0";
  const auto get = [&](const char* name, auto& function) {
    return library.find(("__nvJitLink" + (name + suffix)).c_str(), function);
  };
  if (!get("Create", a.create_) || !get("Destroy", a.destroy_) || !get("AddData", a.add_) ||
      !get("Complete", a.complete_) || !get("GetLinkedCubinSize", a.cubin_size_) ||
      !get("GetLinkedCubin", a.cubin_))
    return nullptr;
  a.identity_ = "nvJitLink " + std::to_string(major) + "." + std::to_string(minor);
  library.keep();
  return assembler;
}

std::string PtxAssembler::assemble(std::string_view ptx, std::uint64_t major, std::uint64_t minor) const {
  constexpr int input_ptx = 2;
  const std::string target = "-arch=sm_" + std::to_string(major) + std::to_string(minor);
  const char* options[] = {target.c_str()};
  Linker linker = nullptr;
  if (create_(&linker, 1, options) != 0) return {};
  const std::string text(ptx.substr(0, ptx.find('\0')));
  std::string cubin;
  std::size_t size = 0;
  if (add_(linker, input_ptx, text.c_str(), text.size() + 1, "program") == 0 && complete_(linker) == 0 &&
      cubin_size_(linker, &size) == 0) {
    cubin.resize(size);
    if (cubin_(linker, cubin.data()) != 0) cubin.clear();
  }
  (void)destroy_(&linker);
  return cubin;
}

}  // namespace kernelsearch::detail::gpu
