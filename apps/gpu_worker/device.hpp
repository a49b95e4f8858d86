// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "evaluator/gpu/driver.hpp"
#include "evaluator/gpu/protocol.hpp"

namespace kernelsearch::worker {

namespace gpu = detail::gpu;
using gpu::Address;
using gpu::Answer;
using gpu::Status;

/// Values that one list of actions can have.
inline constexpr std::size_t most_values = 1 << 16;

/// A call of the driver that failed, with what was being done.
struct Failure {
  Status status = gpu::success;
  std::string text;
};

/// One GPU with the modules, buffers and programs that the controller put there. Every method throws a
/// Failure where the driver refuses.
class Device {
 public:
  Device(GpuBackend backend, int ordinal);

  [[nodiscard]] gpu::DeviceFacts facts() const;
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string bus() const;
  void share(int descriptor);
  /// Buffers from now on are exactly as long as asked for, without zones around them, so that a tool which
  /// watches memory sees the first access beyond one.
  void allocate_exactly() noexcept { guard_ = 0; }

  std::vector<gpu::FunctionFacts> load(std::uint32_t number, const std::vector<std::byte>& image,
                                       const std::vector<std::string>& functions);
  /// A shared object, which stays in the process until its end.
  void load_library(std::uint32_t number, const std::vector<std::byte>& object);
  void unload(std::uint32_t number);
  std::vector<std::int32_t> program(std::uint32_t number, gpu::ProgramPlan plan);
  void allocate(const std::vector<std::uint32_t>& numbers, const std::vector<std::uint64_t>& bytes);
  void release(const std::vector<std::uint32_t>& numbers);
  [[nodiscard]] gpu::MemoryHandle lend(std::uint32_t number) const;
  void borrow(std::uint32_t number, std::uint64_t bytes, const gpu::MemoryHandle& handle);

  struct Done {
    std::vector<double> seconds;        ///< of timed calls, in their order
    std::vector<std::uint64_t> values;  ///< of actions that have one
    double host_seconds = 0;            ///< from the first action until the device had done all
  };
  Done act(const std::vector<gpu::Action>& actions, const std::vector<std::uint32_t>& bindings);

 private:
  struct Buffer {
    Address base = 0, data = 0;
    std::uint64_t bytes = 0;
    bool borrowed = false;
  };
  using Entry = int (*)(void* const*, void*);
  using StatusText = const char* (*)(int);
  struct Loaded {
    gpu::Module module = nullptr;
    Entry entry = nullptr;
    StatusText status_text = nullptr;
    std::vector<gpu::Function> functions;
  };

  void check(Status status, const char* doing) const;
  [[nodiscard]] int attribute(int number) const;
  [[nodiscard]] const Buffer& buffer(std::uint32_t number) const;
  [[nodiscard]] const Loaded& module(std::uint32_t number) const;
  void serve(unsigned service, std::uint64_t elements, void** parameters);
  void perform(const gpu::Action& action, const std::vector<std::uint32_t>& bindings, Done& done);
  void call(const gpu::Action& action, const std::vector<std::uint32_t>& bindings, bool timed);
  void enter(const Loaded& library, void* const* parameters) const;
  void guard(const gpu::Action& action, bool checking);
  Address next_value(std::size_t count = 1);

  std::unique_ptr<gpu::Driver> driver_;
  int device_ = 0, ordinal_ = 0;
  gpu::Stream stream_ = nullptr;
  std::unordered_map<std::uint32_t, Loaded> modules_;
  std::unordered_map<std::uint32_t, Buffer> buffers_;
  std::unordered_map<std::uint32_t, gpu::ProgramPlan> programs_;
  std::vector<std::pair<gpu::Event, gpu::Event>> events_;
  std::size_t timed_ = 0;
  Address values_ = 0;
  std::size_t value_count_ = 0;
  Address scratch_ = 0;
  std::uint64_t scratch_words_ = 0;
  std::byte* shared_ = nullptr;
  std::uint64_t shared_bytes_ = 0;
  unsigned grid_ = 128;
  std::uint64_t guard_ = 4096;  ///< bytes before and behind each buffer
};

}  // namespace kernelsearch::worker
