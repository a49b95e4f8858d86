// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

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
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/test_backend.hpp"

/// The kernels of tests/hostile_cuda with what their first lines say of them.
namespace hostile {

namespace fs = std::filesystem;
using namespace kernelsearch;

inline std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A kernel and what its comment lines `// key: value` say: `problem`; of hostile ones `expect`, one or more
/// `verdict: words of the reason` with `|` between them, and `naive`, what a careless harness makes of it:
/// `fooled`, `notices`, `breaks` (also the kernels after it fail) or `either`; with `-standin` behind the key
/// what differs there; `forged: yes`: the naive harness has a time of next to nothing; `only: cuda`;
/// `incumbent`; `charged: yes`: where it is ok, its time is that of the clock outside; `searched: yes`:
/// judged as a candidate of a search as well, which is looked at less closely; `gain: none`: where it is ok
/// it is not faster than the first honest kernel of its problem. What follows the line
/// `// host:` is the launch function.
struct Sample {
  std::string name, code, host;
  std::map<std::string, std::string> says;

  [[nodiscard]] std::string value(const std::string& key, const std::string& otherwise = {}) const {
    const auto found = says.find(key);
    return found == says.end() ? otherwise : found->second;
  }
  /// What it says for the backend at hand.
  [[nodiscard]] std::string at(const std::string& key, GpuBackend backend) const {
    return backend == GpuBackend::hip ? value(key + "-standin", value(key)) : value(key);
  }
  [[nodiscard]] bool allows(Verdict verdict, const std::string& reason, GpuBackend backend) const {
    std::istringstream all(at("expect", backend));
    for (std::string one; std::getline(all, one, '|');) {
      const auto colon = one.find(':');
      const std::string words = one.substr(std::min(one.size(), one.find_first_not_of(' ', colon + 1)));
      if (one.substr(0, colon) == to_string(verdict) && reason.find(words) != std::string::npos) return true;
    }
    return false;
  }
};

inline void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

inline std::vector<Sample> samples(const char* folder, GpuBackend backend) {
  std::vector<Sample> all;
  for (const auto& entry : fs::directory_iterator(support::test_data() / "hostile_cuda" / folder)) {
    Sample sample{entry.path().stem().string(), read(entry.path()), {}, {}};
    std::istringstream lines(sample.code);
    for (std::string line; std::getline(lines, line) && line.starts_with("// ");) {
      const auto colon = line.find(": ");
      const auto last = line.find_last_not_of(' ');
      if (colon != std::string::npos && line.find(' ', 3) > colon)
        sample.says[line.substr(3, colon - 3)] = line.substr(colon + 2, last - colon - 1);
    }
    constexpr const char* host = "\n// host:\n";
    if (const auto at = sample.code.find(host); at != std::string::npos) {
      sample.host = sample.code.substr(at + 1);
      sample.code.resize(at + 1);
      if (backend == GpuBackend::hip) replace_all(sample.host, "cuda", "hip");
    }
    if (sample.value("only") != "cuda" || backend == GpuBackend::cuda) all.push_back(std::move(sample));
  }
  std::sort(all.begin(), all.end(), [](const Sample& a, const Sample& b) { return a.name < b.name; });
  return all;
}

inline Problem problem(const std::string& name, GpuBackend backend) {
  std::string text = read(support::test_data() / "hostile_cuda" / "problems" / (name + ".json"));
  if (backend == GpuBackend::hip) text.replace(text.find("\"cuda\""), 6, "\"hip\"");
  return parse_problem(text, ".");
}

/// The problem's candidate with the code of a sample.
inline Candidate candidate(const Problem& problem, const Sample& sample) {
  Kernel kernel = problem.kernel;
  kernel.regions.device = sample.code;
  kernel.regions.host = sample.host;
  return {std::make_shared<const Kernel>(std::move(kernel)), problem.kernel.space.default_config()};
}

}  // namespace hostile
