// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "kernelsearch/run/run.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::detail {

/// The options that a run was begun with, as its row keeps them.
struct Began {
  nlohmann::json options = nlohmann::json::object();

  explicit Began(const RunRow& row);
  [[nodiscard]] std::string text(const char* name, const char* otherwise = "") const;
  [[nodiscard]] bool some(const char* name) const;
};

/// How a stored run is to be continued; ConfigError where it cannot be continued here.
[[nodiscard]] RunPlan plan_of(const RunRow& row);

/// ConfigError for a policy, a budget or a suggesting policy that there is not.
void check_policy(const RunPlan& plan);

}  // namespace kernelsearch::detail
