// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/packed_text.hpp"
#include "support/temporary_folder.hpp"

/// Programs that stand for NVIDIA's tools, and outputs that those really gave.
namespace tool_test {

inline std::string read_data(const std::string& name) {
  return support::packed_text(KERNELSEARCH_SOURCE_DIR "/tests/evaluator/gpu/data/" + name);
}

/// A shell script that its test wrote.
class Script {
 public:
  explicit Script(const std::string& body, const std::string& name = "tool") : path_(folder_.path() / name) {
    std::ofstream(path_) << "#!/bin/sh\n" << body;
    chmod(path_.c_str(), 0700);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  std::filesystem::path path_;
};

/// Shell code that leaves the words after --log-file in $log and all words in a file `words` beside itself.
inline const std::string takes_log =
    "for word in \"$@\"; do printf '%s\\n' \"$word\"; done >> \"$(dirname \"$0\")/words\"\n"
    "log=\n"
    "while [ $# -gt 0 ]; do [ \"$1\" = --log-file ] && log=$2; shift; done\n";

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Cuts, doubles, swaps and changes bytes of a text: what a parser may be given.
template <class Random>
std::string damaged(std::string text, Random& random) {
  for (int i = 0; i < 8 && !text.empty(); ++i) {
    const std::size_t at = static_cast<std::size_t>(random.below(text.size()));
    const std::size_t length = static_cast<std::size_t>(random.below(40));
    switch (random.below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        text[at] = static_cast<char>(random.below(256));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

}  // namespace tool_test
