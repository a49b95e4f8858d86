// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/runtime/processor.hpp"

#include "kernelsearch/core/device_identity.hpp"

namespace kernelsearch {

std::string processor_name() {
  return processor_identity();
}

}  // namespace kernelsearch
