// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/store/run_info.hpp"
#include "run/stored_options.hpp"

/// The row of a store of a run with these options.
inline kernelsearch::RunRow row_of(const kernelsearch::detail::StoredOptions& stored) {
  kernelsearch::RunRow row;
  row.info.policy = stored.options.system.empty() ? stored.options.policy : stored.options.system;
  row.info.seed = stored.options.seed;
  row.info.name = stored.options.name;
  row.info.options = kernelsearch::detail::encode_options(stored);
  return row;
}
