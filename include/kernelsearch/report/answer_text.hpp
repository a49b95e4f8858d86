// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/core/impl/enum_names.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// The forms in which other tools take answers to tasks in Python, docs/tasks.md.
enum class AnswerFormat : std::uint8_t {
  solution,          ///< FlashInfer-Bench's solution, JSON
  modelnew,          ///< KernelBench's file with `class ModelNew`
  submission,        ///< GPU MODE's file with `custom_kernel`
  tritonbench,       ///< TritonBench-G's file: the kernels, the line of `#`, the test
  evaluation_trace,  ///< FlashInfer-Bench's traces of that solution, lines of JSON
};

/// The name used on command lines: solution, modelnew, submission, tritonbench, evaluation-trace.
[[nodiscard]] constexpr std::string_view to_string(AnswerFormat format) noexcept {
  constexpr std::string_view names[] = {"solution", "modelnew", "submission", "tritonbench",
                                        "evaluation-trace"};
  return names[static_cast<int>(format)];
}

[[nodiscard]] constexpr std::optional<AnswerFormat> answer_format_from(std::string_view name) noexcept {
  return detail::enum_from<AnswerFormat>(name);
}

/// Where and how an answer was measured.
struct AnswerMeasured {
  std::string device = {}, toolchain = {};
  std::string at = {};                     ///< when, in ISO 8601
  const Evaluation* evaluation = nullptr;  ///< of the answer; only traces need it
};

/// An answer to a problem with a Python reference as a file of that form. Traces have a line for each
/// workload that was timed in pairs with the reference, whose time is that of the answer times its speedup;
/// errors are the largest of all calls that were checked. A ConfigError where the problem was not read from a
/// task of that form, or nothing of a trace was measured.
[[nodiscard]] std::string answer_text(const Problem& problem, const std::string& answer, AnswerFormat format,
                                      const AnswerMeasured& measured);

}  // namespace kernelsearch
