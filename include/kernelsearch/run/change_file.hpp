// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "kernelsearch/llm/redactor.hpp"
#include "kernelsearch/store/remembered_change.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// Every secret out, every text without control characters and cut to ChangeLimits: what is kept, and what
/// comes from elsewhere, passes through it.
[[nodiscard]] RememberedChange without_secrets(RememberedChange change, const Redactor& redactor);

/// Writes these changes as JSON Lines (docs/memory.md), the oldest first; how many.
std::size_t export_changes(const RunStore& store, const ChangeFilter& filter, std::ostream& out);

struct ImportedChanges {
  std::size_t read = 0;
  std::size_t added = 0;  ///< the others were known
};

/// Adds the changes of such a file that the store does not know; all of them or, where a line cannot be read,
/// none: a ConfigError with `name` and the line.
ImportedChanges import_changes(RunStore& store, std::istream& in, const std::string& name);

}  // namespace kernelsearch
