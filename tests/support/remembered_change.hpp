// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "kernelsearch/store/remembered_change.hpp"

namespace support {

/// An id whose last characters are those of `number`.
inline std::string change_id(int number) {
  const std::string digits = std::to_string(number);
  return std::string(64 - digits.size(), 'a') + digits;
}

/// A change that made a matrix product twice as fast; all members are set.
inline kernelsearch::RememberedChange changed(int number, const std::string& strategy = "tiling") {
  kernelsearch::RememberedChange change;
  change.id = change_id(number);
  change.at = "2026-01-31T12:00:00.000Z";
  change.problem = "matmul";
  change.problem_digest = "d1";
  change.backend = "host";
  change.traits = {"matmul"};
  change.device = "a processor";
  change.toolchain = "g++ 12 -O3";
  change.system = "stark";
  change.kind = kernelsearch::MoveKind::rewrite;
  change.strategies = {strategy};
  change.prompt = "plan";
  change.prompt_version = "v1";
  change.model = "a-model";
  change.limiter = "bandwidth";
  change.diff = "--- device\n+++ device\n@@ -1,1 +1,1 @@\n-slow" + std::to_string(number) + "\n+fast\n";
  change.settings = "TILE: 8 -> 16\n";
  change.effect = kernelsearch::ChangeEffect{2.0, {1.9, 2.1}, true};
  change.parent_kernel = "p" + std::to_string(number);
  change.kernel = "k" + std::to_string(number);
  return change;
}

/// The same, refused.
inline kernelsearch::RememberedChange failed_change(int number, const std::string& strategy = "tiling") {
  kernelsearch::RememberedChange change = changed(number, strategy);
  change.verdict = kernelsearch::Verdict::build_failed;
  change.progress = 0;
  change.reason = "kernel.cpp:1: error: no " + strategy + std::to_string(number) + "\nmore of it";
  change.effect.reset();
  return change;
}

}  // namespace support
