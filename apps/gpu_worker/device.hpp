// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <memory>
#include <span>
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

  std::vector<gpu::FunctionFacts> load(gpu::ModuleId module, const std::vector<std::byte>& image,
                                       const std::vector<std::string>& functions);
  /// A shared object, which stays in the process until its end.
  void load_library(gpu::ModuleId module, const std::vector<std::byte>& object);
  void unload(gpu::ModuleId module);
  std::vector<std::int32_t> define(gpu::ProgramId program, gpu::ProgramPlan plan);
  void allocate(const std::vector<gpu::AllocateBuffers::Buffer>& buffers);
  void release(const std::vector<gpu::BufferId>& buffers);
  [[nodiscard]] gpu::MemoryHandle lend(gpu::BufferId id) const;
  void borrow(gpu::BufferId id, std::uint64_t bytes, const gpu::MemoryHandle& handle);

  gpu::Act::Reply act(const std::vector<gpu::Action>& actions);

 private:
  void hold(int ordinal);
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
  [[nodiscard]] const Buffer& buffer(gpu::BufferId id) const;
  [[nodiscard]] const Loaded& module(gpu::ModuleId id) const;
  void serve(unsigned service, std::uint64_t elements, std::span<const gpu::LaunchParameter> parameters);
  void perform(const gpu::FillArray& action);
  void perform(const gpu::FillPattern& action);
  void perform(const gpu::WriteGuard& action);
  void perform(const gpu::CheckGuard& action);
  void perform(const gpu::HashArray& action);
  void perform(const gpu::CountPattern& action);
  void perform(const gpu::CallProgram& action);
  void perform(const gpu::FlushCache& action);
  void perform(const gpu::RotateArray& action);
  void perform(const gpu::TouchArray& action);
  void perform(const gpu::CopyOut& action);
  void perform(const gpu::CopyIn& action);
  void perform(const gpu::StoreBytes& action);
  void perform(const gpu::ConvertArray& action);
  void perform(const gpu::CompareArrays& action);
  /// The absolute bound of a comparison; see scaled_tolerance.
  double absolute_of(const gpu::CompareArrays& action);
  void perform(const gpu::ComputeSlack& action);
  void perform(const gpu::ReadElement& action);
  void perform(const gpu::FindOverrun& action);
  void enter(const Loaded& library, void* const* parameters) const;
  /// One of the two zones around a buffer.
  struct Zone {
    Address begin;
    std::uint64_t bytes;
  };
  [[nodiscard]] std::array<Zone, 2> zones(const Buffer& around) const;
  [[nodiscard]] std::byte* shared_range(gpu::BufferId id, std::uint64_t offset, std::uint64_t bytes) const;
  Address next_value(std::size_t count = 1);

  std::unique_ptr<gpu::Driver> driver_;
  int device_ = 0, ordinal_ = 0;
  gpu::Stream stream_ = nullptr;
  std::unordered_map<gpu::ModuleId, Loaded> modules_;
  std::unordered_map<gpu::BufferId, Buffer> buffers_;
  std::unordered_map<gpu::ProgramId, gpu::ProgramPlan> programs_;
  std::vector<std::pair<gpu::Event, gpu::Event>> events_;
  std::size_t timed_ = 0;
  std::vector<double> outside_;  ///< seconds of timed calls by the clock
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
