// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/worker_client.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "evaluator/host/sandboxed.hpp"
#include "kernelsearch/core/error.hpp"

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

fs::path find_helper(const HelperProgram& program, const fs::path& given) {
  std::vector<fs::path> places;
  if (!given.empty()) {
    places.push_back(given);
  } else {
    const char* const name = program.name;
    if (const char* path = std::getenv(program.variable); path != nullptr && *path != '\0')
      places.emplace_back(path);
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    places.push_back(here / name);
    places.push_back(here / ".." / "libexec" / "kernelsearch" / name);
    const std::string compiled_in = program.places;
    for (std::size_t begin = 0; begin < compiled_in.size();) {
      const std::size_t end = std::min(compiled_in.find(':', begin), compiled_in.size());
      places.emplace_back(compiled_in.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  for (const fs::path& place : places)
    if (access(place.c_str(), X_OK) == 0 && !fs::is_directory(place)) return place;
  raise<ConfigError>(std::string(program.name) + " is not there", places.front().string(),
                     std::string("install it or set ") + program.variable + " to its path");
}

std::string threads_text(const std::string& what, int allowed) {
  return what + ", " + std::to_string(allowed) +
         " allowed: if the kernel is meant to use more, set \"threads\" in the problem";
}

WorkerClient::WorkerClient(const WorkerSettings& settings, const Arena& arena, const fs::path& library,
                           bool trusted)
    : settings_(settings) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    raise<DeviceError>("no socket pair", std::strerror(errno), "close files");
  socket_ = Descriptor(pair[0]);
  Descriptor theirs(pair[1]);
  const int on = 1;
  setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  const Descriptor program = open_for_reading(settings.worker.string());
  const Descriptor object = open_for_reading(library.string());
  if (!program || !object)
    raise<DeviceError>("a file is gone", (program ? library : settings.worker).string(),
                       "do not clear the cache during a run");
  Boxed boxed;
  boxed.files = {{program.number(), "/kernelsearch-worker", settings.worker.string(), true},
                 {object.number(), "/kernel.so", library.string(), false}};
  // Room for the allowed threads and a few more: a candidate that starts one too many is caught, not starved.
  boxed.argv = {path_in(settings.sandbox, boxed, 0), std::to_string(settings.memory + arena.size()),
                std::to_string(settings.threads + 8),
                std::to_string(static_cast<std::uint64_t>(settings.run_seconds * settings.threads) + 1),
                trusted ? "1" : "0"};
  boxed.descriptors = {{host_protocol::socket_fd, theirs.number()},
                       {host_protocol::memory_fd, arena.descriptor()}};
  boxed.readable = settings.readable;
  boxed.cores = settings.cores;
  process_ = Process(launch_in(settings.sandbox, boxed));
  theirs.reset();

  auto reply = std::make_unique<Reply>();
  if (receive(*reply, settings.load_seconds) != Got::reply || reply->kind != Kind::hello)
    raise<DeviceError>("the worker does not start", settings.worker.string(), "see `kernelsearch doctor`");
  clock_seconds_ = 1e-9 * std::max(1u, reply->clock_nanoseconds);
  auto command = std::make_unique<Command>();
  command->kind = Kind::load;
  command->memory_bytes = arena.size();
  const std::string path = path_in(settings.sandbox, boxed, 1);
  if (path.size() >= sizeof command->text)
    raise<ConfigError>("the path of the cache is too long", path, "choose a shorter one");
  std::memcpy(command->text, path.c_str(), path.size() + 1);
  double seconds = 0;
  fault_ = call(*command, settings.load_seconds, *reply, seconds);
  if (fault_) return;
  if (reply->failed != 0) {
    fault_ =
        Fault{Verdict::launch_failed, std::string(reply->text, strnlen(reply->text, sizeof reply->text))};
    stop();
  }
}

WorkerClient::Got WorkerClient::receive(Reply& reply, double limit_seconds) {
  const double deadline = monotonic_seconds() + limit_seconds;
  while (true) {
    pollfd ready{socket_.number(), POLLIN, 0};
    const double left = deadline - monotonic_seconds();
    if (left <= 0) return Got::timed_out;
    const int polled = poll(&ready, 1, static_cast<int>(std::ceil(left * 1000)));
    if (polled < 0 && errno != EINTR) return Got::ended;
    if (polled <= 0) continue;
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
    if (sender != pid_ || descriptors || got != static_cast<ssize_t>(sizeof reply)) return Got::forged;
    return Got::reply;
  }
}

std::optional<Fault> WorkerClient::call(Command& command, double limit_seconds, Reply& reply,
                                        double& seconds) {
  const char* during = command.kind == Kind::load ? "while it was loaded" : "while it ran";
  char unexpected = 0;
  if (recv(socket_.number(), &unexpected, 1, MSG_DONTWAIT) > 0) {
    stop();
    return Fault{Verdict::cheated, "it sent a message of its own to the controller"};
  }
  command.nonce = secret_seed();
  const double begin = monotonic_seconds();
  if (send(socket_.number(), &command, sizeof command, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof command))
    return ending(during);
  const Got got = receive(reply, limit_seconds);
  seconds = monotonic_seconds() - begin;
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
      if (reply.nonce == command.nonce && reply.kind == command.kind &&
          reply.samples <= host_protocol::max_samples)
        break;
      [[fallthrough]];
    case Got::forged:
      stop();
      return Fault{Verdict::cheated, "it sent a message of its own to the controller"};
  }
  if (reply.failed == 3) {
    stop();
    return Fault{Verdict::crashed,
                 threads_text("it could start no more threads " + std::string(during), settings_.threads)};
  }
  if (reply.failed == 2) {
    stop();
    char text[256];
    std::snprintf(
        text, sizeof text,
        "it asked for more memory than it may have %s: %.3g GiB besides its arrays; if it is meant to have "
        "more, set \"memory_gib\" in the problem",
        during, static_cast<double>(settings_.memory) / 0x1p30);
    return Fault{Verdict::crashed, text};
  }
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
  return {Verdict::crashed,
          "it ended the process with status " + std::to_string(WEXITSTATUS(status)) + " " + during};
}

std::optional<Fault> WorkerClient::census() const {
  const auto tree = process_tree(pid_);
  if (tree.size() > 1)
    return Fault{Verdict::cheated, "it started " + std::to_string(tree.size() - 1) + " further processes"};
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
  socket_.reset();
}

}  // namespace kernelsearch::detail
