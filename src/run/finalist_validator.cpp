// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "finalist_validator.hpp"

#include <memory>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/compute_sanitizer.hpp"
#include "kernelsearch/evaluator/host/host_bounds.hpp"

namespace kernelsearch::detail {

namespace {

template <class Validator>
Validation made(std::shared_ptr<Validator> validator, const Problem& problem, const char* feature,
                RunObserver& observer) {
  if (const auto objection = validator->validate(problem.default_candidate()))
    observer.on_message("the default configuration would not pass: " + objection->reason);
  return {[validator](const Candidate& candidate) { return validator->validate(candidate); }, feature,
          [validator](const Candidate& candidate, const std::stop_token& stop) {
            return validator->validate(candidate, stop);
          }};
}

}  // namespace

Validation make_validator(const RunOptions& options, const Problem& problem, bool foreign,
                          RunObserver& observer) {
  if (options.validate.empty()) {
    if (foreign || !options.bounds || problem.backend != Backend::host) return {};
    return made(std::make_shared<HostBounds>(problem, host_options(options.measurement)), problem,
                "bounds_checked", observer);
  }
  if (problem.backend == Backend::opencl || problem.backend == Backend::vulkan)
    detail::raise<ConfigError>(
        "the tools of Compute Sanitizer check CUDA kernels", to_string(problem.backend),
        "leave them out: what a kernel writes outside of its arrays is found by the zones around these");
  if (!is_gpu(problem.backend))
    detail::raise<ConfigError>(
        "the tools of Compute Sanitizer check CUDA kernels", to_string(problem.backend),
        "leave them out: host kernels run between zones that must stay as they are; for undefined behaviour "
        "add -fsanitize=undefined and -fsanitize-undefined-trap-on-error to build.flags of the problem");
  SanitizerOptions sanitizer;
  sanitizer.tools = sanitizer_tools(options.validate);
  const auto validator =
      std::make_shared<ComputeSanitizer>(problem, gpu_options(options.measurement), std::move(sanitizer));
  observer.on_message("trying " + options.validate + " on the default configuration");
  return made(validator, problem, "validated", observer);
}

}  // namespace kernelsearch::detail
