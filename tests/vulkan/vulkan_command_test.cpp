// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs of the command over shaders: what is interrupted goes on as if nothing had been.
#include "apps/command.hpp"
#include "vulkan/support.hpp"

using namespace vulkan_test;

TEST_CASE("Vulkan: a run that ended early and is resumed makes the proposals of one that did not") {
  if (skipped()) return;
  using kernelsearch_test::Desk;
  const Desk desk;
  const std::filesystem::path folder = desk.path() / "transpose";
  const Problem problem = example("transpose");
  std::filesystem::copy(problem.folder, folder);
  std::string json = kernelsearch_test::read_text(folder / "problem.json");
  const std::string large = R"("rows": 1024, "columns": 1024)";
  REQUIRE(json.find(large) != std::string::npos);
  json.replace(json.find(large), large.size(), R"("rows": 96, "columns": 96)");
  kernelsearch_test::write_text(folder / "problem.json", json);
  const auto run = [&](std::vector<std::string> arguments) {
    const auto ran = desk.kernelsearch(std::move(arguments));
    CHECK_MESSAGE(ran.code == 0, ran.err);
  };
  const std::vector<std::string> start{"tune",   "transpose", "--samples", "4",    "--policy",     "random",
                                       "--seed", "7",         "--cache",   "warm", "--no-learning"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), start.begin(), start.end());
    return more;
  };
  run(with({"--budget", "6", "--store", "whole.db", "--record", "whole.t4.json", "--out", "whole"}));
  run(with({"--budget", "3", "--store", "parts.db", "--out", "parts"}));
  run({"tune", "--resume", "latest", "--budget", "6", "--store", "parts.db", "--record", "parts.t4.json",
       "--out", "parts"});
  const auto configurations = [&](const char* file) {
    std::vector<std::string> all;
    const auto recorded = nlohmann::json::parse(kernelsearch_test::read_text(desk.path() / file));
    for (const auto& result : recorded.at("results")) all.push_back(result.at("configuration").dump());
    return all;
  };
  CHECK(configurations("whole.t4.json").size() == 6);
  CHECK(configurations("parts.t4.json") == configurations("whole.t4.json"));
}
