// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/result.hpp"

namespace kernelsearch::detail {

/// One entry of the header of a .safetensors file.
struct SafeTensor {
  std::string name;
  std::string type;  ///< as the file calls it, e.g. F8_E4M3
  std::vector<std::uint64_t> extents;
  std::uint64_t offset = 0;  ///< of the first element in the file
  std::uint64_t bytes = 0;
};

/// The length of the JSON text behind the first eight bytes, which are given; the error says in words why
/// that is not a header of a file of `file_bytes`.
[[nodiscard]] Result<std::uint64_t, std::string> try_safetensors_length(std::string_view head,
                                                                        std::uint64_t file_bytes);

/// The tensors of a .safetensors file of `file_bytes` from its header's text, in the order of their data.
/// As the format has it (github.com/huggingface/safetensors, README, "Format"): names differ, the data
/// follow one another from the end of the header to the end of the file without gaps and overlaps, and each
/// tensor is as long as its type and its extents say. The error says in words what is wrong, and of which
/// tensor.
[[nodiscard]] Result<std::vector<SafeTensor>, std::string> try_safetensors(std::string_view text,
                                                                           std::uint64_t file_bytes);

}  // namespace kernelsearch::detail
