// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <iosfwd>
#include <vector>

#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::detail {

/// A run to be written, in a store or not.
struct ExportSource {
  const RunRow& run;
  std::function<void(const std::function<void(const StoredTrial&)>&)> each_trial;
  std::function<std::vector<StoredInnerTrial>(TrialId)> inner_trials;
  std::vector<RunSpan> spans = {};  ///< what was done when, where the run wrote it down
};

void export_json_lines(const ExportSource& source, std::ostream& out);
void export_csv(const ExportSource& source, std::ostream& out);
void export_t4(const ExportSource& source, std::ostream& out);
void export_trace(const ExportSource& source, std::ostream& out);
void export_t4_metadata(const RunRow& run, std::ostream& out);

}  // namespace kernelsearch::detail
