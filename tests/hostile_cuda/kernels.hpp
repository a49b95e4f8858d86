// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "kernelsearch/core/verdict.hpp"
#include "kernelsearch/evaluator/gpu/gpu_backend.hpp"
#include "kernelsearch/problem/read_problem.hpp"

/// The kernels of tests/hostile_cuda with what their first lines say of them.
namespace hostile {

namespace fs = std::filesystem;
using namespace kernelsearch;

/// Where the tests' files are; `KERNELSEARCH_TEST_DATA` names another `tests` folder.
inline fs::path data() {
  const char* given = getenv("KERNELSEARCH_TEST_DATA");
  return given != nullptr ? fs::path(given) : fs::path(KERNELSEARCH_SOURCE_DIR) / "tests";
}

inline std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A kernel and what its comment lines `// key: value` say: `problem`; of hostile ones `expect`, one or more
/// `verdict: words of the reason` with `|` between them, and `naive`, what a careless harness makes of it:
/// `fooled`, `notices`, `breaks` (also the kernels after it fail) or `either`; `only: cuda`; `incumbent`.
struct Sample {
  std::string name, code;
  std::map<std::string, std::string> says;

  [[nodiscard]] std::string value(const std::string& key, const std::string& otherwise = {}) const {
    const auto found = says.find(key);
    return found == says.end() ? otherwise : found->second;
  }
  [[nodiscard]] bool allows(Verdict verdict, const std::string& reason) const {
    std::istringstream all(value("expect"));
    for (std::string one; std::getline(all, one, '|');) {
      const auto colon = one.find(':');
      const std::string words = one.substr(std::min(one.size(), one.find_first_not_of(' ', colon + 1)));
      if (one.substr(0, colon) == to_string(verdict) && reason.find(words) != std::string::npos) return true;
    }
    return false;
  }
};

inline std::vector<Sample> samples(const char* folder, GpuBackend backend) {
  std::vector<Sample> all;
  for (const auto& entry : fs::directory_iterator(data() / "hostile_cuda" / folder)) {
    Sample sample{entry.path().stem().string(), read(entry.path()), {}};
    std::istringstream lines(sample.code);
    for (std::string line; std::getline(lines, line) && line.starts_with("// ");) {
      const auto colon = line.find(": ");
      const auto last = line.find_last_not_of(' ');
      if (colon != std::string::npos && line.find(' ', 3) > colon)
        sample.says[line.substr(3, colon - 3)] = line.substr(colon + 2, last - colon - 1);
    }
    if (sample.value("only") != "cuda" || backend == GpuBackend::cuda) all.push_back(std::move(sample));
  }
  std::sort(all.begin(), all.end(), [](const Sample& a, const Sample& b) { return a.name < b.name; });
  return all;
}

inline Problem problem(const std::string& name, GpuBackend backend) {
  std::string text = read(data() / "hostile_cuda" / "problems" / (name + ".json"));
  if (backend == GpuBackend::hip) text.replace(text.find("\"cuda\""), 6, "\"hip\"");
  return parse_problem(text, ".");
}

}  // namespace hostile
