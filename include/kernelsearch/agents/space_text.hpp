// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

struct SpaceTextOptions {
  std::size_t max_values = 16;       ///< of one tunable that are listed; longer lists show their ends
  std::size_t max_constraints = 32;  ///< that are listed
};

/// The space as a model reads it: a line for each tunable with its type, values, default and condition, then
/// the constraints and the number of valid configurations.
[[nodiscard]] std::string space_text(const Space& space, SpaceTextOptions options = {});

/// A value as JSON, so that an empty text is seen: `16`, `true`, `""`, `[1,0]`.
[[nodiscard]] std::string json_text(const Value& value);

/// The JSON schema of `{"configs": [{...}, ...]}` with each tunable's values as an enumeration, `null` for
/// its default: for providers that keep replies to a schema (ChatRequest::json_schema), in the subset that
/// they accept (every member required, no others). Empty where the space is larger than they take: more than
/// 100 tunables or 500 values in all.
[[nodiscard]] std::string config_schema(const Space& space);

/// The configuration as a JSON object on one line.
[[nodiscard]] std::string config_text(const Space& space, const Config& config);

/// The tunables in which it differs from `base`, as a JSON object on one line; `{}` where it does not.
[[nodiscard]] std::string config_difference(const Space& space, const Config& config, const Config& base);

}  // namespace kernelsearch
