// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "judge/sampler.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "problem/metric.hpp"

namespace kernelsearch::detail {

/// What a candidate's metrics were in its check: for each shape that is timed, those of the first call.
class Metrics {
 public:
  /// The problem must outlive it.
  explicit Metrics(const Problem& problem) : problem_(problem), arguments_(metrics_of(problem)) {}

  /// The arguments that are metrics.
  [[nodiscard]] std::span<const std::size_t> arguments() const noexcept { return arguments_; }

  void clear() { values_.clear(); }
  void take(std::size_t shape, std::size_t argument, double value) { values_[{argument, shape}] = value; }
  /// Takes those of a call, whose outputs these are, for each argument.
  void take(std::size_t shape, std::span<const std::vector<std::byte>> outputs) {
    for (const std::size_t a : arguments_)
      take(shape, a, load_element(problem_.arguments[a].type, outputs[a].data(), 0));
  }

  /// Sets the features, over the shapes combined as their times are; one that is not a finite number is left
  /// out. A name that the judge has observed itself keeps what the judge says. `unchecked.NAME` marks a value
  /// that is only the kernel's word.
  void set(Features& features) const {
    for (const std::size_t a : arguments_) {
      const Argument& argument = problem_.arguments[a];
      Measurement combined;
      for (std::size_t s = 0; s < problem_.shapes.size(); ++s)
        if (const auto value = values_.find({a, s}); value != values_.end()) {
          ShapeMeasurement& shape = combined.shapes.emplace_back();
          shape.weight = problem_.shapes[s].weight;
          shape.samples = {value->second};
          shape.median = value->second;
        }
      combine_shapes(combined, combine_of(problem_));
      if (!std::isfinite(combined.seconds) || features.find(argument.name)) continue;
      features.set(argument.name, combined.seconds);
      if (is_unchecked(argument)) features.set("unchecked." + argument.name, 1);
    }
  }

 private:
  const Problem& problem_;
  std::vector<std::size_t> arguments_;
  std::map<std::pair<std::size_t, std::size_t>, double> values_;  ///< by argument and shape
};

}  // namespace kernelsearch::detail
