// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/core/result.hpp"

namespace kernelsearch {

/// One thing that a search minimizes or maximizes.
struct Objective {
  std::string name;         ///< what tables, pages and the feature `objective.NAME` call it
  Expression value;         ///< over `time`, in seconds, and the features of an evaluation
  bool maximize = false;    ///< false: lower is better
  double weight = 1.0;      ///< in the scalar objective
  bool is_formula = false;  ///< the value is a formula of its own, and not what the name names
};

/// What a search minimizes or maximizes: the time alone if rows are missing. This is the one place
/// that turns the features of an evaluation into values.
///
/// Policies that know one objective are told the weighted geometric mean of the losses, where the loss of a
/// value that is minimized is the value, and of one that is maximized its reciprocal. The unit of a value
/// then does not matter; of time and energy it is the root of the energy-delay product. Values must therefore
/// be above 0.
class Objectives {
 public:
  Objectives() = default;

  /// Parses objectives with a `;` between each two. Each is `[minimize|maximize] NAME [= FORMULA]
  /// [weight NUMBER]`, e.g. `time; maximize throughput = 2e9 / time weight 2`. Without a formula the value is
  /// `time` or the feature of that name. The empty text, and `time` alone, is the time.
  [[nodiscard]] static Result<Objectives> try_parse(std::string_view text);
  /// The same; ConfigError for what try_parse() refuses.
  [[nodiscard]] static Objectives parse(std::string_view text);

  [[nodiscard]] bool only_time() const noexcept { return rows_.empty(); }
  [[nodiscard]] std::span<const Objective> rows() const noexcept { return rows_; }
  /// As parse() reads it; `time` without rows.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static std::string text_of(const Objective& row);
  /// The row of that name; null if it is missing.
  [[nodiscard]] const Objective* find(std::string_view name) const noexcept;
  /// Whether a formula reads a feature whose name begins with one of these.
  [[nodiscard]] bool reads(std::initializer_list<std::string_view> prefixes) const noexcept;

  /// The value of each objective, in the order of the rows. A Fault where a feature was not observed, or a
  /// value is not a finite number above 0.
  [[nodiscard]] Result<std::vector<double>> try_values(const Evaluation& evaluation) const;
  /// The same as losses: lower is better in each.
  [[nodiscard]] Result<std::vector<double>> try_losses(const Evaluation& evaluation) const;
  /// The one number that stands for them, lower is better.
  [[nodiscard]] double scalar(std::span<const double> losses) const;

  /// The scalar of a right evaluation, whose features `objective.NAME` then have the values.
  [[nodiscard]] Result<double> try_judge(Evaluation& evaluation) const;

 private:
  std::vector<Objective> rows_;
};

/// Whether `a` is at least as good as `b` in each loss, and better in one.
[[nodiscard]] bool dominates(std::span<const double> a, std::span<const double> b) noexcept;

/// The indices of those that none of the others dominates, in order; of equal ones the first alone. An empty
/// row of losses stands for a failure, which is never in the front.
[[nodiscard]] std::vector<std::size_t> pareto_front(std::span<const std::vector<double>> losses);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/objectives_impl.hpp"
#endif
