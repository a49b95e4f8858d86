// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kernelsearch/core/features.hpp"

namespace kernelsearch {

/// What was observed of a kernel besides its times, for a model: about twenty quantities by their meaning,
/// with units, on a few lines (use of compute and memory in percent of their peaks, hit rates, residency,
/// what warps wait for, the instructions of the hot loop) and the roofline's verdict in a sentence. A
/// profiler's own counters (`ncu.<metric>`) never appear. Features of evaluators of your own come last,
/// `most_others` of them. Empty where nothing was observed.
[[nodiscard]] std::string observed_text(const Features& features, std::size_t most_others = 16);

/// What a feature that a method's trace is looked for in counts, without a tool's name for it:
/// `instructions on the matrix units in the hot loop` of `sass.loop.tensor_core`.
[[nodiscard]] std::string feature_words(std::string_view name);

/// What limits the kernel and how far it is from what the roofline allows, in one sentence; empty where the
/// features do not say.
[[nodiscard]] std::string limit_text(const Features& features);

}  // namespace kernelsearch
