// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process that runs a candidate. Once the candidate is loaded nothing here can be trusted any more: it
// holds no clock, and the controller compares results, buffers and threads and takes times from outside. Kept
// free of iostreams and of the library so that it starts fast: a fresh one runs for each candidate.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <typeinfo>

#include "floating_state.hpp"
#include "guarded.hpp"
#include "judge/protocol.hpp"
#include "load.hpp"
#include "lockdown.hpp"

namespace {

using namespace kernelsearch::host_protocol;
using kernelsearch::Entry;

void say(Reply& reply, const char* text) {
  reply.failed = in_words;
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

using ExceptionType = std::type_info* (*)();
ExceptionType exception_of_kernel = nullptr;
// What else of the kernel's C++ library tells what its exception says.
using CurrentException = std::exception_ptr (*)();
CurrentException current_exception_of_kernel = nullptr;
const std::type_info* exception_type_of_kernel = nullptr;

/// What a worker without a kernel calls, to show what its own loop takes.
void no_kernel(void* const*) {}

/// A number that nobody knows before: the processor counts faster than it makes calls.
std::uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#endif
}

void* nothing(void*) {
  return nullptr;
}

/// Whether it is being refused threads that the kernel ran into.
bool refused_threads() {
  const std::type_info* const type = exception_of_kernel != nullptr ? exception_of_kernel() : nullptr;
  if (type != nullptr && std::strcmp(type->name(), "St12system_error") != 0) return false;
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, nothing, nullptr) != 0) return true;
  pthread_detach(thread);
  return false;
}

/// The text of the kernel's exception, where it is derived from std::exception; else null.
const char* exception_text() {
  if (exception_of_kernel == nullptr || current_exception_of_kernel == nullptr ||
      exception_type_of_kernel == nullptr)
    return nullptr;
  const std::type_info* const type = exception_of_kernel();
  if (type == nullptr) return nullptr;
  // Never destroyed: our C++ library is another one than the kernel's, and the process ends.
  union Kept {
    std::exception_ptr pointer;
    void* object;  // which is all that it holds
    Kept() : pointer(current_exception_of_kernel()) {}
    ~Kept() {}
  } const kept;
  void* object = kept.object;
  if (object == nullptr || !exception_type_of_kernel->__do_catch(type, &object, 1)) return nullptr;
  return static_cast<const std::exception*>(object)->what();
}

void end_by_exception() {
  const char* const text = refused_memory ? nullptr : exception_text();
  const std::uint32_t why = refused_memory      ? want_of_memory
                            : refused_threads() ? want_of_threads
                            : text != nullptr   ? uncaught
                                                : nothing_failed;
  if (why == uncaught && last_reply != nullptr) {
    last_reply->failed = why;
    std::snprintf(last_reply->text, sizeof last_reply->text, "%s", text);
    ::send(socket_fd, last_reply, sizeof *last_reply, MSG_NOSIGNAL);
    _exit(5);
  }
  if (why != nothing_failed && last_reply != nullptr) {
    last_reply->failed = why;
    ::send(socket_fd, last_reply, reply_bytes, MSG_NOSIGNAL);
    _exit(5);
  }
  std::abort();
}

/// In the C++ library that the kernel brings along: ours is linked statically and another one.
void watch_memory(void* library) {
  void* const set_new = dlsym(library, "_ZSt15set_new_handlerPFvvE");
  void* const set_terminate = dlsym(library, "_ZSt13set_terminatePFvvE");
  if (set_new == nullptr || set_terminate == nullptr) return;
  if (void* const type = dlsym(library, "__cxa_current_exception_type"); type != nullptr)
    std::memcpy(&exception_of_kernel, &type, sizeof type);
  if (void* const current = dlsym(library, "_ZSt17current_exceptionv"); current != nullptr)
    std::memcpy(&current_exception_of_kernel, &current, sizeof current);
  exception_type_of_kernel = static_cast<const std::type_info*>(dlsym(library, "_ZTISt9exception"));
  SetHandler set = nullptr;
  std::memcpy(&set_new_handler_of_kernel, &set_new, sizeof set_new);
  std::memcpy(&set, &set_terminate, sizeof set_terminate);
  set_new_handler_of_kernel(note_refused_memory);
  set(end_by_exception);
}

const std::byte* inputs_begin = nullptr;
std::size_t inputs_bytes = 0;

/// Tells the controller of a write to the inputs, which are read only; other faults happen again at once, now
/// without a handler.
void note_fault(int, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto begin = reinterpret_cast<std::uintptr_t>(inputs_begin);
  if (last_reply == nullptr || at < begin || at >= begin + inputs_bytes) return;
  last_reply->failed = write_to_inputs;
  last_reply->offset = at - begin;
  ::send(socket_fd, last_reply, reply_bytes, MSG_NOSIGNAL);
  _exit(5);
}

/// All of a memory file, its pages there at once: the first touch of a page would be charged to the call that
/// makes it. Its descriptor is closed, so that nobody maps it in another way.
std::byte* mapped(int fd, int protection, std::size_t& bytes) {
  struct stat file;
  if (fstat(fd, &file) != 0) return nullptr;
  bytes = static_cast<std::size_t>(file.st_size);
  void* at = mmap(nullptr, bytes, protection, MAP_SHARED | MAP_POPULATE, fd, 0);
  close(fd);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

class Worker {
 public:
  Worker(const char* library, const char* caller, bool trusted, bool threads)
      : library_(library), caller_(caller), trusted_(trusted), threads_(threads) {}

  int serve() {
    if (command_ == nullptr || reply_ == nullptr || record_ == nullptr) return 3;
    std::size_t outputs_bytes = 0;
    inputs_begin = inputs_ = mapped(inputs_fd, PROT_READ, inputs_bytes);
    outputs_ = mapped(outputs_fd, PROT_READ | PROT_WRITE, outputs_bytes);
    *reply_ = {};
    reply_->kind = Kind::hello;
    reply_->inputs_at = reinterpret_cast<std::uint64_t>(inputs_);
    reply_->outputs_at = reinterpret_cast<std::uint64_t>(outputs_);
    if (inputs_ == nullptr || outputs_ == nullptr) say(*reply_, "the shared memory cannot be mapped");
    if (!send()) return 3;
    while (true) {
      const ssize_t got = recv(socket_fd, command_, sizeof *command_, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) return 0;  // the controller is done, or gone
      if (got != static_cast<ssize_t>(sizeof *command_)) return 3;
      reply_->failed = nothing_failed;
      reply_->nonce = command_->nonce;
      reply_->kind = command_->kind;
      if (command_->kind != Kind::load) kernelsearch::set_floating_state();
      switch (command_->kind) {
        case Kind::load:
          load();
          break;
        case Kind::lockstep:
          lockstep();
          break;
        default:
          run();
      }
      if (const auto changed = kernelsearch::changed_floating_state();
          changed && command_->kind != Kind::load) {
        reply_->failed = left_changed;
        reply_->offset = *changed;
      }
      if (!send()) return 3;
    }
  }

 private:
  bool send() const {
    const std::size_t bytes = reply_->failed == in_words ? sizeof *reply_ : reply_bytes;
    return ::send(socket_fd, reply_, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
  }

  void load() {
    if (*library_ == '\0') return;  // it only shows what the clock itself takes
    const kernelsearch::Loaded loaded = kernelsearch::load_entry(library_, caller_);
    if (loaded.entry == nullptr) return say(*reply_, dlerror());
    entry_ = loaded.entry;
    last_reply = reply_;
    watch_memory(loaded.library);
    struct sigaction action {};
    action.sa_sigaction = note_fault;
    action.sa_flags = SA_SIGINFO | SA_RESETHAND;
    if (!trusted_) sigaction(SIGSEGV, &action, nullptr);
    if (!trusted_ && !kernelsearch::allow_only_computing(threads_))
      say(*reply_, "the filter of system calls cannot be set");
  }

  [[nodiscard]] void* const* tables() const {
    return reinterpret_cast<void* const*>(inputs_ + command_->table);
  }

  /// Calls it with a copy of a table, always the same one: where the table is says nothing of other calls.
  void call(void* const* table, std::uint32_t width) const {
    for (std::uint32_t a = 0; a < width; ++a) record_[a] = table[a];
    entry_(record_);
  }

  void run() const {
    if (command_->filled != 0) return run_drawn();
    void* const* table = tables();
    const std::uint32_t width = command_->width;
    for (std::uint32_t i = 0; i < command_->calls; ++i, table += width) call(table, width);
  }

  void run_drawn() const {
    auto* const order = reinterpret_cast<std::uint32_t*>(outputs_ + drawn_at);
    void* const* const first = tables();
    const std::uint32_t width = command_->width, filled = command_->filled;
    std::uint64_t state = command_->nonce;
    for (std::uint32_t i = 0; i < command_->calls; ++i) {
      state = (state ^ ticks()) * 0x9e3779b97f4a7c15u;
      const auto j = i + static_cast<std::uint32_t>((state >> 32) * (filled - i) >> 32);
      const std::uint32_t slot = order[j];
      order[j] = order[i];
      order[i] = slot;
      call(first + static_cast<std::size_t>(slot) * width, width);
    }
  }

  void lockstep() const {
    const auto& request = *reinterpret_cast<const Request*>(inputs_);
    auto& answer = *reinterpret_cast<Answer*>(outputs_);
    void* const* const first = tables();
    const std::uint32_t width = command_->width;
    std::uint64_t seen = command_->nonce;
    while (true) {
      const std::uint64_t sequence = request.sequence.load(std::memory_order_acquire);
      if (sequence == seen) continue;
      seen = sequence;
      const std::uint32_t slot = request.slot;
      if (slot == no_slot) return;
      call(first + static_cast<std::size_t>(slot) * width, width);
      answer.sequence.store(sequence, std::memory_order_release);
    }
  }

  const char* library_;
  const char* caller_;  // empty: the library has the entry itself
  bool trusted_, threads_;
  Command* command_ = static_cast<Command*>(std::calloc(1, sizeof(Command)));
  Reply* reply_ = static_cast<Reply*>(std::calloc(1, sizeof(Reply)));
  Entry entry_ = no_kernel;
  void** record_ = static_cast<void**>(std::calloc(max_arguments, sizeof(void*)));
  std::byte* inputs_ = nullptr;
  std::byte* outputs_ = nullptr;
};

}  // namespace

// kernelsearch-worker ADDRESS_SPACE_BYTES PROCESSES CPU_SECONDS TRUSTED THREADS LIBRARY CALLER: limits set
// here, after the sandbox made its namespaces, so that the sandbox itself is not subject to them.
int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "guarded") == 0) return kernelsearch::run_guarded(argc, argv);
  if (argc != 8 || fcntl(socket_fd, F_GETFD) < 0) {
    std::fputs("kernelsearch-worker is started by kernelsearch, which talks to it over a socket\n", stderr);
    return 2;
  }
  kernelsearch::limit_resources(argv[1], argv[2], argv[3]);
  const bool trusted = std::atoi(argv[4]) != 0;
  if (!trusted && !kernelsearch::lock_down()) return 4;
  static Worker worker(argv[6], argv[7], trusted, std::atoi(argv[5]) > 1);
  return worker.serve();
}
