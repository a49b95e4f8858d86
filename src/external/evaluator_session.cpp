// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator_session.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/replace_all.hpp"
#include "process/process.hpp"
#include "process/sandboxed.hpp"

namespace kernelsearch::external {
namespace {

constexpr std::uint64_t evaluator_temporary_bytes = std::uint64_t{1} << 30;

/// Writes the program's files below `folder`, for all to read.
void write_program(const std::filesystem::path& folder, const std::vector<SourceFile>& files) {
  std::filesystem::create_directory(folder);
  ::chmod(folder.c_str(), 0755);
  for (const SourceFile& file : files) {
    const std::filesystem::path path = folder / file.path;
    std::filesystem::create_directories(path.parent_path());
    for (std::filesystem::path up = path.parent_path(); up != folder; up = up.parent_path())
      ::chmod(up.c_str(), 0755);
    std::ofstream(path, std::ios::binary) << file.text;
    // A program among them may be started.
    if (::chmod(path.c_str(), 0755) != 0)
      detail::raise<DeviceError>("a file of the external program cannot be written", path.string(),
                                 "free some space where temporary files are");
  }
}

/// Requests and replies carry it, so that no reply can be written before its request is read.
std::string secret_name() {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (int word = 0; word < 2; ++word) {
    std::uint64_t bits = detail::secret_seed();
    for (int i = 0; i < 16; ++i, bits >>= 4) text += digits[bits & 15];
  }
  return text;
}

detail::Launch program_launch(const ExternalProgram& program, const HostOptions& options,
                              const std::filesystem::path& scratch, const detail::Arena& inputs,
                              const detail::Arena& outputs) {
  const Sandbox sandbox = resolved(options.sandbox);
  const std::filesystem::path files = scratch / "program";
  write_program(files, program.files);
  detail::Boxed boxed;
  std::string inside = files.string();
  if (sandbox == Sandbox::bubblewrap) {
    inside = "/program";
    boxed.folders = {{files, inside}};
  } else {
    boxed.scratch = scratch;
  }
  boxed.descriptors = {{inputs_descriptor, inputs.descriptor()}, {outputs_descriptor, outputs.descriptor()}};
  boxed.readable = options.readable;
  for (const std::string& folder : program.readable) boxed.readable.emplace_back(folder);
  boxed.devices = program.devices;
  boxed.own_processes = true;
  boxed.temporary_bytes = evaluator_temporary_bytes;
  boxed.limits = {{RLIMIT_CORE, 0}};
  boxed.environment = {"HOME=" + detail::temporary_folder(sandbox, boxed), "PYTHONDONTWRITEBYTECODE=1"};
  boxed.argv = {"/usr/bin/env"};
  if (const char* path = std::getenv("PATH"); path != nullptr && sandbox == Sandbox::none)
    boxed.argv.push_back(std::string("PATH=") + path);
  for (std::string word : program.command) {
    detail::replace_all(word, "${FILES}", inside);
    boxed.argv.push_back(std::move(word));
  }
  detail::Launch launch = detail::launch_in(sandbox, boxed);
  // A stopped process would never see that we are gone.
  launch.ends_with_thread = true;
  if (sandbox == Sandbox::bubblewrap &&
      std::find(launch.argv.begin(), launch.argv.end(), "--die-with-parent") == launch.argv.end())
    launch.argv.insert(launch.argv.begin() + 1, "--die-with-parent");
  return launch;
}

}  // namespace

EvaluatorSession::EvaluatorSession(const Problem& problem, const HostOptions& options,
                                   const detail::Arena& inputs, const detail::Arena& outputs)
    : problem_(problem),
      inputs_(inputs),
      outputs_(outputs),
      answer_seconds_(problem.external->answer_seconds),
      scratch_(sandbox_status(resolved(options.sandbox)).as_nobody),
      process_(std::make_unique<LineProcess>(
          program_launch(*problem.external, options, scratch_.path(), inputs, outputs),
          LineProcess::Manner{"docs/external_evaluators.md", "external.answer_seconds",
                              longest_evaluator_reply})) {}

EvaluatorSession::~EvaluatorSession() {
  if (fault_) {
    process_->kill();
    return;
  }
  thaw();
  (void)process_->write(evaluator_end_message(), 1.0);
}

bool EvaluatorSession::signal(const Member& member, int number) {
  if (!member.handle) return ::kill(member.pid, number) == 0;  // before Linux 5.3
  return syscall(SYS_pidfd_send_signal, member.handle.number(), number, nullptr, 0) == 0;
}

void EvaluatorSession::freeze() {
  // Who was seen before first: looking for others takes longer than stopping them.
  for (const Member& member : stopped_) (void)signal(member, SIGSTOP);
  const double deadline = detail::monotonic_seconds() + 2.0;
  while (true) {
    std::vector<Member> tree;
    bool still = true;
    for (const pid_t pid : detail::process_tree(process_->pid())) {
      const auto known = std::find_if(stopped_.begin(), stopped_.end(),
                                      [pid](const Member& member) { return member.pid == pid; });
      Member member;
      if (known != stopped_.end()) {
        member = std::move(*known);
      } else {
        member = {pid, detail::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)))};
        still = false;
      }
      if (!detail::is_stopped(pid)) {
        if (!signal(member, SIGSTOP))  // another process has the number of one that has ended
          member.handle = detail::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
        still = false;
      }
      tree.push_back(std::move(member));
    }
    stopped_ = std::move(tree);
    if (still || detail::monotonic_seconds() > deadline) return;
  }
}

void EvaluatorSession::thaw() {
  for (const Member& member : stopped_) (void)signal(member, SIGCONT);
}

double EvaluatorSession::cpu() const {
  double sum = 0;
  for (const pid_t pid : detail::process_tree(process_->pid())) {
    const double one = detail::cpu_seconds(pid);
    if (one < 0) return -1;
    sum += one;
  }
  return sum;
}

Answer EvaluatorSession::broken(Verdict verdict, std::string reason) {
  process_->kill();
  fault_ = detail::Fault{verdict, clean_text(reason)};
  return *fault_;
}

Answer EvaluatorSession::ask(const std::string& message, const std::string& id, EvaluatorReplyKind wanted,
                             const char* during, double& wall) {
  if (fault_) return *fault_;
  const std::string who = "the external evaluator ";
  const std::string when = std::string(" ") + during;
  const auto spoke = [&]() -> std::optional<Answer> {
    if (process_->unread().empty()) return std::nullopt;
    return broken(Verdict::cheated,
                  who + "spoke without being asked" + when + ": " + process_->unread().substr(0, 200));
  };
  if (auto early = spoke()) return *std::move(early);
  // A short request waits in the pipe until it is let go; a long one does not fit there.
  constexpr std::size_t fits = 4096;
  const bool held = message.size() < fits;
  if (!held) thaw();
  Result<void> sent = process_->write(message, answer_seconds_);
  const double begin = detail::monotonic_seconds();
  if (held) thaw();
  Result<std::string> line =
      sent ? process_->read(answer_seconds_) : Result<std::string>(std::move(sent).error());
  wall = detail::monotonic_seconds() - begin;
  if (!line) {
    const Fault& fault = line.error();
    return broken(fault.what == "did not answer" ? Verdict::timed_out : Verdict::crashed,
                  who + fault.what + when + ": " + fault.given);
  }
  freeze();
  if (auto late = spoke()) return *std::move(late);
  Result<EvaluatorReply> reply = try_parse_evaluator_reply(*line);
  if (!reply)
    return broken(Verdict::crashed,
                  who + reply.error().what + when + ": " + reply.error().given + "; " + reply.error().todo);
  if (reply->id != id || reply->kind != wanted)
    return broken(Verdict::cheated, who + "gave a reply that does not belong to its request" + when + ": " +
                                        line->substr(0, 200));
  return *std::move(reply);
}

Answer EvaluatorSession::describe() {
  const std::string id = secret_name();
  double wall = 0;
  return ask(describe_message(problem_, id), id, EvaluatorReplyKind::described,
             "when asked to describe itself", wall);
}

Answer EvaluatorSession::build(const Candidate& candidate) {
  const std::string id = secret_name();
  double wall = 0;
  return ask(build_message(candidate, id), id, EvaluatorReplyKind::built, "while it built", wall);
}

Answer EvaluatorSession::load(const detail::Slots& slots) {
  const std::string id = secret_name();
  double wall = 0;
  return ask(load_message(problem_, slots, inputs_, outputs_, id), id, EvaluatorReplyKind::loaded,
             "while it loaded", wall);
}

Answer EvaluatorSession::run(std::span<const std::uint32_t> slots, double& wall) {
  const std::string id = secret_name();
  Answer answer = ask(run_message(slots, id), id, EvaluatorReplyKind::ran, "while it ran", wall);
  if (answer && answer->ok && !answer->seconds.empty() && answer->seconds.size() != slots.size())
    return broken(Verdict::crashed, "the external evaluator gave " + std::to_string(answer->seconds.size()) +
                                        " times for " + std::to_string(slots.size()) + " calls");
  return answer;
}

Answer EvaluatorSession::nothing(double& wall) {
  const std::string id = secret_name();
  return ask(nothing_message(id), id, EvaluatorReplyKind::nothing, "when asked to do nothing", wall);
}

}  // namespace kernelsearch::external
