// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/compute_sanitizer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>

#include "evaluator/gpu/replay_target.hpp"
#include "evaluator/gpu/sanitizer_run.hpp"
#include "evaluator/gpu/tool.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/enum_names.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch {
namespace {

using detail::raise;

constexpr std::array<std::string_view, detail::enum_count<SanitizerTool>> tool_names{
    "memcheck", "racecheck", "initcheck", "synccheck"};
static_assert(!tool_names.back().empty(), "a tool has no name: add it to the list");

std::filesystem::path checked_program(const Problem& problem, const SanitizerOptions& options) {
  const char* named = std::getenv("KERNELSEARCH_COMPUTE_SANITIZER");
  // Who names a program for another backend has one that works there.
  const bool is_named = !options.program.empty() || (named != nullptr && *named != '\0');
  if (problem.backend != Backend::cuda && !is_named)
    raise<ConfigError>("Compute Sanitizer checks CUDA kernels", to_string(problem.backend), "leave it out");
  if (const auto program = detail::gpu::find_compute_sanitizer(options.program)) return *program;
  raise<ConfigError>("Compute Sanitizer is not there",
                     options.program.empty() ? "compute-sanitizer" : options.program.string(),
                     "install it, or set KERNELSEARCH_COMPUTE_SANITIZER to the program");
}

}  // namespace

std::string_view to_string(SanitizerTool tool) noexcept {
  return tool_names[static_cast<std::size_t>(tool)];
}

std::vector<SanitizerTool> sanitizer_tools(std::string_view names) {
  std::vector<SanitizerTool> tools;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    std::size_t at = 0;
    while (at < tool_names.size() && tool_names[at] != name) ++at;
    if (at == tool_names.size())
      raise<ConfigError>("no such tool of Compute Sanitizer", std::string(name),
                         "there are memcheck, racecheck, initcheck and synccheck");
    tools.push_back(static_cast<SanitizerTool>(at));
  }
  return tools;
}

struct ComputeSanitizer::Impl {
  Impl(Problem problem, const GpuOptions& gpu, SanitizerOptions chosen)
      : program(checked_program(problem, chosen)),
        options(std::move(chosen)),
        target(std::move(problem), gpu) {}

  std::vector<SanitizerFinding> examine(const Candidate& candidate, bool all,
                                        const std::stop_token& stop = {}) {
    const std::scoped_lock lock(mutex);
    const auto failed = [](Verdict verdict, std::string reason) {
      SanitizerFinding finding;
      finding.verdict = verdict;
      finding.reason = std::move(reason);
      return std::vector<SanitizerFinding>{std::move(finding)};
    };
    const auto shape = target.shape(candidate, options.shape, true);
    if (!shape) return failed(Verdict::rejected, "`valid` is false for every shape");
    const detail::gpu::Built built = target.build(candidate);
    if (built.verdict != Verdict::ok) return failed(built.verdict, built.reason);
    const detail::ScratchFolder scratch;
    const auto file = scratch.path() / "frames";
    std::size_t launches = 0;
    const std::string problem = target.write(
        candidate, built, {.shape = *shape, .seed = detail::secret_seed(), .warm_up = 0, .poison = false},
        file, launches);
    if (!problem.empty()) return failed(Verdict::rejected, problem);
    std::vector<SanitizerFinding> findings;
    for (const SanitizerTool tool : options.tools) {
      if (stop.stop_requested()) break;
      findings.push_back(
          detail::gpu::run_sanitizer(program, tool, target.command(file, true), options.seconds));
      SanitizerFinding& finding = findings.back();
      if (finding.verdict == Verdict::ok) continue;
      finding.reason += " (shape " + target.problem().shapes[*shape].name + ")";
      if (!all) break;
    }
    return findings;
  }

  std::filesystem::path program;
  SanitizerOptions options;
  detail::gpu::ReplayTarget target;
  std::mutex mutex;
};

ComputeSanitizer::ComputeSanitizer(Problem problem, GpuOptions gpu, SanitizerOptions options)
    : impl_(std::make_unique<Impl>(std::move(problem), gpu, std::move(options))) {}
ComputeSanitizer::ComputeSanitizer(ComputeSanitizer&&) noexcept = default;
ComputeSanitizer& ComputeSanitizer::operator=(ComputeSanitizer&&) noexcept = default;
ComputeSanitizer::~ComputeSanitizer() = default;

std::vector<SanitizerFinding> ComputeSanitizer::examine(const Candidate& candidate) {
  return impl_->examine(candidate, true);
}

std::optional<Evaluation> ComputeSanitizer::validate(const Candidate& candidate,
                                                     const std::stop_token& stop) {
  for (const SanitizerFinding& finding : impl_->examine(candidate, false, stop))
    if (finding.verdict != Verdict::ok) return Evaluation::failed(finding.verdict, finding.reason);
  return std::nullopt;
}

}  // namespace kernelsearch
