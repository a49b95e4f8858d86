// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/core/shown_verdict.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// Trials that failed alike.
struct FailureGroup {
  Verdict verdict{};
  std::optional<Overrun> overrun;  ///< of the first of them; all of a group have one, or none has
  std::string reason;              ///< of the first of them, on one line
  std::uint64_t count = 0;
  TrialId trial{};  ///< the first of them

  [[nodiscard]] std::string_view shown() const noexcept { return shown_verdict(verdict, overrun); }
};

/// Why trials failed, from any source of outcomes. Failures are alike when verdict and reason are, numbers
/// apart, which differ from one configuration to the next.
class FailureReasons {
 public:
  /// Counts a failure; true for the first of its kind. For right trials, and of
  /// answers that something does not apply, nothing is kept.
  bool add(TrialId trial, const Evaluation& evaluation);

  /// The commonest first; of equally common ones that with the earlier trial.
  [[nodiscard]] std::vector<FailureGroup> groups() const;

 private:
  std::map<std::tuple<Verdict, bool, std::string>, FailureGroup> groups_;  // bool: whether it has an overrun
};

/// Why the trials of a run failed.
[[nodiscard]] std::vector<FailureGroup> failure_reasons(const RunStore& store, RunId run);

/// What of a reason says most on one line: the first that names an error, else the first that is not empty;
/// cut to that many characters.
[[nodiscard]] std::string short_reason(const std::string& reason, std::size_t most = 120);

}  // namespace kernelsearch
