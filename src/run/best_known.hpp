// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::detail {

/// A configuration of the problem's kernel that an earlier run measured.
struct BestKnown {
  Config config;
  std::string values;  ///< the same by name, as JSON
  RunId run{};
  TrialId trial{};
  double seconds = 0;
};

/// The fastest right configuration of the problem's own code in runs of the store that were measured in the
/// same way on a device like this one; nothing where there is none or where it is the default. `digest` is
/// the measurement's (measurement_digest).
[[nodiscard]] std::optional<BestKnown> best_known(const RunStore& store, const Problem& problem,
                                                  const std::string& digest, const std::string& device);

/// The configuration of these values, a JSON object by name; nothing where the space has none such.
[[nodiscard]] std::optional<Config> config_of_values(const Space& space, const std::string& values);

/// That a search begins there, for people.
[[nodiscard]] std::string told(const Space& space, const BestKnown& known);

}  // namespace kernelsearch::detail
