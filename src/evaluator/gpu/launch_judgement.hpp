// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "judge/worker_client.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/judging_options.hpp"

namespace kernelsearch::detail::gpu {

/// A batch of calls of a launch function, in seconds.
struct LaunchTimes {
  std::size_t calls = 0;
  double inside = 0;    ///< by the events
  double outside = 0;   ///< by the controller's clock, less `empty`
  double empty = 0;     ///< what the same takes with calls that launch nothing
  double waited = 0;    ///< in which those who take part waited for a core; negative where that is not known
  bool shared = false;  ///< other processes used the device
  bool disturbed = false;  ///< `empty` was taken under load and may be too much
};

/// What is left of the time outside when the doubt about `empty` is taken off, or added where that was
/// disturbed.
[[nodiscard]] double unexplained_seconds(const LaunchTimes& times) noexcept;
/// Seconds of that over what events of that length allow; at most 0 where they agree.
[[nodiscard]] double beyond_margin(const LaunchTimes& times) noexcept;

enum class LaunchJudgement : std::uint8_t {
  agrees,
  charged,  ///< it took what is unexplained, whatever it did
  cheated,  ///< nor does load explain the difference
};
[[nodiscard]] LaunchJudgement judge_launches(const LaunchTimes& times) noexcept;

/// What something takes, of values that load makes longer and never shorter. It is taken again until it is
/// settled, since one disturbed value would be taken off everything that is judged by it.
class UndisturbedTime {
 public:
  void add(double seconds);
  /// For five the three least are within a tenth or 20 us, or of twenty the two least.
  [[nodiscard]] bool is_settled() const noexcept;
  /// It took more than five.
  [[nodiscard]] bool is_disturbed() const noexcept;
  /// The least; 0 of none.
  [[nodiscard]] double seconds() const noexcept;
  /// Whether the least of both are as alike as those of a settled time.
  [[nodiscard]] bool agrees(const UndisturbedTime& other) const noexcept;

 private:
  std::vector<double> ascending_;
};

/// Takes a time by `once`, which puts seconds into its argument or says what failed; its first call is slower
/// and left out. A disturbed one is begun again, twice: what holds a machine up for milliseconds is not the
/// load under which all that follows is charged more. It is disturbed if each of them is, or if the calm one
/// is longer than one of the disturbed.
template <std::invocable<double&> Once>
std::optional<Fault> take_undisturbed(UndisturbedTime& taken, Once&& once) {
  constexpr int tries = 3;
  constexpr std::size_t most = 40;
  for (int i = 0; i < tries; ++i) {
    UndisturbedTime again;
    double seconds = 0;
    if (auto fault = once(seconds)) return fault;
    for (std::size_t n = 0; n < most && !again.is_settled(); ++n) {
      if (auto fault = once(seconds)) return fault;
      again.add(seconds);
    }
    const bool longer = i > 0 && again.seconds() > taken.seconds();
    if (!longer || (!again.is_disturbed() && again.agrees(taken))) taken = again;
    if (!taken.is_disturbed()) break;
  }
  return std::nullopt;
}

/// Times of calls by events of a driver that nobody vouches for, besides those of the clock around each call.
/// Where the median of the clock's says over a quarter and `launching` seconds more, the calls took what it
/// says: then `seconds` become those, and the answer is true. Without `outside` nothing is compared.
[[nodiscard]] bool charge_outside(std::vector<double>& seconds, const std::vector<double>& outside,
                                  double launching);

/// What a call does at least, as far as it is known.
struct LeastWork {
  double operations = 0;
  double bytes = 0;    ///< moved; of a problem that does not say, what its outputs have
  double outputs = 0;  ///< bytes of them, which may stay in the cache
};

/// Seconds in which the device can do that by the rates that its clocks and widths allow, less a tenth; 0
/// where they are unknown.
[[nodiscard]] double least_seconds(const GpuDevice& device, const LeastWork& work, CacheMode cache) noexcept;

}  // namespace kernelsearch::detail::gpu
