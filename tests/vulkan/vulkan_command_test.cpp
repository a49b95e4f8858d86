// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs of the command over shaders: what is interrupted goes on as if nothing had been, and what a run writes
// is a shader.
#include <algorithm>
#include <sstream>

#include "apps/command.hpp"
#include "shader/spirv_module.hpp"
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

TEST_CASE("Vulkan: the winner's source compiles by the commands that it names, with the winner's values") {
  if (skipped()) return;
  using kernelsearch_test::read_text;
  const kernelsearch_test::Desk desk;
  for (const std::string name : {"transpose", "reduction", "matmul_hlsl"}) {
    CAPTURE(name);
    const Problem problem = example(name);
    std::filesystem::copy(problem.folder, desk.path() / name);
    // The only shape is one that is as small as those that are checked.
    auto json = nlohmann::json::parse(read_text(problem.folder / "problem.json"), nullptr, true, true);
    nlohmann::json small = json["shapes"].back();
    small.erase("weight");
    json["shapes"] = nlohmann::json::array({small});
    kernelsearch_test::write_text(desk.path() / name / "problem.json", json.dump());
    const auto ran =
        desk.kernelsearch({"tune", name, "--budget", "3", "--samples", "3", "--policy", "random", "--seed",
                           "5", "--cache", "warm", "--no-learning", "--out", name + "_best"});
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    const bool hlsl = name == "matmul_hlsl";
    const auto folder = desk.path() / (name + "_best");
    const std::string text = read_text(folder / (problem.name + "_best" + (hlsl ? ".hlsl" : ".comp")));
    const auto record = nlohmann::json::parse(read_text(folder / (problem.name + "_best.json")));
    CHECK(text.starts_with("#version") != hlsl);
    std::istringstream in(text);
    int commands = 0;
    for (std::string line; std::getline(in, line);) {
      const std::string before = " -S comp ";
      const std::size_t at = line.find(before), end = line.find(" -o ");
      if (!line.starts_with("//   compile ") || at == std::string::npos) continue;
      ++commands;
      std::istringstream words(line.substr(at + before.size(), end - at - before.size()));
      ShaderBuild build;
      build.text = text;
      build.language = hlsl ? ShaderLanguage::hlsl : ShaderLanguage::glsl;
      for (std::string word; words >> word;) {
        if (word == "-e") words >> build.function;
        if (word.starts_with("-D") && word != "-D") build.options.push_back(word);
      }
      const ShaderBuilt built = run_glslang(find_glslang(), build);
      REQUIRE_MESSAGE(!built.words.empty(), built.log);
      const auto kernel = read_spirv(built.words, {}, {});
      REQUIRE(kernel);
      int compared = 0;
      for (const SpirvConstant& constant : kernel->constants)
        if (record.at("settings").contains(constant.name)) {
          ++compared;
          CHECK(constant.bits == record.at("settings").at(constant.name).get<std::uint64_t>());
        }
      CHECK(compared == static_cast<int>(kernel->constants.size()));
    }
    CHECK(commands == (name == "reduction" ? 2 : 1));
  }
}
