// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// The forms in which other tools take answers to tasks in Python, docs/tasks.md.
enum class AnswerFormat : std::uint8_t {
  solution,     ///< FlashInfer-Bench's solution, JSON
  modelnew,     ///< KernelBench's file with `class ModelNew`
  submission,   ///< GPU MODE's file with `custom_kernel`
  tritonbench,  ///< TritonBench-G's file: the kernels, the line of `#`, the test
};

/// The name used on command lines: solution, modelnew, submission, tritonbench.
[[nodiscard]] constexpr std::string_view to_string(AnswerFormat format) noexcept {
  constexpr std::string_view names[] = {"solution", "modelnew", "submission", "tritonbench"};
  return names[static_cast<int>(format)];
}

[[nodiscard]] constexpr std::optional<AnswerFormat> answer_format_from(std::string_view name) noexcept {
  for (int i = 0; i < 4; ++i)
    if (to_string(static_cast<AnswerFormat>(i)) == name) return static_cast<AnswerFormat>(i);
  return std::nullopt;
}

/// An answer to a problem with a Python reference as a file of that form. `device` is where it was measured.
/// A ConfigError where the problem was not read from a task of that form.
[[nodiscard]] std::string answer_text(const Problem& problem, const std::string& answer, AnswerFormat format,
                                      const std::string& device);

}  // namespace kernelsearch
