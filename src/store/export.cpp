// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/export.hpp"

#include <ostream>

#include "export_formats.hpp"
#include "kernelsearch/store/tree_dot.hpp"

namespace kernelsearch {

void export_run(const RunStore& store, RunId run, ExportFormat format, std::ostream& out) {
  const RunRow row = store.run(run);
  switch (format) {
    case ExportFormat::json_lines:
      detail::export_json_lines(store, row, out);
      break;
    case ExportFormat::csv:
      detail::export_csv(store, row, out);
      break;
    case ExportFormat::t4:
      detail::export_t4(store, row, out);
      break;
    case ExportFormat::t4_metadata:
      detail::export_t4_metadata(row, out);
      break;
    case ExportFormat::dot:
      write_dot(load_tree(store, run), out);
      break;
  }
  out.flush();
  if (!out)
    detail::raise<StoreError>("the export was not written whole", std::string(to_string(format)),
                              "make room or check that the file can be written");
}

}  // namespace kernelsearch
