// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "external/evaluator_messages.hpp"

/// Any line of an external evaluator is a reply or a fault with its three parts; numbers of a reply are
/// finite.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  const auto reply = external::try_parse_evaluator_reply({reinterpret_cast<const char*>(data), size});
  if (!reply) {
    if (reply.error().what.empty() || reply.error().todo.empty()) std::abort();
    return 0;
  }
  for (const double seconds : reply->seconds)
    if (!std::isfinite(seconds) || seconds < 0) std::abort();
  for (const auto& [name, value] : reply->features)
    if (name.empty() || !std::isfinite(value)) std::abort();
  if (reply->kind == external::EvaluatorReplyKind::described && reply->ok &&
      (reply->name.empty() || reply->device.find('\n') != std::string::npos))
    std::abort();
  return 0;
}
