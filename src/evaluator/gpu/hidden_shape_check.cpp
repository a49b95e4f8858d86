// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/hidden_shape_check.hpp"

#include <algorithm>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"

namespace kernelsearch::detail::gpu {
namespace {

// Below this a reference that is slow on anything is not made cheaper by smaller shapes.
constexpr double fewest_hidden_bytes = 64 << 10, fewest_hidden_operations = 1e5;

/// One set as declared, and the same once more; what edge values show, the listed shapes have shown.
GpuOptions checked_once(GpuOptions options) {
  options.check.seeds = 1;
  options.check.edge = options.check.ill_conditioned = false;
  options.pairs.when = Pairing::never;
  options.processes = 1;
  return options;
}

Problem without_hidden_shapes(Problem problem) {
  problem.hidden_shapes.reset();
  return problem;
}

}  // namespace

HiddenShapeCheck::HiddenShapeCheck(const Problem& problem, const GpuOptions& options, const GpuDevice& device,
                                   int ordinal, BuilderPool& builders)
    : listed_(problem),
      options_(checked_once(options)),
      limits_(hidden_shape_limits(problem)),
      problem_(without_hidden_shapes(problem)) {
  // Each output takes up to 511 bytes more than it has.
  const auto most = static_cast<std::uint64_t>(limits_.bytes) + 512 * problem.arguments.size();
  worker_ = std::make_unique<DeviceWorker>(problem_, options_, device, ordinal, builders, most);
}

std::optional<Fault> HiddenShapeCheck::check(const GpuArtifact& artifact, std::string& note) {
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
  } catch (const ConfigError&) {  // a size that is no whole number at the default configuration
    note += "; hidden shapes: none whose arrays can be made";
    return std::nullopt;
  }
  note += "; hidden shapes:" + drawn;
  auto fault = worker_->check_only(artifact);
  if (worker_->reference_seconds() > options_.check.hidden_seconds) {
    limits_.bytes = std::max(limits_.bytes / 2, fewest_hidden_bytes);
    limits_.operations = std::max(limits_.operations / 2, fewest_hidden_operations);
  }
  return fault;
}

}  // namespace kernelsearch::detail::gpu
