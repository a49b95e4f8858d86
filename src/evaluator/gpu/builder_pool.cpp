// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/builder_pool.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "evaluator/gpu/kept_file.hpp"
#include "judge/compile.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "problem/replace_file.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch::detail::gpu {

namespace fs = std::filesystem;

std::vector<std::byte> read_bytes(const fs::path& path) {
  const std::string text = try_whole_file(path).value_or("");
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// A library that cannot be kept is built again next time, which is not a reason to fail.
void keep(const fs::path& target, const std::vector<std::byte>& bytes) {
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  (void)replace_file(target, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

namespace {

/// A driver that compiles needs the device for it, and makes one context after the other: eight that began
/// together on an H200 had theirs after a second each, and so would the workers that begin meanwhile; one
/// after another they take 0.2 s each.
std::size_t builders_of(GpuBackend backend) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  constexpr std::size_t most_on_device = 8;
  return compiles_on_device(backend) ? std::min(cores, most_on_device) : cores;
}

std::string listed(const std::vector<std::string>& list) {
  std::string text = std::to_string(list.size()) + "\n";
  for (const std::string& one : list) text += one + "\n";
  return text;
}

}  // namespace

void keep_built(const fs::path& target, const Built& built) {
  keep(target, Writer().put(*built.image).put(built.functions).put(built.log).put(built.launches).bytes());
}

const fs::path& files_folder() {
  static const ScratchFolder folder(geteuid() == 0);
  return folder.path();
}

std::string key_text(const std::vector<std::string>& options) {
  std::string text = listed(options);
  const std::string folder = files_folder().string();
  for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;)
    text.replace(at, folder.size(), "files");
  return text;
}

std::string with_own_names(std::string log) {
  const std::string folder = files_folder().string() + "/";
  constexpr std::size_t digest_and_slash = 65;
  for (std::size_t at = 0; (at = log.find(folder, at)) != std::string::npos;)
    log.erase(at, folder.size() + digest_and_slash);
  return log;
}

std::string too_long(double seconds) {
  return "the compiler needed more than " + std::to_string(static_cast<int>(seconds)) + " s";
}

BuilderPool::BuilderPool(GpuBackend backend, const GpuOptions& options)
    : backend_(backend),
      sandbox_(resolved(options.sandbox)),
      sandbox_required_(options.sandbox_required),
      readable_(compiler_folders()),
      device_(options.devices.empty() ? 0 : options.devices.front()),
      worker_(find_gpu_worker(options.worker)),
      directory_((options.cache_directory.empty() ? default_cache_directory() : options.cache_directory) /
                 "gpu"),
      limit_seconds_(options.limits.build),
      most_(options.builders != 0 ? options.builders : builders_of(backend)) {
  command_options_.sandbox = sandbox_;
  command_options_.cache_directory = options.cache_directory;
  command_options_.limits.build_seconds = limit_seconds_;
  command_options_.readable = options.readable;
  readable_.push_back(files_folder());
  std::error_code error;
  for (const fs::path& folder : options.include)
    if (const fs::path whole = fs::absolute(folder, error); fs::is_directory(whole, error))
      readable_.push_back(whole);
}

std::unique_ptr<GpuWorkerClient> BuilderPool::take() {
  std::unique_lock lock(mutex_);
  for (;;) {
    returned_.wait(lock, [this] { return busy_ < most_ && (!idle_.empty() || !starting_); });
    if (idle_.empty()) break;
    auto builder = std::move(idle_.back());
    idle_.pop_back();
    if (!builder->alive()) continue;
    ++busy_;
    return builder;
  }
  ++busy_;
  // What waits for a builder rather takes one that comes back than another context in the driver's queue.
  starting_ = compiles_on_device(backend_);
  const Sandbox sandbox = sandbox_;
  const bool is_alone = starting_;
  lock.unlock();
  const auto started = [&] {
    return std::make_unique<GpuWorkerClient>(worker_, backend_, GpuWorkerClient::Role::builder, device_,
                                             nullptr, sandbox, readable_);
  };
  const auto done = [&] {
    if (!is_alone) return;
    lock.lock();
    starting_ = false;
    lock.unlock();
    returned_.notify_all();
  };
  std::unique_ptr<GpuWorkerClient> builder;
  try {
    builder = started();
    CompileSource::Reply ignored;  // its first command makes the context
    if (is_alone && builder->ask(CompileSource{}, 30, ignored) && !builder->alive()) builder = started();
  } catch (...) {
    done();
    give(nullptr);
    throw;
  }
  done();
  return builder;
}

void BuilderPool::give(std::unique_ptr<GpuWorkerClient> builder) {
  const std::scoped_lock lock(mutex_);
  --busy_;
  if (builder && builder->alive()) idle_.push_back(std::move(builder));
  returned_.notify_all();
}

BuilderPool::Turn::Turn(BuilderPool& pool) : pool_(pool) {
  std::unique_lock lock(pool.mutex_);
  pool.returned_.wait(lock, [&pool] { return pool.busy_ < pool.most_; });
  ++pool.busy_;
}

std::string BuilderPool::identity() {
  {
    const std::scoped_lock lock(mutex_);
    if (!identity_.empty()) return identity_;
  }
  auto builder = take();
  CompileSource::Reply reply;
  auto error = builder->ask(CompileSource{}, 30, reply);
  // Some drivers find their device outside of sandboxes only.
  if (error && compiles_on_device(backend_) && sandbox_ != Sandbox::none && !sandbox_required_) {
    give(std::move(builder));
    GpuWorkerClient outside(worker_, backend_, GpuWorkerClient::Role::builder, device_, nullptr);
    if (!outside.ask(CompileSource{}, 30, reply)) {
      error.reset();
      const std::scoped_lock lock(mutex_);
      sandbox_ = Sandbox::none;
      idle_.clear();
    }
    builder.reset();
  }
  if (error) {
    if (builder) give(std::move(builder));
    raise_if_killed("asking the compiler for its version", error->text);
    if (backend_ == GpuBackend::opencl)
      raise<ConfigError>("OpenCL has no compiler here", error->text, "see `kernelsearch doctor`");
    if (backend_ == GpuBackend::vulkan)
      raise<ConfigError>("shaders have no compiler here", error->text, "see `kernelsearch doctor`");
    raise<ConfigError>(
        backend_ == GpuBackend::cuda ? "NVRTC cannot be loaded" : "hipRTC cannot be loaded", error->text,
        backend_ == GpuBackend::cuda ? "install the CUDA toolkit, or set KERNELSEARCH_NVRTC to libnvrtc"
                                     : "install ROCm, or set KERNELSEARCH_HIPRTC to libhiprtc");
  }
  if (builder) give(std::move(builder));
  const std::scoped_lock lock(mutex_);
  return identity_ = std::move(reply.compiler);
}

Sandbox BuilderPool::sandbox() {
  const std::scoped_lock lock(mutex_);
  return sandbox_;
}

fs::path BuilderPool::place_of(const std::string& content) const {
  const std::string key = sha256(content);
  return directory_ / key.substr(0, 2) / (key + ".bin");
}

std::optional<Built> BuilderPool::kept(const fs::path& target) const {
  std::error_code error;
  if (fs::file_size(target, error) == 0 || error) return std::nullopt;
  Built built;
  const std::vector<std::byte> bytes = read_bytes(target);
  Reader in(bytes);
  built.image = std::make_shared<const std::vector<std::byte>>(in.take<std::vector<std::byte>>());
  built.functions = in.take<std::vector<std::string>>();
  built.log = in.take<std::string>();
  built.launches = in.take<std::vector<BuiltLaunch>>();
  built.from_cache = true;
  if (!in.ok() || built.image->empty()) return std::nullopt;
  return built;
}

Built BuilderPool::build(const std::string& source, const std::vector<std::string>& options,
                         const std::vector<std::string>& name_expressions, const std::stop_token& stop) {
  std::string content = "2\n" + identity() + "\n";
  for (const auto* list : {&options, &name_expressions}) content += key_text(*list);
  const fs::path target = place_of(content + source);
  if (auto found = kept(target)) return std::move(*found);
  Built built;
  std::unique_ptr<GpuWorkerClient> builder;
  CompileSource::Reply reply;
  const auto ask = [&] {
    builder = take();
    // Nothing but the end of its process ends a compilation.
    const std::stop_callback end(stop, [pid = builder->pid()] {
      if (pid <= 0) return;
      for (const pid_t one : process_tree(pid)) ::kill(one, SIGKILL);  // the sandbox's, too
    });
    return builder->ask(CompileSource{source, options, name_expressions}, limit_seconds_, reply);
  };
  auto failed = ask();
  // Not the source's doing, as far as can be told; a second time it may be (memory) and is a failure.
  if (failed && was_killed(failed->text) && !stop.stop_requested()) {
    give(nullptr);
    failed = ask();
  }
  if (failed) {
    give(nullptr);
    built.verdict = failed->kind == WorkerError::timed_out ? Verdict::timed_out : Verdict::build_failed;
    built.reason = stop.stop_requested()                    ? "stopped while it was compiled"
                   : failed->kind == WorkerError::timed_out ? too_long(limit_seconds_)
                                                            : "the compiler died: " + failed->text;
    return built;
  }
  built.image = std::make_shared<const std::vector<std::byte>>(std::move(reply.image));
  built.functions = std::move(reply.lowered);
  built.log = with_own_names(std::move(reply.log));
  give(std::move(builder));
  if (!reply.ok || built.image->empty()) {
    built.verdict = Verdict::build_failed;
    built.reason = first_errors(built.log);
    if (built.reason.empty()) built.reason = "the compiler gave no code and no message";
    return built;
  }
  keep_built(target, built);
  return built;
}

}  // namespace kernelsearch::detail::gpu
