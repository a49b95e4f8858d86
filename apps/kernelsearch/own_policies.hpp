// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/external/external_policy.hpp"

namespace CLI {
class App;
}

namespace kernelsearch::app {

/// Policies from outside that a command was given.
struct OwnPolicies {
  std::vector<std::string> commands, plugins;
  double timeout = 60;
};

/// The options `--policy-command`, `--policy-plugin` and `--policy-timeout`, each as often as one likes.
void add_own_policies(CLI::App& sub, OwnPolicies& own);

/// Which of `own` and of the built-in policies are meant by `lists`, each as split_policies() reads it: those
/// named and, of each command or plug-in of which none is named, all. No names, or `all`: all but exhaustive.
/// A built-in policy may have options, `genetic(population=40)`, and is called by the text given. ConfigError
/// for an unknown name or option, a value that does not fit, and a name that two of `own` have.
[[nodiscard]] std::vector<ExternalPolicy> chosen_policies(const std::vector<std::string>& lists,
                                                          const OwnPolicies& own);

}  // namespace kernelsearch::app
