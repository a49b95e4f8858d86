// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/worker_client.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "judge/compile.hpp"
#include "judge/overrun_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "process/helper_program.hpp"
#include "process/pinned_thread.hpp"
#include "process/sandboxed.hpp"
#include "process/stream.hpp"

#ifndef KERNELSEARCH_WORKER_PATHS
#  define KERNELSEARCH_WORKER_PATHS ""
#endif

namespace kernelsearch::detail {
namespace {

namespace fs = std::filesystem;
using host_protocol::Command;
using host_protocol::Kind;
using host_protocol::Reply;

}  // namespace

fs::path find_worker(const fs::path& given) {
  return find_helper({"kernelsearch-worker", "KERNELSEARCH_WORKER", KERNELSEARCH_WORKER_PATHS}, given);
}

std::string threads_text(const std::string& what, int allowed) {
  return what + ", " + std::to_string(allowed) +
         " allowed: if the kernel is meant to use more, set \"threads\" in the problem";
}

WorkerSettings worker_settings(const HostOptions& options, std::vector<int> cores) {
  WorkerSettings settings;
  settings.sandbox = resolved(options.sandbox);
  settings.worker = find_worker(options.worker);
  settings.readable = options.readable;
  settings.cores = std::move(cores);
  settings.load_seconds = options.limits.load_seconds;
  settings.call_seconds = options.limits.call_seconds;
  settings.run_seconds = options.limits.run_seconds;
  settings.memory = options.limits.run_memory;
  return settings;
}

std::vector<int> any_cores(const HostOptions& options, int threads) {
  std::vector<int> cores = host_machine().cores;
  const auto wanted = static_cast<std::size_t>(std::max(1, threads));
  if (cores.size() > wanted) cores.erase(cores.begin(), cores.end() - static_cast<std::ptrdiff_t>(wanted));
  if (options.core >= 0 && wanted == 1) cores = {options.core};
  return cores;
}

WorkerSettings worker_settings(const HostOptions& options, std::vector<int> cores, const Problem& problem) {
  WorkerSettings settings = worker_settings(options, std::move(cores));
  settings.threads = std::max(1, problem.threads);
  settings.frozen = true;
  for (const int core : host_machine().cores)
    if (std::find(settings.cores.begin(), settings.cores.end(), core) == settings.cores.end())
      settings.other_core = core;
  settings.memory = std::max(settings.memory, problem.memory.value_or(0));
  return settings;
}

namespace {

/// Why a call that leaves a register of the processor changed is refused.
std::string left_changed_text(std::uint64_t which) {
  const char* name = "a register of the processor";
  switch (which) {
    case host_protocol::mxcsr:
      name = "MXCSR (rounding, subnormal numbers and exceptions of vector instructions)";
      break;
    case host_protocol::x87_control:
      name = "the x87 control word (rounding, precision and exceptions)";
      break;
    case host_protocol::x87_stack:
      name = "values on the x87 stack (after MMX instructions: emms)";
      break;
    case host_protocol::direction_flag:
      name = "the direction flag of string instructions set";
      break;
    case host_protocol::fpcr:
      name = "FPCR (rounding, subnormal numbers and exceptions)";
      break;
    default:
      break;
  }
  const bool is_value = which == host_protocol::x87_stack || which == host_protocol::direction_flag;
  return std::string("a call left ") + name + (is_value ? "" : " changed") +
         ", which its caller's arithmetic relies on: set it back before the call returns";
}

}  // namespace

WorkerClient::WorkerClient(const WorkerSettings& settings, const Arena& inputs, const Arena& outputs,
                           const fs::path& library, bool trusted)
    : settings_(settings), inputs_(inputs), outputs_(outputs) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    raise<DeviceError>("no socket pair", std::strerror(errno), "close files");
  socket_ = Descriptor(pair[0]);
  Descriptor theirs(pair[1]);
  const int on = 1;
  setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  const Descriptor program = open_for_reading(settings.worker.string());
  const Descriptor object = open_for_reading(library.empty() ? "/dev/null" : library.string());
  const fs::path caller = caller_of(library);
  const Descriptor calls = open_for_reading(caller.empty() ? "/dev/null" : caller.string());
  if (!program || !object || !calls)
    raise<DeviceError>("a file is gone",
                       (!program ? settings.worker
                        : object ? caller
                                 : library)
                           .string(),
                       "do not clear the cache during a run");
  Boxed boxed;
  boxed.files = {{program.number(), "/kernelsearch-worker", settings.worker.string(), true},
                 {object.number(), "/kernel.so", library.string(), false}};
  if (!caller.empty()) boxed.files.push_back({calls.number(), "/caller.so", caller.string(), false});
  // Room for the allowed threads and a few more: a candidate that starts one too many is caught, not starved.
  boxed.argv = {path_in(settings.sandbox, boxed, 0),
                std::to_string(settings.memory + inputs.size() + outputs.size()),
                std::to_string(settings.threads + 8),
                std::to_string(static_cast<std::uint64_t>(settings.run_seconds * settings.threads) + 1),
                trusted ? "1" : "0",
                std::to_string(settings.threads),
                library.empty() ? "" : path_in(settings.sandbox, boxed, 1),
                caller.empty() ? "" : path_in(settings.sandbox, boxed, 2)};
  boxed.descriptors = {{host_protocol::socket_fd, theirs.number()},
                       {host_protocol::inputs_fd, inputs.descriptor()},
                       {host_protocol::outputs_fd, outputs.descriptor()}};
  boxed.readable = settings.readable;
  boxed.cores = settings.cores;
  process_ = Process(launch_in(settings.sandbox, boxed));
  theirs.reset();

  Reply& reply = *reply_;
  if (receive(reply, settings.load_seconds) != Got::reply || reply.kind != Kind::hello || reply.failed != 0)
    raise<DeviceError>("the worker does not start", settings.worker.string(), "see `kernelsearch doctor`");
  inputs_at_ = reply.inputs_at;
  outputs_at_ = reply.outputs_at;
  handle_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  const int filters = filter_count(pid_);
  Command command;
  command.kind = Kind::load;
  Charge charge;
  fault_ = call(command, settings.load_seconds, charge);
  if (fault_) return;
  // Once it is loaded the filter of system calls allows no further thread where one is allowed.
  single_threaded_ = settings_.threads == 1 && thread_count(pid_) == 1;
  if (reply.failed != 0) {
    fault_ = Fault{Verdict::launch_failed, std::string(reply.text, strnlen(reply.text, sizeof reply.text))};
    stop();
  } else if (!trusted && !library.empty() && filters >= 0 && filter_count(pid_) <= filters) {
    fault_ = Fault{Verdict::cheated, "it kept the worker from filtering its system calls"};
    stop();
  }
}

WorkerClient::Got WorkerClient::receive(Reply& reply, double limit_seconds) {
  const double deadline = monotonic_seconds() + limit_seconds;
  while (true) {
    const double left = deadline - monotonic_seconds();
    if (left <= 0) return Got::timed_out;
    if (!wait_ready(socket_.number(), POLLIN, left)) continue;
    iovec part{&reply, sizeof reply};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int) * 8)> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(socket_.number(), &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Got::ended;
    pid_t sender = 0;
    bool descriptors = false;
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_level != SOL_SOCKET) continue;
      if (head->cmsg_type == SCM_CREDENTIALS) {
        ucred credentials;
        std::memcpy(&credentials, CMSG_DATA(head), sizeof credentials);
        sender = credentials.pid;
      } else if (head->cmsg_type == SCM_RIGHTS) {  // sent to exhaust our descriptors
        descriptors = true;
        for (std::size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= head->cmsg_len; ++i) {
          int fd;
          std::memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
          close(fd);
        }
      }
    }
    if (pid_ == 0) pid_ = sender;
    const auto bytes = static_cast<std::size_t>(got);
    if (sender != pid_ || descriptors || (bytes != sizeof reply && bytes != host_protocol::reply_bytes))
      return Got::forged;
    return Got::reply;
  }
}

void WorkerClient::send_signal(int number) const noexcept {
  if (handle_)
    (void)syscall(SYS_pidfd_send_signal, handle_.number(), number, nullptr, 0);
  else if (pid_ > 0)
    (void)::kill(pid_, number);
}

bool WorkerClient::freeze() const {
  send_signal(SIGSTOP);
  // On its only core we run in its place, and before any code of its own its thread will meet the signal. Of
  // several threads only the one that meets it tells the others, and the system may choose another one first.
  if (single_threaded_ && settings_.cores.size() == 1 && sched_getcpu() == settings_.cores.front())
    return true;
  const double deadline = monotonic_seconds() + 5;
  while (!is_stopped(pid_)) {
    if (monotonic_seconds() > deadline) return false;
    sched_yield();
  }
  return true;
}

std::optional<Fault> WorkerClient::answered(Got got, const Command& command, const Reply& reply,
                                            double limit_seconds) {
  const char* during = command.kind == Kind::load ? "while it was loaded" : "while it ran";
  switch (got) {
    case Got::ended:
      return ending(during);
    case Got::timed_out: {
      stop();
      char text[96];
      std::snprintf(text, sizeof text, "no end within %.3g s %s", limit_seconds, during);
      return Fault{Verdict::timed_out, text};
    }
    case Got::reply:
      if (reply.nonce == command.nonce && reply.kind == command.kind) break;
      [[fallthrough]];
    case Got::forged:
      stop();
      return Fault{Verdict::cheated, "it sent a message of its own to the controller"};
  }
  if (reply.failed == host_protocol::want_of_threads) {
    stop();
    return Fault{Verdict::crashed,
                 threads_text("it could start no more threads " + std::string(during), settings_.threads)};
  }
  if (reply.failed == host_protocol::want_of_memory) {
    stop();
    char text[256];
    std::snprintf(
        text, sizeof text,
        "it asked for more memory than it may have %s: %.3g GiB besides its arrays; if it is meant to have "
        "more, set \"memory_gib\" in the problem",
        during, static_cast<double>(settings_.memory) / 0x1p30);
    return Fault{Verdict::crashed, text};
  }
  if (reply.failed == host_protocol::uncaught) {
    stop();
    return Fault{Verdict::crashed, "an exception that nothing caught ended it " + std::string(during) + ": " +
                                       std::string(reply.text, strnlen(reply.text, sizeof reply.text))};
  }
  if (reply.failed == host_protocol::write_to_inputs) {
    stop();
    forbidden_write_ = reply.offset;
    return overrun_fault({});  // Runner::explained says where
  }
  if (reply.failed == host_protocol::left_changed) {
    stop();
    return Fault{Verdict::cheated, left_changed_text(reply.offset)};
  }
  if (reply.failed != 0 && command.kind != Kind::load) {
    stop();
    return Fault{Verdict::cheated, "the worker's reply does not match what it was asked"};
  }
  return std::nullopt;
}

std::optional<Fault> WorkerClient::call(Command command, double limit_seconds, Charge& charge) {
  const char* during = command.kind == Kind::load ? "while it was loaded" : "while it ran";
  char unexpected = 0;
  if (recv(socket_.number(), &unexpected, 1, MSG_DONTWAIT) > 0) {
    stop();
    return Fault{Verdict::cheated, "it sent a message of its own to the controller"};
  }
  command.nonce = secret_seed();
  // Stopped it gets the message in its buffer, so that sending is not charged; the other way round it wakes.
  if (send(socket_.number(), &command, sizeof command, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof command))
    return ending(during);
  const double cpu = this->cpu(), begin = monotonic_seconds();
  if (settings_.frozen) send_signal(SIGCONT);
  const Got got = receive(*reply_, limit_seconds);
  if (settings_.frozen && got == Got::reply && !freeze()) {
    stop();
    return Fault{Verdict::cheated, std::string("it could not be stopped ") + during};
  }
  charge.wall = monotonic_seconds() - begin;
  charge.cpu = this->cpu() - cpu;
  // So that it meets the signal on our core: else it counts as waiting for a core until we leave that one.
  if (settings_.frozen && got == Got::reply) sched_yield();
  return answered(got, command, *reply_, limit_seconds);
}

std::optional<Fault> WorkerClient::lockstep(Command command, std::span<const std::uint32_t> slots,
                                            std::span<const volatile std::byte* const> watched,
                                            double limit_seconds, double& seconds) {
  auto& request = *reinterpret_cast<host_protocol::Request*>(inputs_.data());
  const auto& answer = *reinterpret_cast<const host_protocol::Answer*>(outputs_.data());
  command.kind = Kind::lockstep;
  command.nonce = secret_seed();
  request.sequence.store(command.nonce);
  const double deadline = monotonic_seconds() + limit_seconds;
  bool answers = true;
  std::vector<std::byte> seen(slots.size());
  {
    const PinnedThread elsewhere(settings_.other_core);
    if (send(socket_.number(), &command, sizeof command, MSG_NOSIGNAL) !=
        static_cast<ssize_t>(sizeof command))
      return ending("while it ran");
    Rng sequences(secret_seed());
    const double begin = monotonic_seconds();
    send_signal(SIGCONT);
    for (std::size_t i = 0; i < slots.size() && answers; ++i) {
      request.slot = slots[i];
      const std::uint64_t sequence = sequences();
      request.sequence.store(sequence, std::memory_order_release);
      for (std::uint64_t spins = 1; answer.sequence.load(std::memory_order_acquire) != sequence; ++spins)
        if (spins % 65536 == 0 && (monotonic_seconds() > deadline || !alive())) {
          answers = false;
          break;
        }
      if (i < watched.size()) seen[i] = *watched[i];
    }
    seconds = monotonic_seconds() - begin;
    request.slot = host_protocol::no_slot;
    request.sequence.store(sequences(), std::memory_order_release);
  }
  const Got got = receive(*reply_, answers ? limit_seconds : 0.01);
  if (got == Got::reply && !freeze()) {
    stop();
    return Fault{Verdict::cheated, "it could not be stopped while it ran"};
  }
  if (auto fault = answered(got, command, *reply_, limit_seconds)) return fault;
  for (std::size_t i = 0; i < watched.size(); ++i)
    if (*watched[i] != seen[i])
      return Fault{Verdict::cheated, "it said that a call was done before its result was there"};
  return std::nullopt;
}

Fault WorkerClient::ending(const char* during) {
  int status = 0;
  const bool ended = process_.wait(2.0, status);
  stop();
  if (!ended) return {Verdict::crashed, std::string("it cut its connection ") + during};
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  // bubblewrap reports the end by signal n of what it runs as status 128 + n, as shells do
  if (signal == 0 && settings_.sandbox != Sandbox::none && WEXITSTATUS(status) > 128)
    signal = WEXITSTATUS(status) - 128;
  if (signal == SIGSYS)
    return {Verdict::cheated,
            std::string("it made a system call that kernels may not make (new process, network, "
                        "debugging, ...) ") +
                during};
  if (signal == SIGXCPU) return {Verdict::timed_out, "CPU time limit reached"};
  if (signal != 0) return {Verdict::crashed, signal_text(signal) + " " + during};
  const std::string how =
      "it ended the process with status " + std::to_string(WEXITSTATUS(status)) + " " + during;
  // OpenMP's runtime says so where it cannot start a thread, and is not heard.
  if (WEXITSTATUS(status) == 1)
    return {Verdict::crashed,
            threads_text(how + ", as OpenMP does where it can start no more threads", settings_.threads)};
  return {Verdict::crashed, how};
}

std::optional<Fault> WorkerClient::census() const {
  // Looking through all processes of the machine takes a millisecond.
  int others = child_count(pid_);
  if (others < 0) others = static_cast<int>(process_tree(pid_).size()) - 1;
  if (others > 0)
    return Fault{Verdict::cheated, "it started " + std::to_string(others) + " further processes"};
  int threads = thread_count(pid_);
  // A thread that was joined is still seen until the system has taken it away, which waits for a core.
  for (int attempt = 0; attempt < 10 && threads > settings_.threads; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    threads = thread_count(pid_);
  }
  if (threads > settings_.threads)
    return Fault{Verdict::cheated,
                 threads_text("after its calls returned, " + std::to_string(threads) + " threads are there",
                              settings_.threads)};
  return std::nullopt;
}

bool WorkerClient::alive() {
  int status = 0;
  return process_.running() && !process_.wait(0.0, status);
}

void WorkerClient::stop() noexcept {
  process_.kill();
  handle_.reset();
  socket_.reset();
}

}  // namespace kernelsearch::detail
