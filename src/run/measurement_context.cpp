// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/measurement_context.hpp"

#include <fmt/format.h>

#include "kernelsearch/core/device_identity.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"

namespace kernelsearch {

namespace {

std::string driver_of(const std::string& device) {
  const std::size_t at = device.rfind(", driver ");
  return at == std::string::npos ? "" : device.substr(at);
}

}  // namespace

std::string measurement_digest(const Problem& problem, const std::string& cache) {
  return sha256(problem_digest(problem) + "\n" + cache);
}

void check_same_context(const RunRow& run, const RunInfo& now) {
  const auto differ = [&](const char* what, const std::string& before, const std::string& after) {
    if (before != after)
      detail::raise<ConfigError>(
          fmt::format("cannot resume run {}: the {} has changed", number(run.id), what),
          fmt::format("{} then, {} now", before, after),
          "start a new run; what was measured in the same context is reused by itself");
  };
  differ("problem", run.info.problem_digest, now.problem_digest);
  // A GPU's driver compiles, too, so it must be the same; how many cores a process may use does not matter.
  if (!same_device(run.info.device, now.device) || driver_of(run.info.device) != driver_of(now.device))
    differ("device", run.info.device, now.device);
  differ("toolchain", run.info.toolchain, now.toolchain);
}

}  // namespace kernelsearch
