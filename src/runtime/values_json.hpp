// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/value.hpp"

namespace kernelsearch::detail {

using NamedValues = std::vector<std::pair<std::string, Value>>;

/// As an object that keeps the order of the tunables, which is the order in which people read them.
[[nodiscard]] nlohmann::ordered_json values_json(const NamedValues& values);

/// Back again; throws json exceptions on anything unexpected, and the caller says where it was.
[[nodiscard]] NamedValues values_of(const nlohmann::ordered_json& object);

}  // namespace kernelsearch::detail
