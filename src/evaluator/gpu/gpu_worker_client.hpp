// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/gpu/protocol.hpp"
#include "judge/arena.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/process/sandbox.hpp"
#include "process/process.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch::detail::gpu {

/// The kernelsearch-gpu-worker program; a ConfigError when it is nowhere.
[[nodiscard]] std::filesystem::path find_gpu_worker(const std::filesystem::path& given);

/// What drivers, run-time compilers and their tools are told by their users, as `NAME=value`: where they are,
/// which devices there are.
[[nodiscard]] std::vector<std::string> driver_environment();

/// The part of it that compilers need: where they and their libraries are, and nothing personal.
[[nodiscard]] std::vector<std::string> compiler_environment();

/// Folders outside of the system's where run-time compilers, toolkits and their headers are.
[[nodiscard]] std::vector<std::filesystem::path> compiler_folders();

/// Why a command failed.
struct WorkerError {
  enum Kind { refused, ended, timed_out } kind = refused;
  Status status = success;  ///< of the driver, if it refused
  std::string text;
};

/// Whether this is why a process ended, or a reason made of it, and it was killed: nothing that runs in there
/// does that to itself, so somebody did, or the system ran out of memory.
[[nodiscard]] bool was_killed(std::string_view why);
/// Then it is nobody's fault: raises a DeviceError that says what was being done.
void raise_if_killed(const std::string& doing, const std::string& why);

/// The controller's end of a worker process. Not thread-safe.
class GpuWorkerClient {
 public:
  enum class Role { device, builder };

  /// Starts the process; `shared` is handed to it and may be null for builders. In a sandbox it sees the
  /// driver, a builder the folders `readable` instead and no device, and nothing of the user's.
  GpuWorkerClient(const std::filesystem::path& program, GpuBackend backend, Role role, int device,
                  const Arena* shared, Sandbox sandbox = Sandbox::none,
                  const std::vector<std::filesystem::path>& readable = {});

  /// Sends a command and waits for the reply. After anything but `refused` the process is dead.
  template <class C>
  [[nodiscard]] std::optional<WorkerError> ask(C command, double seconds, typename C::Reply& reply) {
    std::vector<std::byte> body;
    if (auto error = exchange(frame_of(std::move(command)), seconds, body)) return error;
    Reader in(body);
    reply = in.take<typename C::Reply>();
    return in.ok() ? std::nullopt : std::optional(cut_short());
  }
  template <class C>
  requires std::same_as<typename C::Reply, NoReply>
  [[nodiscard]] std::optional<WorkerError> ask(C command, double seconds) {
    NoReply none;
    return ask(std::move(command), seconds, none);
  }
  /// The same with the bytes of a command and of its reply.
  [[nodiscard]] std::optional<WorkerError> exchange(const std::vector<std::byte>& command, double seconds,
                                                    std::vector<std::byte>& reply);

  [[nodiscard]] std::optional<WorkerError> hello(double seconds, GpuDevice& device);
  [[nodiscard]] std::optional<WorkerError> load(ModuleId module, const std::vector<std::byte>& image,
                                                const std::vector<std::string>& functions,
                                                std::vector<FunctionFacts>& facts);
  /// A shared object whose launch function launches the kernels in it.
  [[nodiscard]] std::optional<WorkerError> load_library(ModuleId module,
                                                        const std::vector<std::byte>& library);
  [[nodiscard]] std::optional<WorkerError> unload(ModuleId module);
  [[nodiscard]] std::optional<WorkerError> define(ProgramId program, const ProgramPlan& plan,
                                                  std::vector<std::int32_t>& blocks);
  [[nodiscard]] std::optional<WorkerError> allocate(std::vector<AllocateBuffers::Buffer> buffers);
  [[nodiscard]] std::optional<WorkerError> release(std::vector<BufferId> buffers);

  [[nodiscard]] std::optional<WorkerError> lend(BufferId buffer, MemoryHandle& handle);
  [[nodiscard]] std::optional<WorkerError> borrow(BufferId buffer, std::uint64_t bytes,
                                                  const MemoryHandle& handle);

  [[nodiscard]] std::optional<WorkerError> act(std::vector<Action> actions, double seconds, Act::Reply& done);

  [[nodiscard]] bool alive();
  void stop() noexcept;
  /// Its process, whose end ends whatever it was asked.
  [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }

 private:
  [[nodiscard]] WorkerError cut_short();

  GpuBackend backend_;
  Descriptor socket_;
  std::unique_ptr<ScratchFolder>
      scratch_;  ///< of sandboxes that have no /tmp of their own; outlives the process
  Process process_;
};

}  // namespace kernelsearch::detail::gpu
