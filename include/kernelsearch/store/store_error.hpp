// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {

/// The store cannot be read or written: no such folder, disk full, damaged, or of a newer version.
class StoreError : public Error {
 public:
  using Error::Error;
};

}  // namespace kernelsearch
