// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

namespace detail {
struct MlirScheduleData;
}

/// A schedule of MLIR's transform dialect with choices left open, as docs/mlir.md describes it: every
/// `transform.tune.knob` and every `transform.tune.alternatives` without a driving parameter is a tunable,
/// and what `transform.smt.constrain_params` asserts are constraints. Made from the generic form that
/// `mlir-opt --mlir-print-op-generic --mlir-print-local-scope` prints; copies share what was read.
class MlirSchedule {
 public:
  /// Reads `generic`; `file` is how messages call it where the text has no locations of its own
  /// (`--mlir-print-debuginfo`). ConfigError names the operation that has no meaning here, and its line.
  [[nodiscard]] static MlirSchedule read(std::string_view generic, const std::string& file = "schedule");
  /// The same without raising.
  [[nodiscard]] static Result<MlirSchedule> try_read(std::string_view generic,
                                                     const std::string& file = "schedule");

  /// The tunables in the order of the schedule. Options that are all integers of one type are integers,
  /// `true` and `false` bools; all others are strings, as printed. Alternatives have the numbers of their
  /// regions. The default is what the schedule selects, else the first option. What is in a region of
  /// alternatives counts only where that region is selected.
  [[nodiscard]] const std::vector<Tunable>& tunables() const noexcept;
  /// Constraints over them, in the order of the schedule, as texts of docs/formats/expressions.md.
  [[nodiscard]] const std::vector<std::string>& constraints() const noexcept;
  /// The space of both; errors as of Space::build.
  [[nodiscard]] Result<Space> try_space() const;

  /// The text without its locations, nothing else changed.
  [[nodiscard]] const std::string& text() const noexcept;

  /// Where the value of a tunable comes from: null for one that keeps what the schedule selects.
  using ValueOf = std::function<const Value*(std::string_view name)>;

  /// The schedule ready for `mlir-opt --transform-interpreter`: values selected, constraints that hold
  /// taken out, results of constraints put in as `transform.param.constant`. A fault for a value that is
  /// none of the options, for a constraint that does not hold, and for a choice without a value.
  [[nodiscard]] Result<std::string> try_written(const ValueOf& value_of) const;
  /// The same at a configuration of a space that has these tunables, at least those without a selection.
  [[nodiscard]] Result<std::string> try_written(const Space& space, const Config& config) const;

 private:
  explicit MlirSchedule(std::shared_ptr<const detail::MlirScheduleData> data) : data_(std::move(data)) {}
  std::shared_ptr<const detail::MlirScheduleData> data_;
};

/// Whether a kernel's source of this name is a schedule of MLIR: it ends in `.mlir`.
[[nodiscard]] bool is_mlir_source(std::string_view name) noexcept;

/// The schedule `text` with values written back, as try_written; a text that cannot be read or written so
/// comes back as it is, with the reason as a comment before it: MLIR will refuse it.
[[nodiscard]] std::string filled_mlir_source(const std::string& text, const MlirSchedule::ValueOf& value_of);

}  // namespace kernelsearch
