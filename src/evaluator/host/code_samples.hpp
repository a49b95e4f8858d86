// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernelsearch/core/features.hpp"
#include "kernelsearch/evaluator/host/object_code.hpp"

namespace kernelsearch::detail {

/// Where a kernel was when it was interrupted, and how often there.
struct CodeSample {
  bool outside = false;       ///< in a function that is not in the library
  std::uint64_t address = 0;  ///< of the instruction, or the one that the function returns to; 0: not known
  std::size_t count = 0;
};

/// The samples that the sampling program printed; lines that are not samples are passed over.
[[nodiscard]] std::vector<CodeSample> read_samples(std::string_view output);

/// The features of HostSampler::profile.
[[nodiscard]] Features sampled_features(const ObjectCode& code, const std::vector<CodeSample>& samples);

}  // namespace kernelsearch::detail
