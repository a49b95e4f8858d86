// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/report/report_model.hpp"

namespace kernelsearch {

/// What a report of this run shows that is not in its store: the questions and replies that were kept, and
/// the peaks of its device where the run noted them. What cannot be read any more is left out.
[[nodiscard]] ReportExtras report_extras(const RunStore& store, RunId run);

}  // namespace kernelsearch
