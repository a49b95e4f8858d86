// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/gpu/protocol.hpp"
#include "evaluator/host/arena.hpp"
#include "evaluator/host/process.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/host/sandbox.hpp"

namespace kernelsearch::detail::gpu {

/// The kernelsearch-gpu-worker program; a ConfigError when it is nowhere.
[[nodiscard]] std::filesystem::path find_gpu_worker(const std::filesystem::path& given);

/// What drivers, run-time compilers and their tools are told by their users, as `NAME=value`: where they are,
/// which devices there are.
[[nodiscard]] std::vector<std::string> driver_environment();

/// Why a command failed.
struct WorkerError {
  enum Kind { refused, ended, timed_out } kind = refused;
  Status status = success;  ///< of the driver, if it refused
  std::string text;
};

/// The controller's end of a worker process. Not thread-safe.
class GpuWorker {
 public:
  enum class Role { device, builder };

  /// Starts the process; `shared` is handed to it and may be null for builders. In a sandbox it sees the
  /// devices, the driver and nothing of the user's.
  GpuWorker(const std::filesystem::path& program, GpuBackend backend, Role role, int device,
            const Arena* shared, Sandbox sandbox = Sandbox::none);

  /// Sends a command and waits; the answer's body is in `body()`. After anything but `refused` the process is
  /// dead.
  [[nodiscard]] std::optional<WorkerError> call(const Writer& command, double seconds);
  [[nodiscard]] const std::vector<std::byte>& body() const noexcept { return body_; }

  [[nodiscard]] std::optional<WorkerError> hello(double seconds, GpuDevice& device);
  [[nodiscard]] std::optional<WorkerError> load(std::uint32_t module, const std::vector<std::byte>& image,
                                                const std::vector<std::string>& functions,
                                                std::vector<FunctionFacts>& facts);
  /// A shared object whose launch function launches the kernels in it.
  [[nodiscard]] std::optional<WorkerError> load_library(std::uint32_t module,
                                                        const std::vector<std::byte>& library);
  [[nodiscard]] std::optional<WorkerError> unload(std::uint32_t module);
  [[nodiscard]] std::optional<WorkerError> program(std::uint32_t number, const ProgramPlan& plan,
                                                   std::vector<std::int32_t>& blocks);
  [[nodiscard]] std::optional<WorkerError> allocate(const std::vector<std::uint32_t>& numbers,
                                                    const std::vector<std::uint64_t>& bytes);
  [[nodiscard]] std::optional<WorkerError> release(const std::vector<std::uint32_t>& numbers);

  [[nodiscard]] std::optional<WorkerError> lend(std::uint32_t buffer, MemoryHandle& handle);
  [[nodiscard]] std::optional<WorkerError> borrow(std::uint32_t buffer, std::uint64_t bytes,
                                                  const MemoryHandle& handle);

  struct Done {
    std::vector<double> seconds;
    std::vector<std::uint64_t> values;
    double host_seconds = 0;  ///< as the worker says
    double wall_seconds = 0;  ///< by our clock
  };
  [[nodiscard]] std::optional<WorkerError> act(const std::vector<Action>& actions,
                                               const std::vector<std::uint32_t>& bindings, double seconds,
                                               Done& done);

  [[nodiscard]] bool alive();
  void stop() noexcept;

 private:
  GpuBackend backend_;
  Descriptor socket_;
  Process process_;
  std::vector<std::byte> body_;
};

}  // namespace kernelsearch::detail::gpu
