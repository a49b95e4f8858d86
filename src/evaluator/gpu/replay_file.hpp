// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/wire.hpp"
#include "judge/arena.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail::gpu {

/// Exit code of a worker that replays when the driver refused a command.
inline constexpr int replay_refused = 4;

/// The frames of a file: each 8 bytes of length and that many bytes, as over the socket; nothing where it
/// cannot be read or ends within a frame.
[[nodiscard]] std::optional<std::vector<std::vector<std::byte>>> read_frames(
    const std::filesystem::path& file);

/// Device code as a replay loads it.
struct ReplayModule {
  Image image;
  std::vector<std::string> functions;
  bool library = false;
  std::vector<BuiltLaunch> launches{};
};

/// What is replayed.
struct ReplayCall {
  std::size_t shape = 0;
  std::uint64_t seed = 0;   ///< of the inputs, which are as the arguments declare
  std::size_t warm_up = 1;  ///< calls before the one to look at
  bool poison = true;       ///< outputs hold NaNs before; without it nothing has ever written to them
  std::shared_ptr<const Contents> made{};  ///< of inputs that are not drawn on the device: see MadeInputs
};

/// One call of a candidate as commands for a worker without a controller, so that a tool which has to start
/// the process itself, such as a profiler, sees the candidate on real inputs and nothing of the judging.
class ReplayFile {
 public:
  /// Where the call cannot be planned (a grid that is not an integer, a shape beyond `valid`), `problem()`
  /// says why and there are no frames.
  ReplayFile(const Problem& problem, const Candidate& candidate, const ReplayModule& candidate_code,
             const ReplayModule& services, const ReplayCall& call);

  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const std::vector<std::vector<std::byte>>& frames() const noexcept { return frames_; }
  /// Launches of the candidate's kernels in one call; 0 where a launch function decides.
  [[nodiscard]] std::size_t launches() const noexcept { return launches_; }

  /// A DeviceError where the file cannot be written.
  void write(const std::filesystem::path& file) const;

 private:
  std::string problem_;
  std::vector<std::vector<std::byte>> frames_;
  std::size_t launches_ = 0;
};

}  // namespace kernelsearch::detail::gpu
