// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process that holds one GPU, or that compiles for one: kernelsearch-gpu-worker cuda|hip DEVICE|build. It
// is started by the evaluator, which talks to it over a socket and replaces it when a candidate breaks it.
// Profilers start it instead with `--frames FILE [--exact]`: it then carries out the commands in that file
// and ends.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <thread>

#include "device.hpp"
#include "evaluator/gpu/frame.hpp"
#include "evaluator/gpu/replay_file.hpp"
#include "evaluator/gpu/runtime_compiler.hpp"

namespace {

using namespace kernelsearch;
using namespace kernelsearch::detail;
using gpu::Answer;
using gpu::Op;
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
    const auto op = in.take<Op>();
    try {
      carry_out(op, in, body);
      if (!in.ok()) return {gpu::invalid_value, "a command was cut short"};
    } catch (const worker::Failure& failure) {
      return {failure.status, failure.text};
    } catch (const std::exception& error) {
      return {gpu::unknown_error, error.what()};
    }
    return {};
  }

  void carry_out(Op op, Reader& in, Writer& out) {
    if (op == Op::compile) return compile(in, out);
    if (op == Op::hello) {
      device_ = std::make_unique<worker::Device>(backend_, device_number_);
      if (shares_memory_) device_->share(gpu::memory_fd);
      if (exact_) device_->allocate_exactly();
      out.put(device_->facts()).put(device_->name()).put(device_->bus());
      return;
    }
    if (!device_) throw worker::Failure{gpu::no_device, "no device is held"};
    const auto number = [&] { return in.take<std::uint32_t>(); };
    switch (op) {
      case Op::load: {
        const std::uint32_t module = number();
        const auto image = in.take_vector<std::byte>();
        out.put(device_->load(module, image, in.take_texts()));
        return;
      }
      case Op::load_library: {
        const std::uint32_t module = number();
        return device_->load_library(module, in.take_vector<std::byte>());
      }
      case Op::unload:
        return device_->unload(number());
      case Op::program: {
        const std::uint32_t program = number();
        gpu::ProgramPlan plan;
        plan.steps = in.take_vector<gpu::Step>();
        plan.parameters = in.take_vector<gpu::Parameter>();
        plan.maps = in.take_vector<gpu::MapPlan>();
        plan.symbols = in.take_vector<gpu::SymbolPlan>();
        out.put(device_->program(program, std::move(plan)));
        return;
      }
      case Op::allocate: {
        const auto numbers = in.take_vector<std::uint32_t>();
        return device_->allocate(numbers, in.take_vector<std::uint64_t>());
      }
      case Op::release:
        return device_->release(in.take_vector<std::uint32_t>());
      case Op::lend:
        out.put(device_->lend(number()));
        return;
      case Op::borrow: {
        const std::uint32_t buffer = number();
        const auto bytes = in.take<std::uint64_t>();
        return device_->borrow(buffer, bytes, in.take<gpu::MemoryHandle>());
      }
      case Op::act: {
        const auto actions = in.take_vector<gpu::Action>();
        const auto done = device_->act(actions, in.take_vector<std::uint32_t>());
        out.put(done.seconds).put(done.values).put(done.host_seconds);
        return;
      }
      default:
        throw worker::Failure{gpu::invalid_value, "an unknown command"};
    }
  }

  void compile(Reader& in, Writer& out) {
    if (!compiler_) {
      std::string problem;
      compiler_ = gpu::RuntimeCompiler::load(backend_, problem);
      if (!compiler_) throw worker::Failure{gpu::not_found, problem};
    }
    const std::string source = in.take_text();
    const auto options = in.take_texts();
    const gpu::DeviceCode code =
        source.empty() ? gpu::DeviceCode{} : compiler_->compile(source, options, in.take_texts());
    out.put(code.ok).put(code.image).put(code.lowered).put(code.log).put(compiler_->identity());
  }

  GpuBackend backend_;
  int device_number_;
  bool shares_memory_ = true, exact_ = false;
  std::unique_ptr<worker::Device> device_;
  std::unique_ptr<gpu::RuntimeCompiler> compiler_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool replays = argc >= 5 && std::string_view(argv[3]) == "--frames";
  const std::string_view backend = argc == 3 || replays ? argv[1] : "";
  const GpuBackend which = backend == "cuda" ? GpuBackend::cuda : GpuBackend::hip;
  if (replays && (backend == "cuda" || backend == "hip"))
    return Server(which, std::atoi(argv[2]))
        .replay(argv[4], argc > 5 && std::string_view(argv[5]) == "--exact");
  if ((backend != "cuda" && backend != "hip") || fcntl(gpu::socket_fd, F_GETFD) < 0) {
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
  if (std::string_view(argv[2]) == "build") (void)setpriority(PRIO_PROCESS, 0, 5);
  return Server(which, std::atoi(argv[2])).serve();
}
