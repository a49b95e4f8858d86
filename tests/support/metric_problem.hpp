// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "kernelsearch/problem/read_problem.hpp"

namespace support {

/// Solves x^3 + x = a for each a, by halving (40 steps) or Newton's method (8 steps). It says how many steps
/// all of them took together, and what the mean of the roots is. The steps are not checked. The shapes have
/// 100 and 400 equations and the weights 1 and 2.
inline constexpr const char* metric_problem_text = R"json({
  "schema": 1, "name": "roots", "function": "roots",
  "arguments": [
    {"name": "n", "type": "i32"}, {"name": "a", "type": "f32", "size": "n", "low": 1, "high": 2},
    {"name": "x", "type": "f32", "size": "n", "role": "out"},
    {"name": "steps", "type": "i64", "size": 1, "role": "out", "check": false},
    {"name": "mean", "type": "f32", "size": 1, "role": "out"}],
  "shapes": [{"name": "few", "n": 100}, {"name": "many", "n": 400, "weight": 2}],
  "tunables": {"NEWTON": [false, true]},
  "build": {"flags": ["-O2"]},
  "kernel": {"device": {"text": [
    "#include <cstdint>",
    "extern \"C\" void roots(int n, const float* a, float* x, std::int64_t* steps, float* mean) {",
    "  double sum = 0;",
    "  std::int64_t count = 0;",
    "  for (int i = 0; i < n; ++i) {",
    "    double low = 0, high = a[i], y = high;",
    "    for (int step = 0; step < (NEWTON ? 8 : 40); ++step, ++count) {",
    "      if (NEWTON) y -= (y * y * y + y - a[i]) / (3 * y * y + 1);",
    "      else { y = (low + high) / 2; (y * y * y + y < a[i] ? low : high) = y; }",
    "    }",
    "    x[i] = static_cast<float>(y);",
    "    sum += y;",
    "  }",
    "  *steps = count;",
    "  *mean = static_cast<float>(sum / n);",
    "}"]}},
  "reference": {"function": "roots_reference", "source": {"text": [
    "#include <cstdint>",
    "void roots_reference(int n, const real* a, real* x, std::int64_t* steps, real* mean) {",
    "  real sum = 0;",
    "  for (int i = 0; i < n; ++i) {",
    "    real y = a[i];",
    "    for (int step = 0; step < 60; ++step) y -= (y * y * y + y - a[i]) / (3 * y * y + 1);",
    "    sum += x[i] = y;",
    "  }",
    "  *steps = 0;",
    "  *mean = sum / n;",
    "}"]}}
})json";

/// What the steps of all shapes come to: as times, the sum weighted by `weight`.
inline constexpr double newton_steps = 8 * (100 + 2 * 400), halving_steps = 40 * (100 + 2 * 400);

inline kernelsearch::Problem metric_problem() {
  return kernelsearch::parse_problem(metric_problem_text, ".");
}

}  // namespace support
