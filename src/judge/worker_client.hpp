// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/arena.hpp"
#include "judge/fault.hpp"
#include "judge/load_meter.hpp"
#include "judge/protocol.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "process/process.hpp"

namespace kernelsearch::detail {

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
  /// Stopped whenever it is not called, with its processor time read on both sides; for what is timed.
  bool frozen = false;
  /// A core that is not measured on, to watch from in lockstep; below 0: there is none.
  int other_core = -1;
  double load_seconds = 10.0;
  double call_seconds = 10.0;
  double run_seconds = 120.0;
  std::uint64_t memory = std::uint64_t{2} << 30;
};

/// As many cores as the evaluator gives a kernel of that many threads, for what is run and not timed, so that
/// any will do. OpenMP starts a thread for each that it sees.
[[nodiscard]] std::vector<int> any_cores(const HostOptions& options, int threads);
/// How the options have them started, on these cores, for code that is allowed one thread.
[[nodiscard]] WorkerSettings worker_settings(const HostOptions& options, std::vector<int> cores);
/// The same with the threads and the memory that the problem allows its kernels.
[[nodiscard]] WorkerSettings worker_settings(const HostOptions& options, std::vector<int> cores,
                                             const Problem& problem);

/// What a worker was charged for a command.
struct Charge {
  double cpu =
      0.0;  ///< seconds of processor time, all its threads, from when it was let go until it was stopped
  double wall = 0.0;  ///< seconds that passed meanwhile
};

/// A worker process with one library loaded. Not thread-safe.
///
/// A worker that is timed is stopped (SIGSTOP) but while it carries out a command, and the thread that
/// commands it shares its only core: when that thread runs, the worker does not, and what SIGSTOP leaves
/// pending it can do nothing about; of several threads each is seen to have stopped. So all that the worker's
/// code ever does is in the processor time between the two readings, whenever it says that it is done.
class WorkerClient {
 public:
  /// Starts the worker and loads the library; with an empty path none, for a worker that shows what the clock
  /// itself takes. A DeviceError if the worker itself does not start; what the library does wrong is in
  /// `fault()`.
  WorkerClient(const WorkerSettings& settings, const Arena& inputs, const Arena& outputs,
               const std::filesystem::path& library, bool trusted);

  [[nodiscard]] const std::optional<Fault>& fault() const noexcept { return fault_; }

  /// Sends a command and waits for its reply; on a fault the worker is dead.
  [[nodiscard]] std::optional<Fault> call(host_protocol::Command command, double limit_seconds,
                                          Charge& charge);

  /// Has it make the calls `slots` one after the other, each told only when the one before is answered;
  /// `seconds`: from when it was let go to the last answer, by a clock on another core. `command` as for
  /// batches. The byte of `watched` for each call may not change once the call is answered: an answer that
  /// comes before its result is `cheated`. An empty `watched`: there are no outputs.
  [[nodiscard]] std::optional<Fault> lockstep(host_protocol::Command command,
                                              std::span<const std::uint32_t> slots,
                                              std::span<const volatile std::byte* const> watched,
                                              double limit_seconds, double& seconds);

  /// Whether what runs in there is one process with no more threads than allowed.
  [[nodiscard]] std::optional<Fault> census() const;

  /// CPU time of the worker in seconds; negative when unknown.
  [[nodiscard]] double cpu() const { return cpu_seconds(pid_); }
  /// Seconds that it was ready to run and something else had its core; negative when unknown.
  [[nodiscard]] double waited() const { return waited_seconds(pid_); }
  /// Where the arenas are in the worker.
  [[nodiscard]] std::uint64_t inputs_at() const noexcept { return inputs_at_; }
  [[nodiscard]] std::uint64_t outputs_at() const noexcept { return outputs_at_; }
  /// Where in the inputs it tried to write, which ended it.
  [[nodiscard]] const std::optional<std::uint64_t>& forbidden_write() const noexcept {
    return forbidden_write_;
  }
  /// False also when it was ended from outside, for instance with the thread that started it.
  [[nodiscard]] bool alive();
  void stop() noexcept;

 private:
  enum class Got { reply, ended, timed_out, forged };
  Got receive(host_protocol::Reply& reply, double limit_seconds);
  /// The fault of a reply, or of none.
  std::optional<Fault> answered(Got got, const host_protocol::Command& command,
                                const host_protocol::Reply& reply, double limit_seconds);
  Fault ending(const char* during);
  void send_signal(int number) const noexcept;
  /// Stops it and returns when none of it runs; false where it does not stop.
  bool freeze() const;

  WorkerSettings settings_;
  const Arena& inputs_;
  const Arena& outputs_;
  Descriptor socket_;
  Process process_;
  pid_t pid_ = 0;                 ///< of the worker, in our numbering
  Descriptor handle_;             ///< of the worker: a number may be another process's later
  bool single_threaded_ = false;  ///< for as long as it lives
  std::uint64_t inputs_at_ = 0, outputs_at_ = 0;
  std::unique_ptr<host_protocol::Reply> reply_ = std::make_unique<host_protocol::Reply>();
  std::optional<std::uint64_t> forbidden_write_;
  std::optional<Fault> fault_;
};

}  // namespace kernelsearch::detail
