// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "judge/worker_client.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "line_process.hpp"

namespace kernelsearch::external {

/// Requests and replies carry it, so that no reply can be written before its request is read.
[[nodiscard]] std::string secret_name();

/// What of the launch of an external program is not the same for all of them.
struct ProgramParts {
  std::vector<std::pair<int, int>> descriptors{};  ///< number inside, ours
  std::vector<std::string> last_words{};           ///< behind those of the problem's command
  std::vector<int> cores{};                        ///< that it may run on; empty: any
};

/// The launch of the problem's program in the sandbox, with its files in `scratch`.
[[nodiscard]] detail::Launch program_launch(const ExternalProgram& program, const HostOptions& options,
                                            const std::filesystem::path& scratch, const ProgramParts& parts);

/// A program that speaks lines of JSON in the sandbox and does nothing but between a request and its reply:
/// all its processes are stopped (SIGSTOP) otherwise. It ends with the thread that made it, and with this
/// object. Not thread-safe.
class FrozenProgram {
 public:
  using Line = Result<std::string, detail::Fault>;

  /// What it does while nobody asks: one that is trusted need not be stopped.
  enum class Between : std::uint8_t { stands_still, runs };

  /// Starts it; `who` is how messages call it. A ConfigError where the sandbox cannot be had.
  FrozenProgram(detail::Launch launch, LineProcess::Manner manner, double answer_seconds, std::string who,
                Between between = Between::stands_still);

  /// Sends a request and takes the line that answers it; `wall`: seconds from the moment it was let go until
  /// the line was there. For a program that did not answer, or spoke without being asked, the verdict: it has
  /// been ended.
  [[nodiscard]] Line ask(const std::string& message, const char* during, double& wall);
  /// Lets it go on without a request, for a line that it owes.
  [[nodiscard]] Line await(const char* during, double seconds);
  /// Ends it for that verdict, which all further requests get.
  detail::Fault broken(Verdict verdict, std::string reason);
  [[nodiscard]] bool is_broken() const noexcept { return fault_.has_value(); }
  /// Lets it go on and tells it to end.
  void end(const std::string& message);

  /// Its processes, as last seen.
  [[nodiscard]] std::vector<pid_t> processes() const;
  /// Kills those of its processes that are not listed.
  void kill_all_but(std::span<const pid_t> kept);
  /// Processor time of all its processes in seconds; negative when unknown.
  [[nodiscard]] double cpu() const;
  [[nodiscard]] const std::string& who() const noexcept { return who_; }

 private:
  /// One of its processes. The handle is its own: a number may be another process's later.
  struct Member {
    pid_t pid = 0;
    detail::Descriptor handle{};
  };

  static bool signal(const Member& member, int number);
  void freeze();
  void thaw();
  [[nodiscard]] std::optional<detail::Fault> spoke(const char* during);
  [[nodiscard]] Line taken(Result<std::string> line, const char* during);

  double answer_seconds_;
  std::string who_;
  Between between_;
  std::unique_ptr<LineProcess> process_;
  std::vector<Member> stopped_;
  std::optional<detail::Fault> fault_;
};

}  // namespace kernelsearch::external
