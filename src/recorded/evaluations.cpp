// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluations.hpp"

#include <algorithm>
#include <cmath>

#include "kernelsearch/evaluator/sampling.hpp"

namespace kernelsearch::recorded {

double to_milliseconds(double seconds) noexcept {
  const double nearest = seconds * 1e3;
  for (const double towards : {nearest, 0.0, HUGE_VAL})
    if (const double time = std::nextafter(nearest, towards); from_milliseconds(time) == seconds) return time;
  return nearest;
}

std::string_view error_name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::ok:
      return "";
    case Verdict::not_generated:
    case Verdict::not_applicable:
    case Verdict::rejected:
      return "InvalidConfig";
    case Verdict::build_failed:
      return "CompilationFailedConfig";
    default:
      return "RuntimeFailedConfig";
  }
}

std::optional<Verdict> verdict_of_error(std::string_view name) noexcept {
  if (name == "InvalidConfig") return Verdict::rejected;
  if (name == "CompilationFailedConfig") return Verdict::build_failed;
  // Kernel Tuner continues only after launches that ask for too much; any other failure ends its run.
  if (name == "RuntimeFailedConfig") return Verdict::launch_failed;
  if (name == "ErrorConfig") return Verdict::crashed;
  return std::nullopt;
}

Verdict verdict_of_invalidity(std::string_view invalidity) noexcept {
  if (invalidity == "correct") return Verdict::ok;
  if (invalidity == "constraints") return Verdict::rejected;
  if (invalidity == "compile") return Verdict::build_failed;
  if (invalidity == "timeout") return Verdict::timed_out;
  if (invalidity == "correctness") return Verdict::wrong_result;
  return Verdict::crashed;
}

std::string reason_of(Verdict verdict, std::string_view name) {
  std::string text(name);
  switch (verdict) {
    case Verdict::rejected:
      return text + ": outside the limits of the device or the constraints";
    case Verdict::build_failed:
      return text + ": it did not compile";
    case Verdict::launch_failed:
      return text + ": it could not be launched";
    case Verdict::timed_out:
      return text + ": it took too long";
    case Verdict::wrong_result:
      return text + ": an output was wrong";
    default:
      return text + ": it failed while running";
  }
}

Evaluation failed_by_time() {
  return Evaluation::failed(Verdict::crashed,
                            "a time of 1e20, with which Kernel Tuner marked what failed until 0.4.0");
}

Evaluation measured(double seconds, std::vector<ShapeMeasurement> shapes) {
  if (!std::isfinite(seconds) || seconds <= 0)
    return Evaluation::failed(Verdict::crashed, "no time was recorded");
  Evaluation evaluation = Evaluation::succeeded(seconds);
  Measurement& measurement = evaluation.measurement;
  for (ShapeMeasurement& shape : shapes) {
    shape.ended = SamplingEnd::recorded;
    summarize(shape);
    measurement.spread = std::max(measurement.spread, shape.spread);
  }
  if (shapes.size() == 1) measurement.interval = shapes.front().interval;
  measurement.shapes = std::move(shapes);
  return evaluation;
}

}  // namespace kernelsearch::recorded
