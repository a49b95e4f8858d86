// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/policy_options_schema.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "options_schema.hpp"

namespace kernelsearch {

std::string policy_options_schema(const ConfigPolicyEntry& policy) {
  nlohmann::ordered_json schema = detail::options_schema(policy.name);
  for (const PolicyOption& option : policy.options)
    schema["properties"][std::string(option.name)] = detail::field_schema(option, policy.standard(option));
  return schema.dump(2);
}

}  // namespace kernelsearch
