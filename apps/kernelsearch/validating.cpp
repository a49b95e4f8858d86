// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "validating.hpp"

#include <fmt/core.h>

#include <memory>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/compute_sanitizer.hpp"
#include "plan.hpp"

namespace kernelsearch::app {

FinalistValidator make_validator(const TuneOptions& options, const Problem& problem) {
  if (options.validate.empty()) return nullptr;
  if (problem.backend != "cuda" && problem.backend != "hip")
    detail::raise<ConfigError>(
        "--validate runs Compute Sanitizer, which checks CUDA kernels", problem.backend,
        "leave it out: host kernels run between zones that must stay as they are; for undefined behaviour "
        "add "
        "-fsanitize=undefined and -fsanitize-undefined-trap-on-error to build.flags and run `kernelsearch "
        "check`");
  SanitizerOptions sanitizer;
  sanitizer.tools = sanitizer_tools(options.validate);
  const auto validator =
      std::make_shared<ComputeSanitizer>(problem, gpu_options(measuring(options)), std::move(sanitizer));
  if (!options.quiet) fmt::print(stderr, "trying {} on the default configuration\n", options.validate);
  if (const auto objection = validator->validate(problem.default_candidate()); objection && !options.quiet)
    fmt::print(stderr, "the default configuration would not pass: {}\n", objection->reason);
  return [validator](const Candidate& candidate) { return validator->validate(candidate); };
}

}  // namespace kernelsearch::app
