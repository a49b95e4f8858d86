// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <vector>

#include "judge/compile.hpp"
#include "judge/runner.hpp"
#include "kernelsearch/judge/translation_unit.hpp"

namespace kernelsearch::detail {

/// What a reference says of one output.
struct OutputValues {
  std::vector<double> floating;     ///< of floating outputs
  std::vector<std::byte> integers;  ///< of the others, in their own type
  std::vector<bool> unwritten;      ///< empty where every element was written
  std::vector<OutputValues>
      fields{};  ///< of structs, in their order; then the others but `unwritten` are empty
};

/// What the call on the runner's first slot wrote, per argument of its plan (empty for inputs and scalars).
[[nodiscard]] std::vector<OutputValues> outputs_in(Runner& runner);

/// The problem's reference in processes of its own: in high precision it computes what is right, in the
/// kernel's it is what candidates are timed against. Not thread-safe.
class References {
 public:
  References(const Problem& problem, CompileCache& compiler, WorkerSettings settings);

  /// The outputs for these inputs, per argument (empty for inputs and scalars). A ConfigError if the
  /// reference does not build or run: then the problem is wrong, not a candidate.
  [[nodiscard]] std::vector<OutputValues> exact(const ShapePlan& plan, const Contents& contents);
  [[nodiscard]] std::vector<OutputValues> in_kernel_precision(const ShapePlan& plan,
                                                              const Contents& contents);

  /// The reference compiled with this type for `real`, and how it stores floating elements.
  [[nodiscard]] const std::filesystem::path& library(Real real);
  [[nodiscard]] Storage storage(Real real) const noexcept;

  /// False where the reference is the kernel itself, so that there is no higher precision.
  [[nodiscard]] bool independent() const noexcept { return !problem_.reference.source.empty(); }
  [[nodiscard]] double spent_seconds() const noexcept { return spent_; }

 private:
  /// A process that computes, laid out for one call of the shape.
  Runner& ready(Real real, const ShapePlan& plan);
  std::vector<OutputValues> compute(Real real, const ShapePlan& plan, const Contents& contents);

  const Problem& problem_;
  CompileCache& compiler_;
  WorkerSettings settings_;
  std::filesystem::path libraries_[3];
  std::unique_ptr<Runner> runners_[3];
  double spent_ = 0.0;
};

}  // namespace kernelsearch::detail
