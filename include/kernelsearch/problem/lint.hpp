// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// What is wrong with a problem although it reads: an error makes results meaningless, a warning may, a note
/// says what may be meant so.
struct LintFinding {
  enum class Severity : std::uint8_t { note, warning, error };
  Severity severity = Severity::warning;
  std::string what;  ///< what was found, where
  std::string todo;  ///< what to do about it
};

/// One call's data: for each argument its bytes; empty for pure outputs, workspaces and tensor maps. Scalars
/// are one element.
using CallInputs = std::vector<std::vector<std::byte>>;

/// What a call gave: for each argument that is an output its elements, in the order of the arguments, of
/// structs one field after the other; or why there are none.
struct CallOutputs {
  std::vector<std::vector<double>> outputs;
  std::string failure;  ///< empty where the call succeeded
};

/// Runs a problem's reference and its kernel at the default configuration; an evaluator implements it.
class LintRunner {
 public:
  virtual ~LintRunner() = default;
  /// A call's inputs; `draw_inputs` for problems without a generator.
  [[nodiscard]] virtual CallInputs draw(const Problem& problem, const Shape& shape, std::uint64_t seed);
  [[nodiscard]] virtual CallOutputs run_reference(const Shape& shape, const CallInputs& inputs) = 0;
  [[nodiscard]] virtual CallOutputs run_default(const Shape& shape, const CallInputs& inputs) = 0;
};

/// How much of a problem `lint` runs.
struct LintOptions {
  std::uint64_t seed = 0;
  std::size_t max_shapes = 3;  ///< the smallest that the validity predicate accepts
};

/// The shapes that `lint` runs: the smallest that the validity predicate accepts, the smallest first.
[[nodiscard]] std::vector<const Shape*> linted_shapes(const Problem& problem, std::size_t most);

/// What can be seen without running: nothing to time, nothing to tune, one shape only, only sizes that powers
/// of two divide, sizes too small to time.
[[nodiscard]] std::vector<LintFinding> lint_static(const Problem& problem);

/// The finding that a host's kernel is built with OpenMP, and that the problem allows it one thread.
[[nodiscard]] std::optional<LintFinding> openmp_in_one_thread(const Problem& problem);

/// `lint_static` and what running shows: a reference or default that fails or gives no numbers, a default
/// outside of the tolerance, two runs that differ, an output that is constant, one that ignores the inputs or
/// some input, a tolerance so wide that a constant or another call's result passes; these last four only
/// where every shape looked at shows them, since a single row or element may well.
[[nodiscard]] std::vector<LintFinding> lint(const Problem& problem, LintRunner& runner,
                                            LintOptions options = {});

/// A call's inputs for a shape, drawn as the arguments say.
[[nodiscard]] CallInputs draw_inputs(const Problem& problem, const Shape& shape, std::uint64_t seed);

}  // namespace kernelsearch
