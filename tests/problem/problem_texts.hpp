// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/temporary_folder.hpp"

namespace kernelsearch_test {

/// A problem that uses every part of the format, its sources inline.
inline const char* const full_problem = R"json({
  // comments are allowed
  "schema": 1,
  "name": "matmul",
  "description": "C = A B",
  "backend": "host",
  "function": "matmul",
  "kernel": {"device": {"text": "void matmul() {}"}, "host": null, "macros": {"text": ["#define A 1", "#define B 2"]}},
  "arguments": [
    {"name": "n", "type": "i32"},
    {"name": "twice", "type": "f32", "value": "2*n"},
    {"name": "a", "type": "f32", "size": "n*k", "init": "normal", "mean": 1, "deviation": 0.5},
    {"name": "order", "type": "u16", "size": "k", "init": "permutation"},
    {"name": "work", "type": "f32", "size": "n*TILE", "init": "zeros"},
    {"name": "c", "type": "f32", "size": "n*n", "role": "out", "tolerance": {"absolute": 1e-3}},
    {"name": "d", "type": "f64", "size": "n", "role": "inout", "low": 0, "high": 4}
  ],
  "shapes": [
    {"name": "square", "n": 512, "k": 512},
    {"name": "odd", "n": [61, 63], "k": {"range": [33, 37, 2]}, "weight": 0}
  ],
  "valid": "n % TILE == 0 or TILE < 8",
  "tunables": {
    "TILE": [4, 8, 16], "UNROLL": {"range": [1, 9]}, "P": {"powers_of_two": [16, 256]}, "PAD": [false, true],
    "ORDER": {"permutation": 3}, "FLAG": ["", "-ffast-math"], "X": {"values": [1, 2, 4], "default": 2, "if": "PAD"},
    "SCALE": {"range": [0.5, 1.0, 0.1]}, "GRID": "[2**i for i in range(4)]", "MIX": [1, 2.5]
  },
  "constraints": ["TILE * UNROLL <= 32"],
  "default": {"TILE": 8, "ORDER": [1, 0, 2]},
  "reference": {"source": {"text": "void matmul_reference() {}"}, "function": "matmul_reference", "flags": ["-O2"]},
  "build": {"compiler": "g++", "flags": ["-O3", "${FLAG}"]},
  "tolerances": {"f64": {"absolute": 1e-8, "relative": 1e-8}},
  "aggregate": "geometric_mean", "threads": 2,
  "operations": "2*n*n*k", "bytes": 1024
}
)json";

/// The smallest problem.
inline const char* const small_problem = R"json({
  "schema": 1,
  "name": "fill",
  "function": "fill",
  "kernel": {"device": {"text": "void fill() {}"}},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"n": 1000}]
})json";

/// A device problem that uses every part of the format that host problems have not.
inline const char* const device_problem = R"json({
  "schema": 1, "name": "matmul", "backend": "cuda", "function": "matmul",
  "kernel": {"device": {"text": "void matmul() {}"}},
  "arguments": [
    {"name": "n", "type": "i32"},
    {"name": "k", "type": "i32"},
    {"name": "a", "type": "f16", "size": "n*k"},
    {"name": "map_a", "tensor_map": {"array": "a", "sizes": ["k", "n"], "strides": ["2*k"], "box": ["BK", "BM"],
                                     "swizzle": "2*BK", "promotion": 256}},
    {"name": "filter", "type": "f32", "size": 25, "symbol": "c_filter", "init": "normal"},
    {"name": "partial", "type": "f32", "size": "n*n*SPLIT", "role": "workspace"},
    {"name": "c", "type": "f32", "size": "n*n", "role": "out"},
    {"name": "map_c", "tensor_map": {"array": "c", "sizes": ["n*n"], "box": [64]}}
  ],
  "shapes": [{"name": "large", "n": 4096, "k": 1024}, {"name": "odd", "n": 61, "k": 24, "weight": 0}],
  "valid": "n % 2 == 1 or n % BM == 0",
  "tunables": {"BM": [64, 128], "BK": [32, 64], "SPLIT": [1, 2, 4], "VEC": [1, 2, 4], "NAME": ["reduce", "sum"]},
  "default": {"BK": 64, "SPLIT": 2},
  "launch": [
    {"zero": "partial", "if": "SPLIT > 1"},
    {"function": "matmul", "arguments": ["n", "k", "map_a", "partial"], "grid": ["(n + BM - 1) // BM", "SPLIT"],
     "block": [128], "cluster": [2], "shared_bytes": "4*BM"},
    {"function": "kernels::${NAME}<float, (${VEC} > 1)>", "grid": ["n"], "block": ["32*VEC"], "if": "SPLIT > 1"}
  ],
  "reference": {"source": {"text": "reference"}, "function": "matmul_reference", "flags": ["-DX"],
                "launch": {"grid": ["(n + 15) // 16", "(n + 15) // 16"], "block": [16, 16], "shared_bytes": 2048}},
  "build": {"compiler": "nvcc", "flags": ["-std=c++20", "-DV=${VEC}"]},
  "operations": "2*n*n*k"
}
)json";

inline kernelsearch::Problem parsed(const std::string& text) {
  return kernelsearch::parse_problem(text, ".");
}

/// The message of the ConfigError, or "accepted".
inline std::string refusal(const std::string& text, const std::filesystem::path& folder = ".") {
  try {
    (void)kernelsearch::parse_problem(text, folder);
  } catch (const kernelsearch::ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace kernelsearch_test
