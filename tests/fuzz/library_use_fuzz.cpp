// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer: no shared library may crash or hang what reads its tables, and what is fit can be read. A
// corpus: any small shared library.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernelsearch/judge/library_use.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view elf(reinterpret_cast<const char*>(data), size);
  const auto use = kernelsearch::read_library_use(elf);
  if (!kernelsearch::unfit_library(elf, "scale") && !use) std::abort();
  return 0;
}
