// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/counted_roofline.hpp"

#include <algorithm>
#include <cmath>

#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"

namespace kernelsearch {
namespace {

/// A sum in which one unknown makes the whole unknown.
struct Sum {
  double value = 0;
  bool known = true;
  void add(std::optional<double> more) {
    known = known && more.has_value();
    if (more) value += *more;
  }
};

std::optional<double> count(const std::optional<Expression>& expression, const Shape& shape) {
  if (!expression) return std::nullopt;
  const double value = to_number(evaluate(*expression, shape));
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

double array_bytes(const Problem& problem, const Shape& shape, std::span<const NamedValue> tunables) {
  double bytes = 0;
  for (const Argument& argument : problem.arguments)
    if (argument.is_array && !argument.tensor_map)
      bytes += static_cast<double>(element_count(argument, shape, tunables)) *
               static_cast<double>(argument.element_bytes());
  return bytes;
}

std::optional<ElementType> widest(const Problem& problem, bool inputs_only) {
  std::optional<ElementType> found;
  for (const Argument& argument : problem.arguments) {
    if (!is_floating(argument.type) || (inputs_only && !argument.is_input())) continue;
    if (!found || size_in_bytes(argument.type) > size_in_bytes(*found)) found = argument.type;
  }
  return found;
}

}  // namespace

std::optional<double> counted_peak(const Problem& problem, const DevicePeaks& peaks) noexcept {
  auto type = widest(problem, true);
  if (!type) type = widest(problem, false);
  if (!type) return std::nullopt;
  if (*type == ElementType::f64) return peaks.f64;
  if (*type == ElementType::f32) return peaks.f32;
  return peaks.f16 ? peaks.f16 : peaks.f32;
}

ShapeBound shape_bound(const Problem& problem, const Shape& shape, const DevicePeaks& peaks, bool cold,
                       double calls) {
  ShapeBound bound;
  bound.operations = count(problem.operations, shape);
  bound.bytes = count(problem.bytes, shape);
  if (cold) {
    bound.level = peaks.levels.empty() ? nullptr : &peaks.levels.back();
  } else if (!peaks.levels.empty()) {
    const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
    bound.level = level_holding(peaks, calls * array_bytes(problem, shape, tunables));
  }
  const auto peak = counted_peak(problem, peaks);
  const auto bandwidth = bound.level != nullptr ? bound.level->bandwidth : std::nullopt;
  if (bound.operations && peak && *peak > 0) bound.computing = *bound.operations / *peak;
  if (bound.bytes && bandwidth && *bandwidth > 0) bound.moving = *bound.bytes / *bandwidth;
  return bound;
}

Features counted_features(const Problem& problem, const Measurement& measurement, const DevicePeaks& peaks,
                          CountedOptions options) {
  const auto peak = counted_peak(problem, peaks);
  Sum operations, bytes;
  Sum moving, roof;  // seconds at best: of the bytes, and of whichever of bytes and operations takes longer
  double seconds = 0;
  std::size_t farthest = 0;
  bool from_memory = true;
  for (const ShapeMeasurement& measured : measurement.shapes) {
    if (!(measured.weight > 0) || !(measured.median > 0) || !std::isfinite(measured.median)) continue;
    const auto shape = std::find_if(problem.shapes.begin(), problem.shapes.end(),
                                    [&](const Shape& one) { return one.name == measured.shape; });
    if (shape == problem.shapes.end()) return {};  // measured for another problem
    seconds += measured.weight * measured.median;
    const auto weighted = [&measured](const std::optional<double>& value) {
      return value ? std::optional(measured.weight * *value) : std::nullopt;
    };
    const double calls = std::max(1.0, std::ceil(options.sample_seconds / measured.median));
    const ShapeBound bound = shape_bound(problem, *shape, peaks, options.cold, calls);
    operations.add(weighted(bound.operations));
    bytes.add(weighted(bound.bytes));
    moving.add(weighted(bound.moving));
    roof.add(weighted(bound.seconds()));
    const MemoryLevel* const level = bound.level;
    if (level != nullptr)
      farthest = std::max(farthest, static_cast<std::size_t>(level - peaks.levels.data()) + 1);
    from_memory = from_memory && level != nullptr && std::isinf(level->bytes);
  }
  Features features;
  if (!(seconds > 0)) return features;
  if (operations.known) {
    features.set("operations_per_second", operations.value / seconds);
    if (peak && *peak > 0) features.set("compute_utilisation", 100 * operations.value / *peak / seconds);
  }
  if (bytes.known) features.set("bytes_per_second", bytes.value / seconds);
  if (operations.known && bytes.known) features.set("intensity", operations.value / bytes.value);
  if (moving.known) {
    features.set("memory_utilisation", 100 * moving.value / seconds);
    features.set("memory_level", static_cast<double>(farthest));
    if (from_memory) features.set("dram_utilisation", 100 * moving.value / seconds);
  }
  if (roof.known) features.set("roof_utilisation", 100 * roof.value / seconds);
  return features;
}

void CountedRoofline::operator()(const Candidate& /*candidate*/, Evaluation& evaluation) const {
  Features& known = evaluation.features;
  // A counter that saw any memory knows better than a count which level it was.
  const bool memory_seen = known.find("dram_utilisation") || known.find("memory_utilisation");
  for (const auto& [name, value] : counted_features(problem, evaluation.measurement, peaks, options)) {
    if (memory_seen && (name == "dram_utilisation" || name == "memory_utilisation" || name == "memory_level"))
      continue;
    if (!known.find(name)) known.set(name, value);
  }
}

}  // namespace kernelsearch
