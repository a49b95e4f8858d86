// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "kernelsearch/recorded/read_recording.hpp"
#include "support/temporary_folder.hpp"

/// What the tests of this room share.
namespace recordings {

using namespace kernelsearch;

/// A file of the recorded spaces that lie beside the repository, or nothing.
inline std::filesystem::path shared(const std::string& name) {
  const char* given = std::getenv("KERNELSEARCH_SHARED");
  std::filesystem::path file = given != nullptr ? given : KERNELSEARCH_SOURCE_DIR "/../shared";
  file /= "data/spaces/" + name;
  return std::filesystem::exists(file) ? file : std::filesystem::path();
}

/// A folder with files to read.
class Shelf {
 public:
  [[nodiscard]] std::filesystem::path put(const std::string& name, const std::string& text) const {
    std::filesystem::path file = folder_.path() / name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  [[nodiscard]] Recording read(const std::string& name, const std::string& text,
                               const ReadRecordingOptions& options = {}) const {
    return read_recording(put(name, text), options);
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

 private:
  TemporaryFolder folder_;
};

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Kernel Tuner before 1.4: failures stand in `time`.
inline const std::string old_cachefile = R"({
"device_name": "Some GPU",
"kernel_name": "saxpy",
"problem_size": [
4096,
16
],
"tune_params_keys": [
"block",
"tile",
"fast"
],
"tune_params": {
"block": [
16,
32
],
"tile": [
1,
2,
3
],
"fast": [
true,
false
]
},
"objective": "time",
"cache": {
"16,1,True": {"block": 16, "tile": 1, "fast": true, "time": 2.0, "times": [1.5, 2.5, 2.0], "compile_time": 900.5, "verification_time": 10, "benchmark_time": 120.25, "GFLOP/s": 1948.5, "strategy_time": 3, "framework_time": 5.5, "timestamp": "2023-12-22 09:54:05.502007+00:00"},
"16,2,True": {"block": 16, "tile": 2, "fast": true, "time": "InvalidConfig", "compile_time": 1, "verification_time": 0, "benchmark_time": 0, "strategy_time": 0, "framework_time": 1},
"16,3,False": {"block": 16, "tile": 3, "fast": false, "time": "CompilationFailedConfig", "compile_time": 800, "verification_time": 0, "benchmark_time": 0, "strategy_time": 0, "framework_time": 1},
"32,1,True": {"block": 32, "tile": 1, "fast": true, "time": "RuntimeFailedConfig", "compile_time": 700, "verification_time": 0, "benchmark_time": 3, "strategy_time": 0, "framework_time": 1},
"32,2,False": {"block": 32, "tile": 2, "fast": false, "time": NaN, "times": [], "compile_time": 700, "verification_time": 0, "benchmark_time": 3, "strategy_time": 0, "framework_time": 1},
"32,3,True": {"block": 32, "tile": 3, "fast": true, "time": 0.5, "times": [0.5], "compile_time": 600, "verification_time": 0, "benchmark_time": 3, "strategy_time": 0, "framework_time": 1}}
}
)";

}  // namespace recordings
