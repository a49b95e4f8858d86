// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/result.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE std::string Fault::text() const {
  return detail::error_text(what, given, todo);
}

namespace detail {

KERNELSEARCH_INLINE void raise_config_error(const Fault& fault) {
  raise<ConfigError>(fault.what, fault.given, fault.todo);
}

KERNELSEARCH_INLINE void raise_no_value(const std::string& why) {
  raise<ConfigError>("the value of a failed result was read", why, "look at ok() first, and at error()");
}

}  // namespace detail
}  // namespace kernelsearch
