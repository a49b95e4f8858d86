// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "kernelsearch/policy/registry.hpp"

namespace kernelsearch {

/// The JSON Schema (2020-12) of an object of the policy's options: type, standard value, choices, bounds and
/// summary of each, as `system_options_schema` has those of a system. An option that the space decides where
/// it is left out has no standard value.
[[nodiscard]] std::string policy_options_schema(const ConfigPolicyEntry& policy);

}  // namespace kernelsearch
