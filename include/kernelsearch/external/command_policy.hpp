// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernelsearch/external/external_policy.hpp"
#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch {

/// A policy that is a process of its own and speaks JSON Lines on its standard input and output, in any
/// language: docs/formats/policy_protocol.md. The command is run by `/bin/sh -c`, with our environment, and
/// ends with this object. Its standard error is read, and the end of it is part of every error.
///
/// A process that ends, is late, or says what it may not is a ConfigError that names the policy and how many
/// trials it had been told.
class CommandPolicy {
 public:
  using Proposal = Config;

  /// Starts the process and introduces the space to it.
  CommandPolicy(std::string name, const std::string& command, const PolicySetup& setup,
                const PolicyCommandOptions& options = {});
  CommandPolicy(CommandPolicy&&) noexcept;
  CommandPolicy& operator=(CommandPolicy&&) noexcept;
  ~CommandPolicy();

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

static_assert(SearchPolicy<CommandPolicy>);

}  // namespace kernelsearch
