// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "frozen_program.hpp"
#include "judge/arena.hpp"
#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "module_messages.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch::external {

/// Where the contents of calls lie. The memory of the reference and that of candidates which only we can
/// write to are laid out alike; inputs that a call changes have places of their own in a third.
struct ModuleLayout {
  ModuleLayout(const ModuleDescription& description, std::size_t memory);

  /// All shapes begin at the same place: calls of one are under way at a time.
  struct Slots {
    std::size_t count = 0;
    std::vector<std::vector<std::size_t>> inputs;   ///< of each input, of each slot
    std::vector<std::vector<std::size_t>> written;  ///< the same in the third memory; empty: only read
  };

  std::vector<Slots> shapes;
  std::vector<std::size_t> weights;  ///< of each; they come first. None where memory is a device's
  std::size_t weight_bytes = 0;
  std::size_t answers = 0;  ///< where outputs of one call are put for the reference
  std::size_t reference_bytes = 0, input_bytes = 0, output_bytes = 0;
};

/// How inputs are drawn: as the generator does, otherwise but within what it promises, or one or the other
/// for each call.
enum class Manner : std::uint8_t { plain, varied, mixed };

/// The trusted side of a problem whose reference is a module. What goes wrong with it is a DeviceError.
class ModuleReference {
 public:
  /// Starts it and has it describe the module; a ConfigError where there is no such program, or it declines
  /// the module.
  ModuleReference(const Problem& problem, const HostOptions& options);
  ~ModuleReference();
  ModuleReference(const ModuleReference&) = delete;
  ModuleReference& operator=(const ModuleReference&) = delete;

  [[nodiscard]] const ModuleDescription& description() const noexcept { return description_; }
  [[nodiscard]] const ModuleLayout& layout() const noexcept { return *layout_; }
  [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }

  /// What models are told of calls of these shapes, a line each; at most about `seconds` go by. `peaks`: with
  /// what the device allows each operator, where it is known.
  [[nodiscard]] std::vector<std::string> explain(const std::vector<std::size_t>& shapes, int threads,
                                                 double seconds, const DevicePeaks& peaks);
  /// Constructs the module for one side as a candidate was, with weights that the candidate can take.
  /// Returns handles where memory is a device's.
  ModuleJson weights(int side, const std::string& mode, std::uint64_t seed);
  /// Fills slots of a shape.
  void draw(std::size_t shape, std::span<const std::uint32_t> slots, Manner manner);
  /// Whether these outputs of the slot's call are right: they lie at `places`, in our memory.
  [[nodiscard]] ModuleCheck check(int side, std::size_t shape, std::uint32_t slot,
                                  const std::vector<TensorSpec>& outputs, const ModuleJson& places,
                                  const ModuleJson& written);
  /// The handle of the device memory that holds the inputs, at the offsets that shared memory would have.
  [[nodiscard]] const ModuleJson& handle() const noexcept { return handle_; }
  [[nodiscard]] double spent_seconds() const noexcept { return spent_; }

 private:
  ModuleJson ask(ModuleJson message, const char* type, const char* during);

  detail::Arena memory_;
  detail::ScratchFolder scratch_;
  std::optional<FrozenProgram> program_;
  ModuleDescription description_;
  std::optional<ModuleLayout> layout_;
  ModuleJson handle_;
  double spent_ = 0;
};

/// The server of candidates, and the one that it serves now.
class CandidateServer {
 public:
  using Ran = Result<ModuleRan, detail::Fault>;

  CandidateServer(const Problem& problem, const HostOptions& options, const ModuleReference& reference);
  ~CandidateServer();
  CandidateServer(const CandidateServer&) = delete;
  CandidateServer& operator=(const CandidateServer&) = delete;

  /// Whether it can serve another one.
  [[nodiscard]] bool usable() const noexcept { return !program_->is_broken(); }

  [[nodiscard]] std::optional<detail::Fault> build(const Candidate& candidate, std::uint64_t seed);
  /// By what its weights are found: names, order, seed or none.
  [[nodiscard]] const std::string& weights() const noexcept { return weights_; }
  /// Hands on the weights that the reference has, and where inputs will be.
  [[nodiscard]] std::optional<detail::Fault> load(const ModuleJson& weight_handles);
  /// Copies the inputs of these slots of a shape from the reference.
  void fill(std::size_t shape, std::span<const std::uint32_t> slots);
  /// One call on each; `wall`: seconds from the moment that it was let go until it replied.
  [[nodiscard]] Ran run(std::size_t shape, std::span<const std::uint32_t> slots, bool layout, double& wall);
  /// Has it let go what it gave for earlier calls.
  [[nodiscard]] std::optional<detail::Fault> release();
  /// Copies the outputs of a call, as `layout` says they are, and inputs that it changed, to the reference;
  /// where they are then.
  [[nodiscard]] std::optional<detail::Fault> collect(std::size_t shape, std::uint32_t slot,
                                                     const std::vector<TensorSpec>& layout,
                                                     const ModuleJson& addresses, ModuleJson& places,
                                                     ModuleJson& written);
  /// Ends the candidate and all that it started.
  void finish();
  [[nodiscard]] double cpu() const { return program_->cpu(); }

 private:
  using Reply = Result<ModuleJson, detail::Fault>;
  [[nodiscard]] Reply ask(ModuleJson message, const char* type, const char* during, double& wall);
  [[nodiscard]] std::optional<detail::Fault> copy_out(std::uint64_t address, std::size_t bytes,
                                                      std::byte* to);
  /// Where a call on this slot wrote around the inputs that it may change.
  [[nodiscard]] std::optional<Overrun> overrun(std::size_t shape, std::uint32_t slot) const;

  const Problem& problem_;
  const ModuleReference& reference_;
  detail::Arena inputs_, outputs_;
  detail::ScratchFolder scratch_;
  std::optional<FrozenProgram> program_;
  std::vector<pid_t> own_;  ///< processes that are there without a candidate
  pid_t candidate_ = 0;
  std::string build_id_, weights_;
  bool serving_ = false;
};

/// The reference and up to two servers of candidates, for one thread.
struct ModuleBench {
  ModuleBench(const Problem& problem, const HostOptions& options);

  /// A server that is of use, started anew where the last one is not.
  CandidateServer& server(int side);

  const Problem& problem;
  const HostOptions& options;
  std::thread::id thread = std::this_thread::get_id();  ///< its processes end with it
  ModuleReference reference;
  std::unique_ptr<CandidateServer> servers[2];
};

}  // namespace kernelsearch::external
