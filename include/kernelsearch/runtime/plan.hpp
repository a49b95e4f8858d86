// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/runtime/settings.hpp"

namespace kernelsearch {

/// What a plan says of one shape.
struct PlanEntry {
  std::vector<std::pair<std::string, Value>> shape;   ///< its variables, e.g. n = 512
  std::vector<std::pair<std::string, Value>> values;  ///< the tunables
  double seconds = 0.0;                               ///< per call, as measured; 0 where it was not
  std::optional<Speedup> over_default = {};           ///< in interleaved pairs; nothing: not measured
  std::uint64_t trial = 0;                            ///< of the run that the plan was made from
  std::string toolchain = {};                         ///< it was built with

  /// Faster than the default configuration at 95 %.
  [[nodiscard]] bool proven() const noexcept { return over_default && over_default->interval.low > 1.0; }
};

/// What was found out of one problem and kernel on one device.
struct ProblemPlan {
  std::string problem;
  std::string problem_digest;
  std::string kernel_digest;
  std::string backend;      ///< host, cuda, hip
  std::string device;       ///< its identity (core/device_identity.hpp)
  std::string cache;        ///< at the start of timed calls: warm, cold
  bool never_worse = true;  ///< every entry beat the default in pairs at 95 %
  /// Another shape's entry is used up to this distance: the root of the sum of squares, over the variables,
  /// of log2 of the ratio of the values. 0: exactly the measured shapes.
  double max_distance = 2.0;
  std::vector<std::pair<std::string, Value>> default_values;
  std::vector<PlanEntry> entries;  ///< where other settings than the default are used
  std::vector<PlanEntry>
      default_kept;  ///< measured shapes where the default stays, with what was tried there
};

/// The outcome of tuning, to be applied without searching: by another build, machine or rank, or by a program
/// while it runs. A file of it is small, versioned and made to be read (docs/formats/plan.md). The same
/// entries make the same bytes in whichever order they come.
///
/// This header and its library need neither the store nor the JSON library in the program.
class Plan {
 public:
  static constexpr int format_version = 1;

  Plan() = default;
  /// ConfigError where a shape occurs twice in one part, or a part names no problem or device.
  explicit Plan(std::vector<ProblemPlan> parts);

  /// Reads a plan. A file that is not there is an empty plan, for which every question has the caller's
  /// fallback as its answer; one that cannot be read or parsed is a ConfigError that says where.
  [[nodiscard]] static Plan load(const std::filesystem::path& file);
  /// `name` stands for the text in errors.
  [[nodiscard]] static Plan parse(std::string_view text, std::string_view name);

  [[nodiscard]] std::string text() const;
  /// Writes the whole file or none of it.
  void save(const std::filesystem::path& file) const;

  /// The settings to use for a problem on a device for a shape, or nothing, in which case the caller uses the
  /// kernel's default.
  ///
  /// Only parts of that problem and device count, and of that kernel where its digest is given. The nearest
  /// measured shape within the part's `max_distance` decides; of equally near ones one where the default
  /// stays, then the better proven. Where the nearest is one at which nothing beat the default, the answer
  /// is nothing, though a shape farther away has an entry. Shapes whose variables have other names, or
  /// differ in a variable that is not a positive number, are never near. ConfigError where the plan has
  /// several kernels of the problem for the device and the digest is not given.
  [[nodiscard]] std::optional<Settings> best_for(std::string_view problem, std::string_view device,
                                                 std::span<const std::pair<std::string, Value>> shape,
                                                 std::string_view kernel_digest = {}) const;

  [[nodiscard]] const std::vector<ProblemPlan>& parts() const noexcept { return parts_; }

 private:
  std::vector<ProblemPlan> parts_;
};

/// A plan made of several, and which of them won where they disagreed.
struct MergedPlans {
  Plan plan;
  std::vector<std::string> notes;  ///< one line for each disagreement
};

/// All that the plans say, the same whatever their order. Where two differ for a shape the better proven
/// wins: the larger lower end of the interval over the default, then the ratio, then the number of pairs.
/// Settings that one plan found faster than the default and another did not are kept only if more pairs say
/// so; against a default that pairs kept, settings without pairs lose. The shorter `max_distance` counts.
/// Plans are named in the notes.
[[nodiscard]] MergedPlans merge_plans(std::span<const std::pair<std::string, Plan>> plans);

}  // namespace kernelsearch
