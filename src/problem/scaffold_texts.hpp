// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The files of a new problem. @NAME@, @FUNCTION@ and @COMPILER@ are replaced.
namespace kernelsearch::detail {

inline constexpr const char* scaffold_problem_json = R"json({
  // The version of this format; docs/formats/problem.md explains every key.
  "schema": 1,
  "name": "@NAME@",
  "description": "y = A x: a matrix of n rows and m columns, row by row, times a vector",

  // The extern "C" function to call and the file that holds it, relative to this folder.
  "function": "@FUNCTION@",
  "kernel": {"device": "kernel.cpp"},

  // The parameters of the function, in its order. With a "size" (an expression over the variables of the
  // shapes below) it is an array; without, a scalar that takes the value of the shape variable of its name.
  // Inputs are drawn anew for every check; outputs ("role": "out") are compared with the reference.
  "arguments": [
    {"name": "n", "type": "i32"},
    {"name": "m", "type": "i32"},
    {"name": "a", "type": "f32", "size": "n*m", "init": "uniform", "low": -1, "high": 1},
    {"name": "x", "type": "f32", "size": "m", "init": "uniform", "low": -1, "high": 1},
    {"name": "y", "type": "f32", "size": "n", "role": "out"}
  ],

  // Where the kernel must be right, and how much its speed counts there. Weight 0: checked, not timed. Sizes
  // that nothing divides show whether the kernel forgets the last rows and columns.
  "shapes": [
    {"name": "square", "n": 512, "m": 512, "weight": 1},
    {"name": "wide", "n": 64, "m": 4096, "weight": 1},
    {"name": "odd", "n": 61, "m": 1003, "weight": 0}
  ],

  // What the search may choose. Each becomes a macro of the kernel; ${NAME} puts it into a compiler flag.
  "tunables": {
    "ROWS": [1, 2, 3, 4, 6, 8],          // rows computed together: each x[j] is loaded once for all of them
    "LANES": {"powers_of_two": [1, 64]}, // partial sums of each row: what the compiler can turn into vectors
    "FAST_MATH": ["", "-ffast-math"]     // whether the compiler may reorder sums; an empty flag is dropped
  },
  // What every configuration must satisfy: more sums than this do not fit the registers of any processor.
  "constraints": ["ROWS * LANES <= 256"],
  // Where the search starts; a tunable that is not named here starts at its first value.
  "default": {"ROWS": 1, "LANES": 1},

  // Says what is right: plain C++ in which real is double (or wider) for checking, and the kernel's own type
  // when it is timed as the baseline of the speedup.
  "reference": {"source": "reference.cpp", "function": "@FUNCTION@_reference", "flags": ["-O3"]},
  "build": {"compiler": "@COMPILER@", "flags": ["-O3", "-march=native", "${FAST_MATH}"]},

  // An output may be off by absolute + relative * |expected|.
  "tolerances": {"f32": {"absolute": 1e-4, "relative": 1e-4}},

  // The work of one call, so that results can be shown as rates.
  "operations": "2*n*m",
  "bytes": "4*(n*m + n + m)"
}
)json";

inline constexpr const char* scaffold_kernel =
    R"source(// y = A x. ROWS and LANES are tunables of problem.json: macros that kernelsearch defines.
extern "C" void @FUNCTION@(std::int32_t n, std::int32_t m, const float* a, const float* x, float* y) {
  std::int32_t i = 0;
  for (; i + ROWS <= n; i += ROWS) {
    float sums[ROWS][LANES] = {};
    std::int32_t j = 0;
    for (; j + LANES <= m; j += LANES)
      for (int r = 0; r < ROWS; ++r)
        for (int l = 0; l < LANES; ++l) sums[r][l] += a[std::int64_t(i + r) * m + j + l] * x[j + l];
    for (int r = 0; r < ROWS; ++r) {
      float sum = 0;
      for (int l = 0; l < LANES; ++l) sum += sums[r][l];
      for (std::int32_t k = j; k < m; ++k) sum += a[std::int64_t(i + r) * m + k] * x[k];
      y[i + r] = sum;
    }
  }
  for (; i < n; ++i) {
    float sum = 0;
    for (std::int32_t j = 0; j < m; ++j) sum += a[std::int64_t(i) * m + j] * x[j];
    y[i] = sum;
  }
}
)source";

inline constexpr const char* scaffold_reference =
    R"source(// The plain way to compute the same; real is double when results are checked.
void @FUNCTION@_reference(std::int32_t n, std::int32_t m, const real* a, const real* x, real* y) {
  for (std::int32_t i = 0; i < n; ++i) {
    real sum = 0;
    for (std::int32_t j = 0; j < m; ++j) sum += a[std::int64_t(i) * m + j] * x[j];
    y[i] = sum;
  }
}
)source";

}  // namespace kernelsearch::detail
