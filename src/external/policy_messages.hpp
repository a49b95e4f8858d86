// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/policy/policy_setup.hpp"

namespace kernelsearch::external {

/// For docs/formats/policy_protocol.md; a policy that answers with another one is refused.
inline constexpr std::uint64_t policy_protocol_version = 1;

/// Configurations that the first message lists at most; of a larger space it has the constraints alone.
inline constexpr std::uint64_t listed_configurations = 250'000;

enum class PolicyReplyKind : std::uint8_t { ready, proposals, error };

/// What a policy answered.
struct PolicyReply {
  PolicyReplyKind kind = PolicyReplyKind::ready;
  std::uint64_t protocol = 0;            ///< of `ready`
  std::vector<Config> configurations{};  ///< of `proposals`; each has a value of every tunable
  std::string message{};                 ///< of `error`
};

/// The reply on that line. Configurations may break the space's constraints, but not have unknown tunables or
/// values, or lack some.
[[nodiscard]] Result<PolicyReply> try_parse_policy_reply(std::string_view line, const Space& space);

[[nodiscard]] std::string hello_message(std::string_view policy, const PolicySetup& setup);
[[nodiscard]] std::string ask_message(std::size_t n);
[[nodiscard]] std::string tell_message(const Space& space, std::span<const Observation<Config>> batch);
[[nodiscard]] std::string end_message();

}  // namespace kernelsearch::external
