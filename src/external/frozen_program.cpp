// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frozen_program.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

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

}  // namespace

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
                              const std::filesystem::path& scratch, const ProgramParts& parts) {
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
  boxed.descriptors = parts.descriptors;
  boxed.cores = parts.cores;
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
  boxed.argv.insert(boxed.argv.end(), parts.last_words.begin(), parts.last_words.end());
  detail::Launch launch = detail::launch_in(sandbox, boxed);
  // A stopped process would never see that we are gone.
  launch.ends_with_thread = true;
  if (sandbox == Sandbox::bubblewrap &&
      std::find(launch.argv.begin(), launch.argv.end(), "--die-with-parent") == launch.argv.end())
    launch.argv.insert(launch.argv.begin() + 1, "--die-with-parent");
  return launch;
}

FrozenProgram::FrozenProgram(detail::Launch launch, LineProcess::Manner manner, double answer_seconds,
                             std::string who, Between between)
    : answer_seconds_(answer_seconds),
      who_(std::move(who)),
      between_(between),
      process_(std::make_unique<LineProcess>(std::move(launch), std::move(manner))) {}

bool FrozenProgram::signal(const Member& member, int number) {
  if (!member.handle) return ::kill(member.pid, number) == 0;  // before Linux 5.3
  return syscall(SYS_pidfd_send_signal, member.handle.number(), number, nullptr, 0) == 0;
}

void FrozenProgram::freeze() {
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

void FrozenProgram::thaw() {
  for (const Member& member : stopped_) (void)signal(member, SIGCONT);
}

double FrozenProgram::cpu() const {
  double sum = 0;
  for (const pid_t pid : detail::process_tree(process_->pid())) {
    const double one = detail::cpu_seconds(pid);
    if (one < 0) return -1;
    sum += one;
  }
  return sum;
}

std::vector<pid_t> FrozenProgram::processes() const {
  std::vector<pid_t> pids;
  for (const Member& member : stopped_) pids.push_back(member.pid);
  return pids;
}

void FrozenProgram::kill_all_but(std::span<const pid_t> kept) {
  std::vector<Member> left;
  for (Member& member : stopped_) {
    if (std::find(kept.begin(), kept.end(), member.pid) == kept.end())
      (void)signal(member, SIGKILL);
    else
      left.push_back(std::move(member));
  }
  stopped_ = std::move(left);
}

detail::Fault FrozenProgram::broken(Verdict verdict, std::string reason) {
  process_->kill();
  stopped_.clear();
  fault_ = detail::Fault{verdict, clean_text(reason)};
  return *fault_;
}

void FrozenProgram::end(const std::string& message) {
  if (fault_) {
    process_->kill();
    return;
  }
  thaw();
  (void)process_->write(message, 1.0);
}

std::optional<detail::Fault> FrozenProgram::spoke(const char* during) {
  if (process_->unread().empty()) return std::nullopt;
  return broken(Verdict::cheated,
                who_ + " spoke without being asked " + during + ": " + process_->unread().substr(0, 200));
}

FrozenProgram::Line FrozenProgram::taken(Result<std::string> line, const char* during) {
  if (!line) {
    const Fault& fault = line.error();
    return broken(fault.what == "did not answer" ? Verdict::timed_out : Verdict::crashed,
                  who_ + " " + fault.what + " " + during + ": " + fault.given);
  }
  if (between_ == Between::stands_still) freeze();
  if (auto late = spoke(during)) return *std::move(late);
  return *std::move(line);
}

FrozenProgram::Line FrozenProgram::ask(const std::string& message, const char* during, double& wall) {
  if (fault_) return *fault_;
  if (auto early = spoke(during)) return *std::move(early);
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
  return taken(std::move(line), during);
}

FrozenProgram::Line FrozenProgram::await(const char* during, double seconds) {
  if (fault_) return *fault_;
  thaw();
  return taken(process_->read(seconds), during);
}

}  // namespace kernelsearch::external
