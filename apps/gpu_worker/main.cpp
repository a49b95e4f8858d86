// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process that holds one GPU, or that compiles for one: kernelsearch-gpu-worker BACKEND
// DEVICE|build:DEVICE. It is started by the evaluator, which talks to it over a socket and replaces it when a
// candidate breaks it. Profilers start it instead with `--frames FILE [--exact]`: it then carries out the
// commands in that file and ends.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <variant>

#include "device.hpp"
#include "evaluator/gpu/frame.hpp"
#include "evaluator/gpu/replay_file.hpp"
#include "evaluator/gpu/runtime_compiler.hpp"

namespace {

using namespace kernelsearch;
using namespace kernelsearch::detail;
using gpu::Answer;
using gpu::Reader;
using gpu::Writer;

class Server {
 public:
  Server(GpuBackend backend, int device) : backend_(backend), device_number_(device) {}

  /// Answers commands until the controller is gone.
  int serve() {
    std::vector<std::byte> frame;
    while (gpu::receive_frame(gpu::socket_fd, frame)) {
      Writer out, body;
      const Answer answer = attempt(frame, body);
      out.put(answer.status).put(answer.text);
      if (answer.status == gpu::success) out.put(body.bytes());
      if (!gpu::send_frame(gpu::socket_fd, out.bytes())) return 3;
    }
    return 0;
  }

  /// Carries out the commands of a file up to the first that fails.
  int replay(const char* file, bool exact) {
    shares_memory_ = false;
    exact_ = exact;
    const auto frames = gpu::read_frames(file);
    if (!frames) {
      std::fprintf(stderr, "kernelsearch-gpu-worker: %s cannot be read\n", file);
      return 2;
    }
    for (std::size_t i = 0; i < frames->size(); ++i) {
      Writer body;
      const Answer answer = attempt((*frames)[i], body);
      if (answer.status == gpu::success) continue;
      std::fprintf(stderr, "kernelsearch-gpu-worker: command %zu: %s\n", i, answer.text.c_str());
      return gpu::replay_refused;
    }
    return 0;
  }

 private:
  Answer attempt(const std::vector<std::byte>& frame, Writer& body) {
    Reader in(frame);
    const auto command = in.take<gpu::Command>();
    if (!in.ok())
      return {gpu::invalid_value, in.unknown() ? "an unknown command" : "a command was cut short"};
    try {
      std::visit([&](const auto& given) { body.put(carry_out(given)); }, command);
    } catch (const worker::Failure& failure) {
      return {failure.status, failure.text};
    } catch (const std::exception& error) {
      return {gpu::unknown_error, error.what()};
    }
    return {};
  }

  gpu::Hello::Reply carry_out(const gpu::Hello&) {
    device_ = std::make_unique<worker::Device>(backend_, device_number_);
    if (shares_memory_) device_->share(gpu::memory_fd);
    if (exact_) device_->allocate_exactly();
    return {device_->facts(), device_->name(), device_->bus()};
  }
  gpu::LoadModule::Reply carry_out(const gpu::LoadModule& c) {
    return {held().load(c.module, c.image, c.functions)};
  }
  gpu::NoReply carry_out(const gpu::LoadLibrary& c) {
    return held().load_library(c.module, c.object), done();
  }
  gpu::NoReply carry_out(const gpu::UnloadModule& c) { return held().unload(c.module), done(); }
  gpu::DefineProgram::Reply carry_out(const gpu::DefineProgram& c) {
    return {held().define(c.program, c.plan)};
  }
  gpu::NoReply carry_out(const gpu::AllocateBuffers& c) { return held().allocate(c.buffers), done(); }
  gpu::NoReply carry_out(const gpu::ReleaseBuffers& c) { return held().release(c.buffers), done(); }
  gpu::LendBuffer::Reply carry_out(const gpu::LendBuffer& c) { return {held().lend(c.buffer)}; }
  gpu::NoReply carry_out(const gpu::BorrowBuffer& c) {
    return held().borrow(c.buffer, c.bytes, c.handle), done();
  }
  gpu::Act::Reply carry_out(const gpu::Act& c) { return held().act(c.actions); }
  gpu::CompileSource::Reply carry_out(const gpu::CompileSource& c) {
    if (!compiler_) {
      std::string problem;
      compiler_ = gpu::RuntimeCompiler::load(backend_, problem, device_number_);
      if (!compiler_) throw worker::Failure{gpu::not_found, problem};
    }
    gpu::DeviceCode code;
    if (!c.source.empty()) code = compiler_->compile(c.source, c.options, c.name_expressions);
    return {code.ok, std::move(code.image), std::move(code.lowered), std::move(code.log),
            compiler_->identity()};
  }

  worker::Device& held() {
    if (!device_) throw worker::Failure{gpu::no_device, "no device is held"};
    return *device_;
  }
  static gpu::NoReply done() { return {}; }

  GpuBackend backend_;
  int device_number_;
  bool shares_memory_ = true, exact_ = false;
  std::unique_ptr<worker::Device> device_;
  std::unique_ptr<gpu::RuntimeCompiler> compiler_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool replays = argc >= 5 && std::string_view(argv[3]) == "--frames";
  const auto named = argc == 3 || replays ? backend_from(argv[1]) : std::nullopt;
  const auto backend = named ? gpu_backend_of(*named) : std::nullopt;
  if (replays && backend)
    return Server(*backend, std::atoi(argv[2]))
        .replay(argv[4], argc > 5 && std::string_view(argv[5]) == "--exact");
  if (!backend || fcntl(gpu::socket_fd, F_GETFD) < 0) {
    std::fputs("kernelsearch-gpu-worker is started by kernelsearch, which talks to it over a socket\n",
               stderr);
    return 2;
  }
  // A kernel that hangs must not outlive the controller, whose end is the end of the connection.
  std::thread([] {
    pollfd connection{gpu::socket_fd, POLLRDHUP, 0};
    while (poll(&connection, 1, -1) < 0) {
    }
    _exit(0);
  }).detach();
  // Compilers must not take the processors from the processes that keep a device busy.
  constexpr std::string_view builds = "build:";
  const std::string_view role = argv[2];
  if (!role.starts_with(builds)) return Server(*backend, std::atoi(argv[2])).serve();
  (void)setpriority(PRIO_PROCESS, 0, 5);
  return Server(*backend, std::atoi(argv[2] + builds.size())).serve();
}
