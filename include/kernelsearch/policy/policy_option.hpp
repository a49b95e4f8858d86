// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/field.hpp"

namespace kernelsearch {

using PolicyOptionValue = FieldValue;
using PolicyOptionValues = FieldValues;

/// One option of a policy. It describes one member of the policy's options.
struct PolicyOption : Field {
  /// Where it is left out, the space decides: it is true if the space declares a default configuration.
  bool from_space = false;
};

}  // namespace kernelsearch
