// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/evaluator/gpu/sanitizer_report.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// A tool of NVIDIA's Compute Sanitizer.
enum class SanitizerTool : std::uint8_t {
  memcheck,   ///< accesses outside of arrays, misaligned ones
  racecheck,  ///< races on shared memory
  initcheck,  ///< reads of global memory that nothing has written
  synccheck,  ///< barriers that not all threads reach
};

[[nodiscard]] std::string_view to_string(SanitizerTool tool) noexcept;

/// The tools of a list of names with commas between them; a ConfigError for an unknown one.
[[nodiscard]] std::vector<SanitizerTool> sanitizer_tools(std::string_view names);

/// How ComputeSanitizer validates.
struct SanitizerOptions {
  std::vector<SanitizerTool> tools{SanitizerTool::memcheck, SanitizerTool::racecheck,
                                   SanitizerTool::initcheck};
  std::filesystem::path
      program{};           ///< compute-sanitizer; empty: KERNELSEARCH_COMPUTE_SANITIZER, PATH, toolkit
  std::string shape{};     ///< by name; empty: the one with the fewest bytes, since tools are slow
  double seconds = 120.0;  ///< for one tool; one that needs longer has not found the candidate right
};

/// What one tool said.
struct SanitizerFinding {
  SanitizerTool tool = SanitizerTool::memcheck;
  Verdict verdict = Verdict::ok;
  std::string reason;  ///< empty when ok
  SanitizerReport report;
};

/// A Validator (validated.hpp) that runs one call of a candidate under each tool, in a process of its own
/// whose buffers are exactly as long as the arguments say. What memcheck finds is `crashed`, what the others
/// find `wrong_result`: the outputs depend on timing or on what memory held before.
class ComputeSanitizer {
 public:
  /// A ConfigError where the program is missing, so that nobody believes it ran, or the problem is not for
  /// CUDA; a DeviceError where the device is.
  explicit ComputeSanitizer(Problem problem, GpuOptions gpu = {}, SanitizerOptions options = {});
  ComputeSanitizer(ComputeSanitizer&&) noexcept;
  ComputeSanitizer& operator=(ComputeSanitizer&&) noexcept;
  ~ComputeSanitizer();

  /// One finding for each tool, in the order of the options. A DeviceError where a tool cannot do its work.
  [[nodiscard]] std::vector<SanitizerFinding> examine(const Candidate& candidate);

  /// The first finding that is not ok as a failed evaluation. Once a stop is asked for it ends after the tool
  /// that is under way, and nothing then says nothing.
  [[nodiscard]] std::optional<Evaluation> validate(const Candidate& candidate,
                                                   const std::stop_token& stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch
