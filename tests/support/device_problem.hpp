// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/problem/read_problem.hpp"

/// Small problems of device kernels, written down in tests.
namespace support {

using namespace kernelsearch;

inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c == '"' || c == '\\')
      (result += '\\') += c;
    else
      result += c;
  }
  return result + "\"";
}

/// problem.json in parts, as a test wants to change them; `scale(n, x, y)`: y[i] = 3 x[i] + 1 unless changed.
struct DeviceProblem {
  std::string backend = "hip";
  std::string function = "scale";
  std::string kernel =
      "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = 3 * x[i] + 1;\n"
      "}\n";
  std::string arguments = R"([{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                               {"name": "y", "type": "f32", "size": "n", "role": "out"}])";
  std::string shapes = R"([{"name": "small", "n": 37, "weight": 0}, {"name": "large", "n": 1000}])";
  std::string launch = R"({"grid": ["(n + 127) // 128"], "block": [128]})";
  std::string reference =
      "extern \"C\" __global__ void scale_reference(int n, const real* x, real* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = 3 * x[i] + 1;\n"
      "}\n";
  std::string reference_function = "scale_reference";
  std::string reference_launch = R"({"grid": ["(n + 63) // 64"], "block": [64]})";
  std::string host, macros;  ///< regions, none where empty
  std::string more;          ///< further keys, each after a comma

  [[nodiscard]] std::string text() const {
    std::string json = R"({"schema": 1, "name": "small", "backend": ")" + backend + R"(", "function": ")" +
                       function + R"(", "kernel": {"device": {"text": )" + quoted(kernel) + "}";
    if (!host.empty()) json += R"(, "host": {"text": )" + quoted(host) + "}";
    if (!macros.empty()) json += R"(, "macros": {"text": )" + quoted(macros) + "}";
    json += R"(}, "arguments": )" + arguments + R"(, "shapes": )" + shapes;
    if (!launch.empty()) json += R"(, "launch": )" + launch;
    if (!reference.empty())
      json += R"(, "reference": {"source": {"text": )" + quoted(reference) + R"(}, "function": ")" +
              reference_function + R"(", "launch": )" + reference_launch + "}";
    return json + more + "}";
  }
  [[nodiscard]] Problem parsed() const { return parse_problem(text(), "."); }
};

inline Candidate default_candidate(const Problem& problem) {
  return {std::make_shared<const Kernel>(problem.kernel), problem.kernel.space.default_config()};
}

/// The problem's candidate with another device region.
inline Candidate with_code(const Problem& problem, const std::string& code) {
  Kernel kernel = problem.kernel;
  kernel.regions.device = code;
  return {std::make_shared<const Kernel>(std::move(kernel)), problem.kernel.space.default_config()};
}

}  // namespace support
