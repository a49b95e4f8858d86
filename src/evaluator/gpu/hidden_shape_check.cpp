// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/hidden_shape_check.hpp"

#include <algorithm>
#include <utility>

#include "evaluator/gpu/candidate_code.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"

namespace kernelsearch::detail::gpu {
namespace {

// Below this a reference that is slow on anything is not made cheaper by smaller shapes.
constexpr double fewest_hidden_bytes = 64 << 10, fewest_hidden_operations = 1e5;
// For the time that hidden shapes may take: nobody asked for derived ones.
constexpr double derived_share_of_time = 0.1;

/// One set as declared, and the same once more; what edge values show, the listed shapes have shown.
GpuOptions checked_once(GpuOptions options) {
  options.check.seeds = 1;
  options.check.edge = options.check.ill_conditioned = false;
  options.pairs.when = Pairing::never;
  options.processes = 1;
  return options;
}

Problem without_hidden_shapes(Problem problem) {
  problem.hidden_shapes = HiddenShapes{};  // none, and none to be derived
  return problem;
}

}  // namespace

HiddenShapeCheck::HiddenShapeCheck(const Problem& problem, const GpuOptions& options, const GpuDevice& device,
                                   int ordinal, BuilderPool& builders)
    : listed_(problem),
      options_(checked_once(options)),
      device_(device),
      builders_(builders),
      limits_(hidden_shape_limits(problem)),
      problem_(without_hidden_shapes(problem)) {
  // Each output takes up to 511 bytes more than it has.
  const auto most = static_cast<std::uint64_t>(limits_.bytes) + 512 * problem.arguments.size();
  worker_ = std::make_unique<DeviceJudge>(problem_, options_, device, ordinal, builders, most);
}

void HiddenShapeCheck::leave_out(const std::string& why) {
  why_not_ = why;
  if (options_.notes) options_.notes(sizes_not_varied(why));
}

bool HiddenShapeCheck::default_is_right() {
  const Candidate first = listed_.default_candidate();
  const Built built = build_candidate(builders_, listed_, first, device_, options_);
  return built.verdict == Verdict::ok &&
         !worker_->check_only({first, built.image, built.functions, built.library, built.launches});
}

std::optional<Fault> HiddenShapeCheck::check(const GpuArtifact& artifact, std::string& note) {
  if (!why_not_.empty()) {
    note += "; hidden shapes: none, as " + why_not_;
    return std::nullopt;
  }
  Rng rng(secret_seed());
  std::vector<Shape> shapes = draw_hidden_shapes(listed_, artifact.candidate, limits_, rng);
  if (shapes.empty()) {
    note += "; hidden shapes: none that `valid` accepts for it";
    return std::nullopt;
  }
  problem_.shapes = std::move(shapes);
  std::string drawn;
  for (const Shape& shape : problem_.shapes) drawn += (drawn.empty() ? " " : ", ") + shape.name.substr(7);
  try {
    worker_->take_shapes();
  } catch (const ConfigError&) {  // a size that is not a whole number at the default configuration
    note += "; hidden shapes: none whose arrays can be made";
    return std::nullopt;
  }
  note += "; hidden shapes:" + drawn;
  const bool derived = listed_.hidden_shapes->derived;
  std::optional<Fault> fault;
  try {
    fault = worker_->check_only(artifact);
    // Nobody said that these sizes are allowed: a candidate is accused only where the default is right.
    if (fault && derived && !default_is_right()) {
      leave_out("the default configuration fails where a size lies between the listed ones");
      return std::nullopt;
    }
  } catch (const ConfigError& error) {
    if (!derived) throw;
    leave_out("the reference fails where a size lies between the listed ones: " + std::string(error.what()));
    return std::nullopt;
  }
  if (worker_->reference_seconds() >
      (listed_.hidden_shapes->derived ? derived_share_of_time : 1.0) * options_.check.hidden_seconds) {
    limits_.bytes = std::max(limits_.bytes / 2, fewest_hidden_bytes);
    limits_.operations = std::max(limits_.operations / 2, fewest_hidden_operations);
  }
  return fault;
}

}  // namespace kernelsearch::detail::gpu
