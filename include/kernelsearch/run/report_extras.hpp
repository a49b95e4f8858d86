// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

#include "kernelsearch/report/report_model.hpp"

namespace kernelsearch {

/// What a report of this run shows that is not in its trials: the questions and replies that were kept, with
/// what they cost where the user's own model file has prices; the peaks of its device where the run noted
/// them; its checkpoints; and what earlier runs of the problem had taught when it began, where its prompts
/// could show that. What cannot be read any more is left out. Questions are
/// read from the folder `exchanges`; where it is empty, from the run's own folder next to the store. A folder
/// that the store names is not read: the store may be a stranger's.
[[nodiscard]] ReportExtras report_extras(const RunStore& store, RunId run,
                                         const std::filesystem::path& exchanges = {});

}  // namespace kernelsearch
