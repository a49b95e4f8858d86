// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iosfwd>

#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::detail {

void export_json_lines(const RunStore& store, const RunRow& run, std::ostream& out);
void export_csv(const RunStore& store, const RunRow& run, std::ostream& out);
void export_t4(const RunStore& store, const RunRow& run, std::ostream& out);
void export_t4_metadata(const RunRow& run, std::ostream& out);

}  // namespace kernelsearch::detail
