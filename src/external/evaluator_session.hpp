// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>

#include "evaluator_messages.hpp"
#include "frozen_program.hpp"
#include "judge/arena.hpp"
#include "judge/worker_client.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch::external {

/// What a request came to: the reply, or the verdict of a program that did not give one.
using Answer = Result<EvaluatorReply, detail::Fault>;

/// A program of an external problem that runs in the sandbox, for one candidate. Between requests all its
/// processes are stopped (SIGSTOP): it sees no input before the clock runs, and does nothing after its reply.
/// It ends with the thread that made it, and with this object. Not thread-safe.
class EvaluatorSession {
 public:
  /// Starts it; `inputs` and `outputs` must outlive it. A ConfigError where the sandbox cannot be had.
  EvaluatorSession(const Problem& problem, const HostOptions& options, const detail::Arena& inputs,
                   const detail::Arena& outputs);
  EvaluatorSession(const EvaluatorSession&) = delete;
  EvaluatorSession& operator=(const EvaluatorSession&) = delete;
  ~EvaluatorSession();

  [[nodiscard]] Answer describe();
  [[nodiscard]] Answer build(const Candidate& candidate);
  [[nodiscard]] Answer load(const detail::Slots& slots);
  /// Has the kernel called once on each of the slots, in this order; `wall`: seconds from the moment it was
  /// let go until its reply was there.
  [[nodiscard]] Answer run(std::span<const std::uint32_t> slots, double& wall);
  /// A request without work: what a request itself takes.
  [[nodiscard]] Answer nothing(double& wall);

  /// Processor time of all its processes in seconds; negative when unknown.
  [[nodiscard]] double cpu() const { return program_.cpu(); }

 private:
  [[nodiscard]] Answer ask(const std::string& message, const std::string& id, EvaluatorReplyKind wanted,
                           const char* during, double& wall);

  const Problem& problem_;
  const detail::Arena& inputs_;
  const detail::Arena& outputs_;
  detail::ScratchFolder scratch_;
  FrozenProgram program_;
};

}  // namespace kernelsearch::external
