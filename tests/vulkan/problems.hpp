// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/temporary_folder.hpp"

/// Small problems for shaders that tests make wrong on purpose.
namespace vulkan_test {

/// y = scale x + y' with a shared array that nobody needs; `device` names no file, so that messages name the
/// region.
inline const std::string honest_axpy = R"(#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Sizes { int n; float scale; };
shared float part[64];
void axpy() {
  const int i = int(gl_GlobalInvocationID.x);
  part[gl_LocalInvocationID.x] = scale;
  barrier();
  if (i < n) y[i] = part[63 - gl_LocalInvocationID.x] * x[i] + 1.0;
}
)";

inline kernelsearch::Problem problem_of(const std::string& json, const std::string& kernel,
                                        const std::string& reference) {
  const TemporaryFolder folder;
  folder.write("problem.json", json);
  folder.write("kernel.comp", kernel);
  folder.write("reference.comp", reference);
  return kernelsearch::read_problem(folder.path());
}

/// `more`: further arguments, each with a comma before it.
inline kernelsearch::Problem axpy(const std::string& more = {}) {
  return problem_of(R"({
    "schema": 1, "name": "axpy", "backend": "vulkan", "function": "axpy", "kernel": {"device": "kernel.comp"},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "scale", "type": "f32", "value": 2.5},
                  {"name": "x", "type": "f32", "size": "n"}, {"name": "y", "type": "f32", "size": "n", "role": "out"})" +
                        more + R"(],
    "shapes": [{"name": "whole", "n": 65536}, {"name": "odd", "n": 1001, "weight": 0}],
    "tunables": {"UNUSED": [1, 2]},
    "launch": {"grid": ["(n + 63) // 64"], "block": [64]},
    "reference": {"source": "reference.comp", "function": "axpy_reference",
                  "launch": {"grid": ["(n + 63) // 64"], "block": [64]}},
    "tolerances": {"f32": {"absolute": 1e-5}}, "operations": "2*n", "bytes": "8*n"})",
                    honest_axpy, R"(#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { real x[]; };
layout(binding = 1) writeonly buffer Y { real y[]; };
layout(push_constant) uniform Sizes { int n; real scale; };
void axpy_reference() {
  const int i = int(gl_GlobalInvocationID.x);
  if (i < n) y[i] = scale * x[i] + real(1);
}
)");
}

/// The type of an element in GLSL, and what its text needs first.
inline std::string glsl_type(const std::string& type, std::string& extensions) {
  const std::string bits = type.substr(1);
  if (type == "f32") return "float";
  if (type == "f64") return "double";
  if (type == "i32") return "int";
  if (type == "u32") return "uint";
  if (bits == "64") extensions += "#extension GL_ARB_gpu_shader_int64 : require\n";
  if (bits == "16") extensions += "#extension GL_EXT_shader_16bit_storage : require\n";
  if (bits == "8") extensions += "#extension GL_EXT_shader_8bit_storage : require\n";
  return (type[0] == 'f' ? "float" : type[0] == 'u' ? "uint" : "int") + bits + "_t";
}

/// y = x for an element type; of 8 and 16 bits, elements are only moved.
inline kernelsearch::Problem copy_of(const std::string& type) {
  std::string extensions;
  const std::string element = glsl_type(type, extensions);
  const bool floating = type[0] == 'f';
  const std::string body = R"(layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer X { TYPE x[]; };
layout(binding = 1) writeonly buffer Y { TYPE y[]; };
layout(push_constant) uniform Sizes { int n; };
void NAME() {
  const int i = int(gl_GlobalInvocationID.x);
  if (i < n) y[i] = x[i];
}
)";
  const auto text = [&](const std::string& name, const std::string& of, const std::string& head) {
    std::string code = "#version 450\n" + head + body;
    for (const auto& [what, by] : {std::pair<std::string, std::string>{"TYPE", of}, {"NAME", name}})
      for (std::size_t at = code.find(what); at != std::string::npos; at = code.find(what))
        code.replace(at, what.size(), by);
    return code;
  };
  return problem_of(
      R"({
    "schema": 1, "name": "copy", "backend": "vulkan", "function": "copy", "kernel": {"device": "kernel.comp"},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": ")" +
          type + R"(", "size": "n"},
                  {"name": "y", "type": ")" +
          type + R"(", "size": "n", "role": "out"}],
    "shapes": [{"name": "odd", "n": 4099}], "tunables": {"UNUSED": [1, 2]},
    "launch": {"grid": ["(n + 31) // 32"], "block": [32]},
    "reference": {"source": "reference.comp", "function": "copy_reference",
                  "launch": {"grid": ["(n + 31) // 32"], "block": [32]}},
    "operations": "n", "bytes": "n"})",
      text("copy", element, extensions),
      text("copy_reference", floating ? "real" : element, floating ? std::string() : extensions));
}

/// Its kernel with the last element of another place.
inline std::string wrong_copy(const kernelsearch::Problem& problem) {
  std::string code = problem.kernel.regions.device;
  const std::string right = "y[i] = x[i];";
  return code.replace(code.find(right), right.size(), "y[i] = x[i == n - 1 ? 0 : i];");
}

inline kernelsearch::Candidate with_code(const kernelsearch::Problem& problem, const std::string& device) {
  auto kernel = std::make_shared<kernelsearch::Kernel>(problem.kernel);
  kernel->regions.device = device;
  return {kernel, kernel->space.default_config()};
}

}  // namespace vulkan_test
