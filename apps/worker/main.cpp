// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process that runs a candidate. Once the candidate is loaded nothing here can be trusted any more; the
// controller checks results, buffers, threads and times from outside. Kept free of iostreams and of the
// library so that it starts fast: a fresh one runs for each candidate.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "evaluator/host/protocol.hpp"
#include "lockdown.hpp"

namespace {

using namespace kernelsearch::host_protocol;
using Entry = void (*)(void* const*);
using Clock = int (*)(clockid_t, timespec*);

// Taken before any candidate is loaded: a clock_gettime defined by the candidate is never looked at.
const Clock read_clock = &clock_gettime;

std::uint64_t now() {
  timespec t;
  read_clock(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

std::uint32_t clock_cost() {
  constexpr int reads = 200;
  const std::uint64_t begin = now();
  for (int i = 0; i < reads; ++i) (void)now();
  return static_cast<std::uint32_t>((now() - begin) / reads);
}

void limit(int resource, std::uint64_t value) {
  const rlimit both{value, value};
  setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

void warm(const std::byte* begin, std::uint64_t bytes) {
  volatile std::byte sink{};
  for (std::uint64_t i = 0; i < bytes; i += 64) sink = begin[i];
  (void)sink;
}

void flush(const std::byte* begin, std::uint64_t bytes) {
#if defined(__x86_64__) || defined(__i386__)
  for (std::uint64_t i = 0; i < bytes; i += 64) __builtin_ia32_clflush(begin + i);
  __builtin_ia32_mfence();
#elif defined(__aarch64__)
  for (std::uint64_t i = 0; i < bytes; i += 64) asm volatile("dc civac, %0" ::"r"(begin + i) : "memory");
  asm volatile("dsb ish" ::: "memory");
#else
#  error "kernelsearch-worker: no cache flush known for this processor"
#endif
}

void say(Reply& reply, const char* text) {
  reply.failed = 1;
  std::snprintf(reply.text, sizeof reply.text, "%s", text != nullptr ? text : "unknown error");
}

// A kernel that is refused memory or threads mostly ends by an exception that nobody catches; then the
// controller is told so instead of guessing from SIGABRT. One that catches it goes on.
using Handler = void (*)();
using SetHandler = Handler (*)(Handler);
SetHandler set_new_handler_of_kernel = nullptr;
bool refused_memory = false;
Reply* last_reply = nullptr;

void note_refused_memory() {
  refused_memory = true;
  set_new_handler_of_kernel(nullptr);  // operator new now throws
}

void* nothing(void*) {
  return nullptr;
}

/// Whether the limit on threads is what the kernel ran into.
bool refused_threads() {
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, nothing, nullptr) != 0) return true;
  pthread_detach(thread);
  return false;
}

void end_by_exception() {
  const std::uint32_t why = refused_memory ? 2 : refused_threads() ? 3 : 0;
  if (why != 0 && last_reply != nullptr) {
    last_reply->failed = why;
    ::send(socket_fd, last_reply, sizeof *last_reply, MSG_NOSIGNAL);
    _exit(5);
  }
  std::abort();
}

/// In the C++ library that the kernel brings along: ours is linked statically and another one.
void watch_memory(void* library) {
  void* const set_new = dlsym(library, "_ZSt15set_new_handlerPFvvE");
  void* const set_terminate = dlsym(library, "_ZSt13set_terminatePFvvE");
  if (set_new == nullptr || set_terminate == nullptr) return;
  SetHandler set = nullptr;
  std::memcpy(&set_new_handler_of_kernel, &set_new, sizeof set_new);
  std::memcpy(&set, &set_terminate, sizeof set_terminate);
  set_new_handler_of_kernel(note_refused_memory);
  set(end_by_exception);
}

class Worker {
 public:
  int serve() {
    if (command_ == nullptr || reply_ == nullptr) return 3;
    *reply_ = {};
    reply_->kind = Kind::hello;
    reply_->clock_nanoseconds = clock_cost();
    if (!send()) return 3;
    while (true) {
      const ssize_t got = recv(socket_fd, command_, sizeof *command_, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) return 0;  // the controller is done, or gone
      if (got != static_cast<ssize_t>(sizeof *command_)) return 3;
      *reply_ = {};
      reply_->nonce = command_->nonce;
      reply_->kind = command_->kind;
      if (command_->kind == Kind::load)
        load();
      else
        run();
      if (!send()) return 3;
    }
  }

 private:
  bool send() const { return ::send(socket_fd, reply_, sizeof *reply_, MSG_NOSIGNAL) == sizeof *reply_; }

  void load() {
    bytes_ = command_->memory_bytes;
    void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
    if (at == MAP_FAILED) return say(*reply_, "the shared memory cannot be mapped");
    memory_ = static_cast<std::byte*>(at);
    void* library = dlopen(command_->text, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return say(*reply_, dlerror());
    void* symbol = dlsym(library, "kernelsearch_entry");
    if (symbol == nullptr) return say(*reply_, dlerror());
    std::memcpy(&entry_, &symbol, sizeof entry_);
    last_reply = reply_;
    watch_memory(library);
  }

  void run() {
    if (entry_ == nullptr) return say(*reply_, "nothing is loaded");
    const Command& c = *command_;
    const std::size_t width = c.argument_count + 1;
    auto** tables = static_cast<void**>(std::calloc(c.slots * width, sizeof(void*)));
    if (tables == nullptr) return say(*reply_, "no memory for the argument tables");
    for (std::uint32_t slot = 0; slot < c.slots; ++slot)
      for (std::uint32_t a = 0; a < c.argument_count; ++a)
        tables[slot * width + a] =
            memory_ + c.offset[a] + (c.bytes[a] != 0 ? c.first_slot + slot * c.slot_stride : 0);
    std::uint32_t call = 0;
    for (std::uint32_t sample = 0; sample < c.samples && sample < max_samples; ++sample) {
      if (c.prepare != Prepare::nothing) prepare(call);
      const std::uint64_t begin = now();
      for (std::uint32_t i = 0; i < c.calls_per_sample; ++i) {
        entry_(tables + (call % c.slots) * width);
        ++call;
      }
      reply_->nanoseconds[sample] = now() - begin;
      reply_->samples = sample + 1;
    }
    std::free(tables);
  }

  void prepare(std::uint32_t call) const {
    const Command& c = *command_;
    for (std::uint32_t i = 0; i < c.calls_per_sample && i < c.slots; ++i)
      for (std::uint32_t a = 0; a < c.argument_count; ++a) {
        const std::byte* begin =
            memory_ + c.first_slot + ((call + i) % c.slots) * c.slot_stride + c.offset[a];
        if (c.prepare == Prepare::warm)
          warm(begin, c.bytes[a]);
        else
          flush(begin, c.bytes[a]);
      }
  }

  Command* command_ = static_cast<Command*>(std::calloc(1, sizeof(Command)));
  Reply* reply_ = static_cast<Reply*>(std::calloc(1, sizeof(Reply)));
  Entry entry_ = nullptr;
  std::byte* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace

// kernelsearch-worker ADDRESS_SPACE_BYTES PROCESSES CPU_SECONDS TRUSTED: limits set here, after the sandbox
// made its namespaces, so that the sandbox itself is not subject to them.
int main(int argc, char** argv) {
  if (argc != 5 || fcntl(socket_fd, F_GETFD) < 0) {
    std::fputs("kernelsearch-worker is started by kernelsearch, which talks to it over a socket\n", stderr);
    return 2;
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CPU, std::strtoull(argv[3], nullptr, 10));
  limit(RLIMIT_AS, std::strtoull(argv[1], nullptr, 10));
  limit(RLIMIT_NPROC, std::strtoull(argv[2], nullptr, 10));
  if (std::atoi(argv[4]) == 0 && !kernelsearch::lock_down()) return 4;
  static Worker worker;
  return worker.serve();
}
