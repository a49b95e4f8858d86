// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "evaluator/gpu/gpu_worker_client.hpp"
#include "judge/fresh_inputs.hpp"
#include "judge/input_generator.hpp"
#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/problem/inputs.hpp"

namespace kernelsearch::detail::gpu {

/// Whether an input's contents are made by the controller instead of being drawn on the device: files, sorted
/// values, offsets, structs, what names its own edge values, and what the problem's generator writes.
[[nodiscard]] bool is_made(const Argument& argument) noexcept;

/// The options of the processes of the host that a device problem needs: of its generator.
[[nodiscard]] HostOptions host_options(const GpuOptions& options);

/// What the controller makes of the inputs of a problem's shapes. A set is made once although the referee and
/// several calls of candidates use it: the latest ones are kept while they fit. Not thread-safe.
class MadeInputs {
 public:
  /// `problem` and `shapes`, the plan of each shape at the default configuration, must outlive this.
  MadeInputs(const Problem& problem, const std::vector<ShapePlan>& shapes, const GpuOptions& options);

  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] bool made(std::size_t argument) const noexcept { return made_[argument]; }
  /// Bytes of what is made for a shape.
  [[nodiscard]] std::uint64_t bytes(std::size_t shape) const;

  /// For each argument the contents of that seed; empty for those that are drawn on the device. A ConfigError
  /// where the generator fails or a file is not as it was.
  [[nodiscard]] std::shared_ptr<const Contents> of(std::size_t shape, std::uint64_t seed,
                                                   InputFlavour flavour);

 private:
  using Key = std::tuple<std::size_t, std::uint64_t, InputFlavour>;
  struct Kept {
    Key key;
    std::shared_ptr<const Contents> contents;
  };

  /// Drawn as the host's are, with parameters of each draw's own; the same seed gives the same.
  [[nodiscard]] Contents drawn(std::size_t shape, std::uint64_t seed);
  struct Fresh {
    std::vector<std::size_t> counts;  ///< of the shape's arrays
    FreshInputs inputs;
  };

  const Problem& problem_;
  const std::vector<ShapePlan>& shapes_;
  std::map<std::size_t, Fresh> fresh_;
  std::vector<bool> made_;
  bool any_ = false;
  InputGenerator generator_;
  std::list<Kept> kept_;  ///< the latest first
  std::uint64_t kept_bytes_ = 0;
};

/// Copies to the beginning of a worker's buffer through the memory shared with it, a piece at a time.
[[nodiscard]] std::optional<WorkerError> upload(GpuWorkerClient& worker, const Arena& shared, BufferId buffer,
                                                const std::vector<std::byte>& contents);

}  // namespace kernelsearch::detail::gpu
