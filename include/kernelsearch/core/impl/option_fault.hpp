// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/core/value.hpp"

namespace kernelsearch::detail {

/// `did you mean NEAREST? there are A, B, C`: what to do about a name that is not among those known.
[[nodiscard]] std::string nearest_of(std::string_view name, std::span<const std::string> known);

/// What is said of an option that `owner`, a policy or a system, does not have: the nearest name and all.
[[nodiscard]] Fault unknown_option(std::string_view owner, std::string_view name,
                                   std::span<const std::string> known);

/// What is said of an option whose value is of another type than `wanted` tells.
[[nodiscard]] Fault option_of_another_type(std::string_view owner, std::string_view name,
                                           std::string_view given, std::string_view wanted);

/// What is said of a number that is not finite or not within its bounds, which are included; nothing where it
/// is. Bounds of whole numbers are told as whole numbers.
[[nodiscard]] std::optional<Fault> option_out_of_bounds(std::string_view owner, std::string_view name,
                                                        const Value& value, double least, double most);

/// What is said of a text that is not one of the option's choices, of which there is at least one.
[[nodiscard]] Fault unknown_choice(std::string_view owner, std::string_view name, std::string_view given,
                                   std::span<const std::string> choices);

}  // namespace kernelsearch::detail

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/option_fault_impl.hpp"
#endif
