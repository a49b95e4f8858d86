// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/resource.h>
#include <sys/wait.h>

#include <sstream>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/kept_file.hpp"
#include "evaluator/gpu/tool.hpp"
#include "judge/compile.hpp"
#include "judge/sandboxed_compiler.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail::gpu {
namespace {

namespace fs = std::filesystem;

/// The line of a compiler's `--version` that tells its builds apart.
std::string version_of(const std::string& output) {
  std::istringstream in(output);
  std::string first, told;
  for (std::string line; std::getline(in, line);) {
    if (first.empty()) first = line;
    if (line.find("release") != std::string::npos || line.find("HIP version") != std::string::npos)
      told = line;
  }
  return told.empty() ? first : told;
}

}  // namespace

std::string BuilderPool::library_identity() {
  const std::scoped_lock lock(mutex_);
  if (!library_identity_.empty()) return library_identity_;
  const bool cuda = backend_ == GpuBackend::cuda;
  const auto program = cuda ? find_tool("nvcc", "KERNELSEARCH_NVCC", {}, {})
                            : find_tool("hipcc", "KERNELSEARCH_HIPCC", {}, {"/opt/rocm/bin"});
  if (!program)
    raise<ConfigError>("a launch function needs a compiler that is not there", cuda ? "nvcc" : "hipcc",
                       cuda ? "install the CUDA toolkit, or set KERNELSEARCH_NVCC to the program"
                            : "install ROCm, or set KERNELSEARCH_HIPCC to the program");
  const Finished finished = run_tool({program->string(), "--version"}, 60);
  const std::string version = version_of(finished.output);
  if (finished.timed_out || version.empty())
    raise<ConfigError>("the compiler of launch functions does not run",
                       program->string() + ": " + finished.errors.substr(0, finished.errors.find('\n')),
                       "see `kernelsearch doctor`");
  library_compiler_ = *program;
  return library_identity_ = program->string() + " " + version;
}

Built BuilderPool::build_library(const std::string& source, const std::vector<std::string>& options,
                                 const std::stop_token& stop) {
  const fs::path target = place_of("library 3\n" + library_identity() + "\n" + key_text(options) + source);
  if (auto found = kept(target)) {
    found->library = true;
    return std::move(*found);
  }
  const Turn turn(*this);
  Built built = run_compiler(source, options, stop);
  if (built.verdict == Verdict::ok) keep_built(target, built);
  return built;
}

Built BuilderPool::run_compiler(const std::string& source, const std::vector<std::string>& options,
                                const std::stop_token& stop) const {
  const bool cuda = backend_ == GpuBackend::cuda;
  CompilerRun run;
  const std::string name = cuda ? "kernel.cu" : "kernel.hip";
  run.texts = {{name, source}};
  run.environment = compiler_environment();
  run.readable = readable_;
  // The toolkit is the folder above the one of its programs.
  std::error_code error;
  const fs::path program = fs::canonical(library_compiler_, error);
  if (const fs::path root = program.parent_path().parent_path(); !error && root != root.root_path())
    run.readable.push_back(root);
  run.seconds = limit_seconds_;
  run.limits = {{RLIMIT_CORE, 0}};
  std::vector<std::string>& argv = run.argv;
  argv = {library_compiler_.string(), "-shared"};
  // Unique symbols are one for a whole process: a candidate would share statics with its reference.
  if (cuda)
    argv.insert(argv.end(), {"-Xcompiler", "-fPIC,-fno-gnu-unique"});
  else
    argv.insert(argv.end(), {"-fPIC", "-O3"});
  for (const std::string& option : options) {
    // nvcc takes --gpu-architecture=sm_90a for "and PTX of compute_90", which has no wgmma: only this names
    // one alone.
    constexpr std::string_view one = "--gpu-architecture=sm_";
    if (cuda && option.starts_with(one)) {
      const std::string number = option.substr(one.size());
      argv.push_back("-gencode=arch=compute_" + number + ",code=sm_" + number);
    } else {
      argv.push_back(option);
    }
  }
  // CUDA's static run-time calls these itself: only the linker can say which object does.
  for (const char* symbol : loading_symbols)
    argv.insert(argv.end(), {"-Xlinker", std::string("--trace-symbol=") + symbol});
  run.stop = stop;
  argv.insert(argv.end(), {"-o", std::string(compiler_output), std::string(compiler_root) + "/" + name});
  const Finished finished = run_compiler_in(sandbox_, run);
  Built built;
  built.library = true;
  built.log = with_own_names(finished.errors);
  const bool well = !finished.timed_out && !finished.too_much_output && WIFEXITED(finished.status) &&
                    WEXITSTATUS(finished.status) == 0;
  const auto* bytes = reinterpret_cast<const std::byte*>(finished.output.data());
  built.image = well ? std::make_shared<const std::vector<std::byte>>(bytes, bytes + finished.output.size())
                     : std::make_shared<const std::vector<std::byte>>();
  if (!built.image->empty()) return built;
  built.verdict = finished.timed_out ? Verdict::timed_out : Verdict::build_failed;
  built.reason = stop.stop_requested() ? "stopped while it was compiled"
                 : finished.timed_out  ? too_long(limit_seconds_)
                                       : first_errors(built.log);
  if (built.reason.empty()) built.reason = "the compiler gave no library and no message";
  return built;
}

}  // namespace kernelsearch::detail::gpu
