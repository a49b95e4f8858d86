// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_check.hpp"

#include <algorithm>

#include "evaluator/gpu/candidate_code.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch {
namespace {

using detail::gpu::BuilderPool;
using detail::gpu::Built;

/// The message without the program's name, which belongs at the beginning of a line only.
std::string in_words(const Error& error) {
  const std::string text = error.what(), name = "kernelsearch: ";
  return text.rfind(name, 0) == 0 ? text.substr(name.size()) : text;
}

void find_error(GpuCheck& check, std::string what, std::string todo) {
  check.findings.push_back({LintFinding::Severity::error, std::move(what), std::move(todo)});
}

void judge(const Problem& problem, GpuEvaluator& evaluator, GpuCheck& check) {
  check.depth = GpuCheck::Depth::judged;
  check.on = evaluator.device_id();
  const Candidate first = problem.default_candidate();
  for (const Shape& shape : evaluator.problem().shapes)
    if (!is_valid(problem, shape, first))
      check.findings.push_back(
          {shape.weight > 0 ? LintFinding::Severity::error : LintFinding::Severity::warning,
           "the default is not valid for shape " + shape.name,
           "choose a default that is, or correct `valid`"});
  try {
    const Evaluation evaluation = evaluator.evaluate(first, {});
    if (evaluation.verdict != Verdict::ok)
      find_error(check,
                 "the default is " + std::string(to_string(evaluation.verdict)) + ": " + evaluation.reason,
                 "fix the kernel, or the reference where that is wrong");
    if (evaluation.features.find("nondeterministic") == 1.0)
      check.findings.push_back({LintFinding::Severity::warning,
                                "two runs of the default on the same inputs differ in some bits",
                                "say in the description that this is meant, e.g. because of atomic sums"});
  } catch (const ConfigError& error) {
    find_error(check, in_words(error), "see above");
  }
}

/// A device for which something can be compiled although it is not there.
GpuDevice absent_device(const Problem& problem) {
  GpuDevice device;
  device.backend = gpu_backend_of(problem.backend).value_or(GpuBackend::hip);
  return device;
}

void compile(const Problem& problem, GpuOptions options, GpuCheck& check) {
  const GpuDevice device = absent_device(problem);
  if (options.architecture.empty())
    options.architecture = device.backend == GpuBackend::cuda ? "sm_90a" : "gfx90a";
  BuilderPool builders(device.backend, options);
  try {
    check.on = compiler_identity(builders, problem) + " for " + options.architecture;
  } catch (const ConfigError& error) {
    check.missing += "; no compiler: " + in_words(error);
    return;
  }
  check.depth = GpuCheck::Depth::compiled;
  const Candidate first = problem.default_candidate();
  const Built kernel = build_candidate(builders, problem, first, device, options);
  if (kernel.verdict != Verdict::ok)
    find_error(check, "the default does not build:\n" + kernel.reason, "fix the kernel or build.flags");
  if (problem.reference.source.empty()) return;
  std::vector<std::string> flags = problem.reference.flags;
  std::erase(flags, "-O3");  // a host compiler's, which is the default
  try {
    (void)builders.identity();  // references are always compiled at run time
  } catch (const ConfigError& error) {
    check.missing += "; the reference was not compiled: " + in_words(error);
    return;
  }
  for (const char* real : {"double", "float"}) {
    const Built reference = builders.build(detail::gpu::reference_source(problem, real),
                                           detail::gpu::problem_options(problem, device, options, flags),
                                           {problem.reference.function});
    if (reference.verdict == Verdict::ok) continue;
    find_error(check, "the reference does not build:\n" + reference.reason,
               "fix it: its floating types must be `real`");
    return;
  }
}

}  // namespace

GpuCheck check_on_gpu(const Problem& problem, GpuOptions options) {
  GpuCheck check;
  options.pairs.when = Pairing::never;
  try {
    GpuEvaluator evaluator(problem, options);
    judge(problem, evaluator, check);
  } catch (const DeviceError& error) {
    check.missing = in_words(error);
    compile(problem, std::move(options), check);
  }
  return check;
}

}  // namespace kernelsearch
