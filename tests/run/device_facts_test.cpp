// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/device_facts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernelsearch/judge/machine.hpp"

using namespace kernelsearch;

TEST_CASE("environment_of: cores and governor are facts of a host run") {
  const auto environment = nlohmann::json::parse(detail::environment_of(Backend::host));
  CHECK(environment["cores"] == host_machine().cores.size());
  CHECK(environment.value("governor", "") == host_machine().governor);
  CHECK(detail::environment_of(Backend::cuda) == "{}");
  CHECK(detail::environment_of(Backend::cuda, "landlock, ABI 7") == R"({"sandbox":"landlock, ABI 7"})");
  CHECK(nlohmann::json::parse(detail::environment_of(Backend::host, "none"))["sandbox"] == "none");
}

TEST_CASE("method_device: kernels of a problem with a launch function bring their own launches") {
  const auto launches = [](const Problem& problem) {
    const MethodDevice device = detail::method_device(problem, {});
    return std::find(device.features.begin(), device.features.end(), "host_launch") != device.features.end();
  };
  Problem problem;
  problem.backend = Backend::cuda;
  CHECK(launches(problem));
  problem.launch.emplace_back();
  CHECK_FALSE(launches(problem));
  problem.backend = Backend::host;
  problem.launch.clear();
  CHECK_FALSE(launches(problem));
}

TEST_CASE("changed_environment: another governor is said, unknown ones and cores are not") {
  const auto said = [](const char* then, const char* now) { return detail::changed_environment(then, now); };
  CHECK(said(R"({"governor":"powersave"})", R"({"governor":"performance"})")
            .find("powersave and is performance") != std::string::npos);
  CHECK(said(R"({"governor":"powersave","cores":2})", R"({"governor":"powersave","cores":1})").empty());
  CHECK(said("{}", R"({"governor":"performance"})").empty());
  CHECK(said("damaged", "{}").empty());
  CHECK(said(R"({"governor":1})", R"({"governor":"performance"})").empty());
  CHECK(said("[]", R"({"governor":"performance"})").empty());
}

TEST_CASE("result_device: results of 0.1 are found, and another governor keeps them apart") {
  const HostMachine machine = host_machine();
  const detail::ResultDevice kept = detail::result_device(Backend::host, machine.id());
  CHECK(kept.former == machine.former_id());
  CHECK(kept.device == machine.id() + (machine.governor.empty() ? "" : ", governor " + machine.governor));
  CHECK(detail::result_device(Backend::host, "an evaluator's own").former.empty());
  CHECK(detail::result_device(Backend::cuda, "GPU").device == "GPU");
}
