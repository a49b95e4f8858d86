// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

 private:
  std::vector<double> ascending_;
};

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
