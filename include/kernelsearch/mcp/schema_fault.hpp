// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kernelsearch {

/// Why `value` does not fit the JSON Schema, in words that say what to write; empty where it fits. Knows
/// `type`, `properties`, `required`, `additionalProperties`, `items`, `minItems`, `maxItems`, `enum`,
/// `const`, `minimum`, `maximum`, `exclusiveMinimum`, `minLength`, `maxLength`, `anyOf`; other keywords do
/// not restrict. `where` names the value.
[[nodiscard]] std::string schema_fault(const nlohmann::json& schema, const nlohmann::json& value,
                                       const std::string& where = "arguments");

}  // namespace kernelsearch
