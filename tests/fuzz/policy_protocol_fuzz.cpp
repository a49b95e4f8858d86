// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "external/policy_messages.hpp"
#include "kernelsearch/external/policy_contract.hpp"

/// Any line of a policy is a reply or a fault with its three parts; every configuration of a reply has a
/// value of each tunable.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  static const Space space = contract_space();
  const auto reply = external::try_parse_policy_reply({reinterpret_cast<const char*>(data), size}, space);
  if (!reply) {
    if (reply.error().what.empty() || reply.error().todo.empty()) std::abort();
    return 0;
  }
  for (const Config& config : reply->configurations) {
    if (config.indices.size() != space.size()) std::abort();
    for (std::size_t i = 0; i < space.size(); ++i)
      if (config.indices[i] >= space.tunable(i).values.size()) std::abort();
  }
  return 0;
}
