// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/host/arena.hpp"
#include "evaluator/host/load_meter.hpp"
#include "evaluator/host/process.hpp"
#include "evaluator/host/protocol.hpp"
#include "kernelsearch/core/verdict.hpp"
#include "kernelsearch/evaluator/host/host_options.hpp"

namespace kernelsearch::detail {

/// Why a candidate is not ok.
struct Fault {
  Verdict verdict = Verdict::crashed;
  std::string reason;
  double right_share = 0.0;  ///< of its outputs, for wrong results
};

/// A program of ours that others start: its name, the variable that names another place, and the places that
/// were known when this was compiled, separated by colons.
struct HelperProgram {
  const char* name;
  const char* variable;
  const char* places;
};

/// As given, else by its variable, beside this program, in the libexec folder of its installation, or where
/// it was built; a ConfigError when it is nowhere.
[[nodiscard]] std::filesystem::path find_helper(const HelperProgram& program,
                                                const std::filesystem::path& given);

/// The kernelsearch-worker program.
[[nodiscard]] std::filesystem::path find_worker(const std::filesystem::path& given);

/// What is told of a kernel that has more threads than the problem says: `what`, how many are allowed, and
/// which key allows more.
[[nodiscard]] std::string threads_text(const std::string& what, int allowed);

/// How workers are started.
struct WorkerSettings {
  Sandbox sandbox = Sandbox::automatic;
  std::filesystem::path worker;
  std::vector<std::filesystem::path> readable;
  std::vector<int> cores;
  int threads = 1;
  double load_seconds = 10.0;
  double call_seconds = 10.0;
  double run_seconds = 120.0;
  std::uint64_t memory = std::uint64_t{2} << 30;
};

/// A worker process with one library loaded. Not thread-safe.
class WorkerClient {
 public:
  /// Starts the worker and loads the library. A DeviceError if the worker itself does not start; what the
  /// library does wrong is in `fault()`.
  WorkerClient(const WorkerSettings& settings, const Arena& arena, const std::filesystem::path& library,
               bool trusted);

  [[nodiscard]] const std::optional<Fault>& fault() const noexcept { return fault_; }

  /// Sends a command and waits for its reply; on a fault the worker is dead. `seconds`: what it took by our
  /// clock.
  [[nodiscard]] std::optional<Fault> call(host_protocol::Command& command, double limit_seconds,
                                          host_protocol::Reply& reply, double& seconds);

  /// Whether what runs in there is one process with no more threads than allowed.
  [[nodiscard]] std::optional<Fault> census() const;

  /// CPU time of the worker in seconds; negative when unknown.
  [[nodiscard]] double cpu() const { return cpu_seconds(pid_); }
  /// Seconds that it was ready to run and something else had its core; negative when unknown.
  [[nodiscard]] double waited() const { return waited_seconds(pid_); }
  [[nodiscard]] double clock_seconds() const noexcept { return clock_seconds_; }
  /// False also when it was ended from outside, for instance with the thread that started it.
  [[nodiscard]] bool alive();
  void stop() noexcept;

 private:
  enum class Got { reply, ended, timed_out, forged };
  Got receive(host_protocol::Reply& reply, double limit_seconds);
  Fault ending(const char* during);

  WorkerSettings settings_;
  Descriptor socket_;
  Process process_;
  pid_t pid_ = 0;  ///< of the worker, in our numbering
  double clock_seconds_ = 0.0;
  std::optional<Fault> fault_;
};

}  // namespace kernelsearch::detail
