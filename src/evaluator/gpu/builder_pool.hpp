// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "evaluator/gpu/gpu_worker_client.hpp"
#include "judge/compile.hpp"
#include "kernelsearch/core/verdict.hpp"
#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/evaluator/portable_artifact.hpp"
#include "kernelsearch/judge/translation_unit.hpp"

namespace kernelsearch::detail::gpu {

using Image = std::shared_ptr<const std::vector<std::byte>>;

/// Where files of problems lie for compilers: a folder of this process, which its sandboxes see. What is made
/// of them is kept under names without it.
[[nodiscard]] const std::filesystem::path& files_folder();

/// Device code, or why there is none.
struct Built {
  Verdict verdict = Verdict::ok;
  std::string reason;
  Image image;
  std::vector<std::string> functions;  ///< names in the image of the name expressions
  std::string log;
  bool from_cache = false;
  bool library = false;  ///< a shared object of this machine that launches its kernels by itself
  std::vector<BuiltLaunch> launches{};  ///< one for each of `functions` where a build command says so
};

/// What loads libraries while a program runs; the log of a library's build names the objects that call them.
inline constexpr const char* loading_symbols[] = {"dlopen", "dlmopen", "dlsym", "dlvsym"};

/// Processes that compile device code at run time, started when first needed, or whole libraries, and the
/// code they made, kept on disk by content. Safe for threads. A process that takes too long or dies is
/// replaced; the source is then at fault. In the options' sandbox compilers see themselves, their headers and
/// the folders of `GpuOptions::include`, so that no message of theirs can show another file.
class BuilderPool {
 public:
  BuilderPool(GpuBackend backend, const GpuOptions& options);

  /// Asked to stop it gives up, with a verdict that says nothing of the source.
  [[nodiscard]] Built build(const std::string& source, const std::vector<std::string>& options,
                            const std::vector<std::string>& name_expressions,
                            const std::stop_token& stop = {});

  /// A shared object for this machine, device code included, made by nvcc or hipcc.
  [[nodiscard]] Built build_library(const std::string& source, const std::vector<std::string>& options,
                                    const std::stop_token& stop = {});

  /// Device code that a command of the problem's makes; `kernels` are those that it must have. What it says
  /// next to the code of their names and launches is part of the result. In the sandbox and environment of
  /// build commands on the host, within `GpuLimits::build`.
  [[nodiscard]] Built build_by_command(const BuildCommand& by, const std::vector<std::string>& kernels,
                                       const std::stop_token& stop = {});

  /// The command's program with a digest of what identifies it; a ConfigError where it is missing.
  [[nodiscard]] std::string command_identity(const BuildCommand& by);

  /// The run-time compiler with its version; a ConfigError where it is missing.
  [[nodiscard]] std::string identity();
  /// What compilers run in; after `identity`, none where a driver compiles in no other.
  [[nodiscard]] Sandbox sandbox();
  /// Path and version of nvcc or hipcc; a ConfigError where it is missing.
  [[nodiscard]] std::string library_identity();

 private:
  std::unique_ptr<GpuWorkerClient> take();
  /// What was kept under this key.
  [[nodiscard]] std::optional<Built> kept(const std::filesystem::path& target) const;
  [[nodiscard]] std::filesystem::path place_of(const std::string& content) const;
  [[nodiscard]] Built run_compiler(const std::string& source, const std::vector<std::string>& options,
                                   const std::stop_token& stop) const;
  void give(std::unique_ptr<GpuWorkerClient> builder);
  /// What runs commands; made when first needed.
  CompileCache& commands();
  /// Counted among the builders while it lives.
  class Turn {
   public:
    explicit Turn(BuilderPool& pool);
    ~Turn() { pool_.give(nullptr); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    BuilderPool& pool_;
  };

  GpuBackend backend_;
  Sandbox sandbox_;
  bool sandbox_required_;
  std::vector<std::filesystem::path> readable_;
  int device_;  ///< for which compilers compile that are part of a driver
  std::filesystem::path worker_, directory_;
  double limit_seconds_;
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<GpuWorkerClient>> idle_;
  std::size_t busy_ = 0;
  bool starting_ = false;  ///< a builder that makes itself a context: one at a time does
  std::string identity_, library_identity_;
  std::filesystem::path library_compiler_;
  HostOptions command_options_;
  std::unique_ptr<CompileCache> commands_;
};

}  // namespace kernelsearch::detail::gpu
