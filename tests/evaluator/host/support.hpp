// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/problem/read_problem.hpp"

/// A small problem whose kernels are one function `scale(n, x, y)`: y[i] = 3 x[i] + 1.
namespace support {

namespace fs = std::filesystem;
using namespace kernelsearch;

inline const fs::path sources = fs::path(KERNELSEARCH_SOURCE_DIR) / "tests" / "evaluator" / "host";

inline std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A folder of this test run's own, removed at its end.
inline const fs::path& scratch() {
  struct Folder {
    fs::path path = fs::temp_directory_path() / ("kernelsearch-test-" + std::to_string(getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() {
      std::error_code error;
      fs::remove_all(path, error);
    }
  };
  static const Folder folder;
  return folder.path;
}

inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (c == '"' || c == '\\')
      (result += '\\') += c;
    else if (const auto byte = static_cast<unsigned char>(c); byte < 0x20)
      (result += byte < 0x10 ? "\\u000" : "\\u001") += "0123456789abcdef"[byte & 15];
    else
      result += c;
  }
  return result + "\"";
}

/// Fast settings: the tests judge verdicts, not times.
inline HostOptions quick() {
  HostOptions options;
  options.cache_directory = scratch() / "cache";
  options.limits.build_seconds = 30;
  options.limits.load_seconds = 1;
  options.limits.call_seconds = 0.5;
  options.limits.run_memory = std::uint64_t{256} << 20;
  options.sampling.budget_seconds = 0.03;
  options.pairs.when = Pairing::never;
  return options;
}

inline constexpr const char* arguments = R"("arguments": [{"name": "n", "type": "i32"},
    {"name": "x", "type": "f32", "size": "n"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}])";

inline std::string scale_problem(const std::string& kernel, const std::string& more = {}) {
  return R"({"schema": 1, "name": "scale", "backend": "host", "function": "scale", )" +
         std::string(arguments) + R"(, "kernel": {"device": {"text": )" + quoted(kernel) + R"(}},
    "shapes": [{"name": "small", "n": 37, "weight": 0}, {"name": "large", "n": 4096}],
    "reference": {"source": {"text": "void scale_reference(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1; }"},
                  "function": "scale_reference"},
    "build": {"compiler": "g++", "flags": ["-O1"]})" +
         more + "}";
}

inline Candidate default_candidate(const Problem& problem) {
  return {std::make_shared<const Kernel>(problem.kernel), problem.kernel.space.default_config()};
}

/// The judgement of a kernel's source as `scale`.
inline Evaluation judge(const std::string& kernel, HostOptions options = quick(),
                        const std::string& more = {}) {
  const Problem problem = parse_problem(scale_problem(kernel, more), sources);
  HostEvaluator evaluator(problem, std::move(options));
  return evaluator.evaluate(default_candidate(problem), {});
}

}  // namespace support
