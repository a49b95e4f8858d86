// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "finalist_validator.hpp"

#include <memory>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/compute_sanitizer.hpp"

namespace kernelsearch::detail {

FinalistValidator make_validator(const RunOptions& options, const Problem& problem, RunObserver& observer) {
  if (options.validate.empty()) return nullptr;
  if (!is_gpu(problem.backend))
    detail::raise<ConfigError>(
        "--validate runs Compute Sanitizer, which checks CUDA kernels", to_string(problem.backend),
        "leave it out: host kernels run between zones that must stay as they are; for undefined behaviour "
        "add "
        "-fsanitize=undefined and -fsanitize-undefined-trap-on-error to build.flags and run `kernelsearch "
        "check`");
  SanitizerOptions sanitizer;
  sanitizer.tools = sanitizer_tools(options.validate);
  const auto validator =
      std::make_shared<ComputeSanitizer>(problem, gpu_options(options.measurement), std::move(sanitizer));
  observer.on_message("trying " + options.validate + " on the default configuration");
  if (const auto objection = validator->validate(problem.default_candidate()))
    observer.on_message("the default configuration would not pass: " + objection->reason);
  return [validator](const Candidate& candidate) { return validator->validate(candidate); };
}

}  // namespace kernelsearch::detail
