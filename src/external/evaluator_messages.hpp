// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/arena.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::external {

/// For docs/external_evaluators.md; a program that answers with another one is refused.
inline constexpr std::uint64_t evaluator_protocol_version = 1;

/// The bytes of one reply, at most: more is a flood.
inline constexpr std::size_t longest_evaluator_reply = std::size_t{1} << 20;

/// The descriptors under which the program finds the memory of inputs and that of outputs.
inline constexpr int inputs_descriptor = 3, outputs_descriptor = 4;

enum class EvaluatorReplyKind : std::uint8_t { described, built, loaded, ran, nothing };

/// What a program answered.
struct EvaluatorReply {
  EvaluatorReplyKind kind = EvaluatorReplyKind::nothing;
  std::string id;              ///< of the request
  bool ok = true;              ///< false: it declined, for `reason`
  std::string reason;          ///< at most 2000 bytes of clean text
  std::uint64_t protocol = 0;  ///< of `described`, as the next three
  std::string name, version, device;
  bool claims_times = false;    ///< of `described`: `ran` tells seconds
  Features features;            ///< of `built`
  std::vector<double> seconds;  ///< of `ran`: of each call, or none
};

/// The reply on that line. Numbers are finite, times not below 0, names are one line of at most 200 bytes.
[[nodiscard]] Result<EvaluatorReply> try_parse_evaluator_reply(std::string_view line);

[[nodiscard]] std::string describe_message(const Problem& problem, std::string_view id);
[[nodiscard]] std::string build_message(const Candidate& candidate, std::string_view id);
/// `slots` is attached to memories whose beginnings are `inputs` and `outputs`.
[[nodiscard]] std::string load_message(const Problem& problem, const detail::Slots& slots,
                                       const detail::Arena& inputs, const detail::Arena& outputs,
                                       std::string_view id);
[[nodiscard]] std::string run_message(std::span<const std::uint32_t> slots, std::string_view id);
[[nodiscard]] std::string nothing_message(std::string_view id);
[[nodiscard]] std::string evaluator_end_message();

}  // namespace kernelsearch::external
