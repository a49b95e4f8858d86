// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/policy/method_choice.hpp"
#include "kernelsearch/problem/backend.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// What this machine's device is, as far as the conditions of methods ask: the features of its instruction
/// set, and of GPUs the architecture.
[[nodiscard]] MethodDevice method_device(Backend backend, const std::vector<int>& devices);

/// The same for a problem: with a launch function kernels bring their own launches (`host_launch`).
[[nodiscard]] MethodDevice method_device(const Problem& problem, const std::vector<int>& devices);
/// Those that it does not have yet.
void add_features(MethodDevice& device, const std::vector<std::string>& more);

/// How a run has the device, for the record: a JSON object with the `sandbox`, where one is told, and of host
/// problems the `cores` that it may use and the `governor` of their clock.
[[nodiscard]] std::string environment_of(Backend backend, const std::string& sandbox = {});

/// What has changed of that since the run began and makes times differ, in words; empty where nothing has.
[[nodiscard]] std::string changed_environment(const std::string& before, const std::string& now);

/// Under which names of the device a run keeps results and finds them: `device`, and the one that stores of
/// version 0.1 have. Those taken with another governor of the clock are kept apart.
struct ResultDevice {
  std::string device;
  std::string former = {};
};
[[nodiscard]] ResultDevice result_device(Backend backend, const std::string& device);

}  // namespace kernelsearch::detail
