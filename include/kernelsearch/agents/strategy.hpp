// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/policy/hierarchical_ucb_options.hpp"
#include "kernelsearch/policy/method_choice.hpp"
#include "kernelsearch/policy/move_sign.hpp"

namespace kernelsearch {

/// How a strategy is carried out, everywhere or on some devices.
struct StrategyPart {
  std::vector<std::string> needs, lacks;  ///< features that the device must have, and must not (MethodDevice)
  std::vector<std::string> steps;         ///< what to do, in order
  std::vector<std::string> knobs;         ///< sizes that decide, with values that are worth trying
  std::vector<std::string> hazards;       ///< what goes wrong
};

/// A named way to make kernels faster, as a language model is told it; read from data/strategies
/// (docs/formats/strategies.md).
struct Strategy {
  std::string name;
  std::string description;         ///< what to do, in words for a model
  std::string target;              ///< the resource that it relieves: `dram`, `l2`, `sm`, `cache`, ...
  std::string relieves;            ///< the feature, in percent of the hardware's limit, that it makes room in
  std::optional<Expression> when;  ///< over features; false: it is not worth trying on such a kernel
  std::string unless;              ///< why not, in words
  std::vector<std::string> backends;
  std::vector<StrategyPart> parts = {};  ///< in order; those that are not for a device are not shown
  std::vector<std::string> needs = {}, lacks = {};  ///< of the device, for the whole strategy
  std::vector<MoveSign> signs = {};                 ///< what kernels show for it and against it

  /// Whether it is worth trying on a kernel with these features. A feature that is not known decides nothing.
  [[nodiscard]] bool applies(const Features& features) const;
};

/// The strategies of all files of data/strategies and `user`/strategies whose backends include `backend`
/// (empty: every file), in the order of files, then as they stand. ConfigError with file, line and place for
/// what the format does not allow, and for a name that two files of one backend have.
[[nodiscard]] std::vector<Strategy> read_strategies(std::string_view backend,
                                                    const std::filesystem::path& user = {});

/// Those of one file's text; `file` is named in errors.
[[nodiscard]] std::vector<Strategy> parse_strategies(std::string_view text, const std::string& file);

/// Those that are for the device, with those of their parts that are.
[[nodiscard]] std::vector<Strategy> on_device(std::vector<Strategy> strategies, const MethodDevice& device);

/// A strategy for a model that shall carry it out: what to do, then steps, knobs and hazards of its parts.
[[nodiscard]] std::string strategy_text(const Strategy& strategy);

/// Their names, as policies take them.
[[nodiscard]] std::vector<std::string> strategy_names(const std::vector<Strategy>& strategies);

/// Those that are worth trying on a kernel with these features: first the ones that most speaks for, equal
/// ones as they stand. `problem`: what is known of the problem.
[[nodiscard]] std::vector<const Strategy*> ranked_strategies(const std::vector<Strategy>& strategies,
                                                             const Features& features,
                                                             const Features& problem = {});

/// What each shows signs for, as HierarchicalUcb takes it; those without signs are left out.
[[nodiscard]] std::vector<StrategySigns> strategy_signs(const std::vector<Strategy>& strategies);

/// What each relieves, as HierarchicalUcb's mask takes it; strategies that relieve no feature are left out.
[[nodiscard]] std::vector<StrategyTarget> strategy_targets(const std::vector<Strategy>& strategies);

}  // namespace kernelsearch
