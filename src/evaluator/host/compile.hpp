// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <mutex>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernelsearch/core/verdict.hpp"
#include "kernelsearch/evaluator/host/host_options.hpp"

namespace kernelsearch::detail {

/// A shared object, or why there is none.
struct Compiled {
  Verdict verdict = Verdict::ok;
  std::string reason;
  std::filesystem::path library;
  std::string compiler;  ///< path and version
  bool from_cache = false;
  double seconds = 0.0;
};

/// Compiles sources to shared objects inside the sandbox and keeps them by content: the source, the compiler
/// with its version, the flags and the machine. Safe for threads and processes that share the directory.
class CompileCache {
 public:
  CompileCache(const HostOptions& options, std::string machine, std::vector<int> cores);

  /// `command` is the compiler, by path or name, and its flags. A ConfigError when there is no such compiler.
  /// Asked to stop it gives up, with a verdict that says nothing of the source.
  [[nodiscard]] Compiled compile(const std::string& source, const std::vector<std::string>& command,
                                 const std::stop_token& stop = {});

  /// Path and version of a compiler by path or name; a ConfigError when it does not run.
  [[nodiscard]] std::string identity(const std::string& compiler);

 private:
  struct Compiler {
    std::string path;
    std::string identity;
  };
  Compiler find(const std::string& name);
  Compiled build(const std::string& source, const std::vector<std::string>& argv,
                 const std::filesystem::path& target, const std::stop_token& stop);

  Sandbox sandbox_;
  HostLimits limits_;
  std::vector<std::filesystem::path> readable_;
  std::filesystem::path directory_;
  std::string machine_;
  std::vector<int> cores_;
  std::mutex mutex_;
  std::unordered_map<std::string, Compiler> compilers_;
};

/// `$XDG_CACHE_HOME/kernelsearch`, `~/.cache/kernelsearch`, or a folder of this user's for temporary files.
[[nodiscard]] std::filesystem::path default_cache_directory();

/// The lines of a compiler's output that say what is wrong, without those that only repeat the way there.
[[nodiscard]] std::string first_errors(const std::string& output);

}  // namespace kernelsearch::detail
