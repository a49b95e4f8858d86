// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/policy/registry.hpp"

namespace kernelsearch {

/// A policy over spaces that is not part of the library: a command, or one that a plug-in brought.
struct ExternalPolicy {
  std::string name;
  std::string summary;
  std::string source;  ///< the command, or the plug-in's file
  std::function<AnyPolicy<Config>(const PolicySetup&)> make;
  bool own_process = false;  ///< works in a process of its own, where its processor time is not ours
  std::shared_ptr<const ConfigPolicyEntry> entry = nullptr;  ///< its options; none: it takes none
};

/// The policy with the options of the text, `NAME` or `NAME(OPTION=VALUE)`; its name is then the canonical
/// text. ConfigError where the text does not read, for an option that the policy does not have, with the
/// nearest, and for a value that does not fit.
[[nodiscard]] ExternalPolicy with_options(ExternalPolicy policy, std::string_view text);

/// How commands that are policies are run.
struct PolicyCommandOptions {
  std::filesystem::path folder = {};  ///< where the command runs; empty: where this program does
  double answer_seconds = 60;         ///< within which each message must be answered, or taken
};

/// The policy of `text`, `COMMAND` or `NAME: COMMAND`. A command without a name is called as the first of its
/// words that names a file with an extension, without folder and extension (`python3 mine.py`: `mine`), else
/// as its first word. Each policy that it makes is a CommandPolicy. ConfigError where there is no command.
[[nodiscard]] ExternalPolicy command_policy(std::string_view text, const PolicyCommandOptions& options = {});

/// All policies that the shared library registers (see policy_plugin.hpp), in its order. The library stays
/// loaded until the program ends. ConfigError where it cannot be loaded, registers nothing, or was built for
/// another version or by another compiler; that is found before any of its code but its initialisers runs.
[[nodiscard]] std::vector<ExternalPolicy> load_policy_plugin(const std::filesystem::path& file);

}  // namespace kernelsearch
