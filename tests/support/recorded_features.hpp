// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/features.hpp"

namespace scripted {

/// All that Nsight Compute, the disassembler and the roofline gave of a matmul on an H200
/// (bench/results/h200_2026-11-21_skill_matmul.json).
inline kernelsearch::Features h200_profile() {
  std::ifstream file(KERNELSEARCH_SOURCE_DIR "/bench/results/h200_2026-11-21_skill_matmul.json");
  const auto recorded = nlohmann::json::parse(file);
  kernelsearch::Features features;
  for (const auto& [name, value] : recorded["iterv1"]["roofline"]["profile"].items())
    if (value.is_number()) features.set(name, value.get<double>());
  return features;
}

}  // namespace scripted
