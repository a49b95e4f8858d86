// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "problem/safetensors.hpp"

/// Any bytes are a file whose tensors lie one after another up to its end, or a fault in words.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto length = kernelsearch::detail::try_safetensors_length(file.substr(0, 8), size);
  if (!length) {
    if (length.error().empty()) std::abort();
    return 0;
  }
  if (*length > size - 8) std::abort();
  const auto tensors = kernelsearch::detail::try_safetensors(file.substr(8, *length), size);
  if (!tensors) {
    if (tensors.error().empty()) std::abort();
    return 0;
  }
  std::uint64_t end = 8 + *length;
  for (const auto& tensor : *tensors) {
    if (tensor.offset != end || tensor.bytes > size - end) std::abort();
    end += tensor.bytes;
  }
  if (end != size) std::abort();
  return 0;
}
