// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/registry.hpp"

namespace kernelsearch::external {

/// Results go by the policy's name, so no policy from outside has a built-in one's.
inline void check_new_name(const std::string& name, const std::string& todo) {
  bool known = name == "submit";
  for (const ConfigPolicyEntry& entry : config_policies()) known = known || entry.name == name;
  if (known) detail::raise<ConfigError>("a built-in policy has that name", name, todo);
}

}  // namespace kernelsearch::external
