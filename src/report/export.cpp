// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/export.hpp"

#include <ostream>

#include "export_formats.hpp"
#include "kernelsearch/report/tree_dot.hpp"

namespace kernelsearch {
namespace {

void write(const detail::ExportSource& source, ExportFormat format, std::ostream& out) {
  switch (format) {
    case ExportFormat::json_lines:
      detail::export_json_lines(source, out);
      break;
    case ExportFormat::csv:
      detail::export_csv(source, out);
      break;
    case ExportFormat::t4:
      detail::export_t4(source, out);
      break;
    case ExportFormat::t4_metadata:
      detail::export_t4_metadata(source.run, out);
      break;
    case ExportFormat::trace:
      detail::export_trace(source, out);
      break;
    case ExportFormat::dot: {
      SearchTree tree;
      source.each_trial([&tree](const StoredTrial& trial) { record_stored(tree, trial); });
      write_dot(tree, out);
      break;
    }
  }
  out.flush();
  if (!out)
    detail::raise<StoreError>("the export was not written whole", std::string(to_string(format)),
                              "make room or check that the file can be written");
}

}  // namespace

void export_run(const RunStore& store, RunId run, ExportFormat format, std::ostream& out) {
  const RunRow row = store.run(run);
  write({row, [&](const auto& use) { store.each_trial(run, use); },
         [&](TrialId parent) { return store.inner_trials(run, parent); },
         format == ExportFormat::trace ? store.spans(run) : std::vector<RunSpan>()},
        format, out);
}

void export_trials(const RunRow& run, std::span<const StoredTrial> trials, ExportFormat format,
                   std::ostream& out) {
  const auto each = [trials](const auto& use) {
    for (const StoredTrial& trial : trials) use(trial);
  };
  write({run, each, [](TrialId) { return std::vector<StoredInnerTrial>(); }}, format, out);
}

}  // namespace kernelsearch
