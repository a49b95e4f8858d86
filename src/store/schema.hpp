// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "sqlite.hpp"

namespace kernelsearch::sqlite {

/// Brings the file to the schema of this library: creates it, or migrates it; a newer one, or a database of
/// another program, is a StoreError.
void open_schema(Database& database, double busy_seconds);

}  // namespace kernelsearch::sqlite
