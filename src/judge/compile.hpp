// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "judge/sandboxed_compiler.hpp"
#include "kernelsearch/core/verdict.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "process/process.hpp"

namespace kernelsearch::detail {

/// What is made of a source.
enum class Product : std::uint8_t { library, program };

/// A shared object or a program, or why there is none.
struct Compiled {
  Verdict verdict = Verdict::ok;
  std::string reason;
  std::filesystem::path library;
  std::string compiler;  ///< path and version
  bool from_cache = false;
  double seconds = 0.0;
};

/// What a build command made, or why nothing.
struct CommandOutput {
  Verdict verdict = Verdict::build_failed;
  std::string reason;
  std::string file;         ///< its bytes
  std::string description;  ///< of device code: the text next to it
  bool is_described = false;
  std::string said;  ///< the first of its messages, cleaned
};

/// A reason of a build command's failure with what it said.
[[nodiscard]] std::string command_failed(const std::string& what, const std::string& said);

/// Compiles sources to shared objects inside the sandbox and keeps them by content: the source, the compiler
/// with its version, the flags and the machine. Safe for threads and processes that share the directory.
class CompileCache {
 public:
  CompileCache(const HostOptions& options, std::string machine, std::vector<int> cores);

  /// `command` is the compiler, by path or name, and its flags. A ConfigError when there is no such compiler.
  /// Asked to stop it gives up, with a verdict that says nothing of the source.
  [[nodiscard]] Compiled compile(const CompileJob& job, Product product = Product::library,
                                 const std::stop_token& stop = {});
  [[nodiscard]] Compiled compile(const std::string& source, const std::vector<std::string>& command);

  /// The job's translation units as the preprocessor leaves them, one after another, without line marks;
  /// nothing where that fails.
  [[nodiscard]] std::optional<std::string> preprocess(const CompileJob& job);

  /// Path and version of a compiler by path or name; a ConfigError when it does not run.
  [[nodiscard]] std::string identity(const std::string& compiler);
  /// That of all that builds the job: where a command does, also its program and a digest of what identifies
  /// it. A ConfigError when one of the programs is not there or `identity` fails.
  [[nodiscard]] std::string identity(const CompileJob& job);
  /// That of a build command alone.
  [[nodiscard]] std::string identity(const BuildCommand& by);
  /// Runs a build command; nothing is kept, and what the file is, is not looked at.
  [[nodiscard]] CommandOutput make(const BuildCommand& by, const std::stop_token& stop);

 private:
  struct Compiler {
    std::string path;
    std::string identity;
  };
  Compiler find(const std::string& name);
  /// Runs a compiler on the job's texts, `before` and `after` around them, and an object where there is one;
  /// what it makes comes on its standard output.
  Finished run(const CompileJob& job, const std::vector<std::string>& before,
               const std::vector<std::string>& after, const std::stop_token& stop, const std::string& object,
               double seconds);
  Compiled build(const CompileJob& job, const std::vector<std::string>& before,
                 const std::vector<std::string>& after, const std::filesystem::path& target,
                 const std::stop_token& stop);
  /// Runs words next to the files of a build command; `source`: and next to the kernel.
  Finished run_command_of(const BuildCommand& by, const std::vector<std::string>& words, bool source,
                          const std::stop_token& stop, double seconds);
  /// Within the limits of builds and this many seconds; what all compilers may read is readable besides.
  Finished run_bounded(CompilerRun run, const std::stop_token& stop, double seconds);
  /// What `once(seconds)` comes to; where it was killed, what it comes to the second time, as a kill may be
  /// somebody's doing. Both together have the seconds of one build.
  template <class Once>
  Finished twice_if_killed(const std::stop_token& stop, Once once);
  /// The command's object in `object`, or why there is none. `shared`: it is a library to be loaded as it is.
  Compiled make_object(const BuildCommand& by, std::string& object, bool& shared,
                       const std::stop_token& stop);

  Sandbox sandbox_;
  HostLimits limits_;
  std::vector<std::filesystem::path> readable_;
  std::filesystem::path directory_;
  std::string machine_;
  std::vector<int> cores_;
  std::mutex mutex_;
  std::unordered_map<std::string, Compiler> compilers_;
  std::unordered_map<std::string, std::string> commands_;  ///< identities by what they are of
};

/// Where a shared library of a build command's is kept, by its name without an ending.
[[nodiscard]] std::filesystem::path shared_place(const std::filesystem::path& stem);

/// The library with our entry that calls a kept shared library, next to it; empty for what has its own entry.
[[nodiscard]] std::filesystem::path caller_of(const std::filesystem::path& library);

/// `$XDG_CACHE_HOME/kernelsearch`, `~/.cache/kernelsearch`, or a folder of this user's for temporary files.
[[nodiscard]] std::filesystem::path default_cache_directory();

/// The lines of a compiler's output that say what is wrong, without those that only repeat the way there.
[[nodiscard]] std::string first_errors(const std::string& output);

/// The same of any program: the first lines, and those before the first that says so too, as where it is
/// often stands above what it is.
[[nodiscard]] std::string first_messages(const std::string& output);

}  // namespace kernelsearch::detail
