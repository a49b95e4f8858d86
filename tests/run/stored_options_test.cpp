// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/stored_options.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "run/stored_row.hpp"

using namespace kernelsearch;
using detail::decode_options;
using detail::encode_options;
using detail::resumed_options;
using detail::StoredOptions;
using nlohmann::json;

namespace {

StoredOptions full() {
  StoredOptions stored;
  stored.problem = "/problems/dot";
  stored.system_settings = R"({"iterations":2})";
  stored.memory = 12;
  RunOptions& o = stored.options;
  o.system = "cuda_skill_v2";
  o.system_options = R"({"noise":0.5})";
  o.budget = "7,30s";
  o.seed = 3;
  o.name = "mine";
  o.where = {"A == 1"};
  o.configs = "/configs.json";
  o.measurement.jobs = 3;
  o.measurement.cache = "cold";
  o.measurement.devices = {0, 2};
  o.measurement.samples = 9;
  o.measurement.sandbox = "none";
  o.measurement.readable = {"/opt/toolchain"};
  o.lanes.in_flight = 17;
  o.learn_from = {"a", "b"};
  o.models = {"/models.json", "m", "/rec", "/rep", 100, 2.5};
  o.methods = "/methods";
  o.proposals = 4;
  o.inner_trials = 5;
  stored.root = R"({"A":1})";
  o.counters = false;
  o.bounds = false;
  o.reuse = false;
  return stored;
}

}  // namespace

TEST_CASE("stored options: all that repeats a run comes back") {
  const StoredOptions stored = full();
  const StoredOptions back = decode_options(row_of(stored));
  CHECK(encode_options(back) == encode_options(stored));
  CHECK(back.problem == "/problems/dot");
  CHECK(back.system_settings == stored.system_settings);
  CHECK(back.options.seed == 3);
  CHECK(back.options.system == "cuda_skill_v2");
  CHECK(back.options.system_options == R"({"noise":0.5})");
  CHECK(back.options.models.max_cost == 2.5);
  CHECK(back.options.models.replay == "/rep");
  CHECK(back.options.measurement.devices == std::vector<int>{0, 2});
  CHECK(back.options.where == std::vector<std::string>{"A == 1"});
  CHECK_FALSE(back.options.counters);
  CHECK_FALSE(back.options.bounds);
  CHECK_FALSE(resumed_options(row_of(stored), {}).options.bounds);
  CHECK(back.options.measurement.readable == std::vector<std::string>{"/opt/toolchain"});
  RunOptions moved;
  moved.measurement.readable = {"/opt/a", "/opt/b"};
  CHECK(resumed_options(row_of(stored), moved).options.measurement.readable.size() == 2);
  CHECK(back.options.lanes.in_flight == 17);
  CHECK(resumed_options(row_of(stored), {}).options.lanes.in_flight == 17);
  RunOptions wider;
  wider.lanes.in_flight = 40;
  CHECK(resumed_options(row_of(stored), wider).options.lanes.in_flight == 40);
  CHECK(resumed_options(row_of({}), {}).options.lanes.in_flight == 0);
  CHECK_FALSE(back.options.reuse);
  CHECK_FALSE(resumed_options(row_of(stored), {}).options.reuse);
  RunOptions anew;
  anew.reuse = false;
  CHECK_FALSE(resumed_options(row_of({}), anew).options.reuse);
  CHECK(resumed_options(row_of({}), {}).options.reuse);
  CHECK(back.options.proposals == 4);
  CHECK(back.options.inner_trials == 5);
  CHECK(back.root == R"({"A":1})");
  RunOptions others;
  others.inner_trials = 9;
  CHECK(resumed_options(row_of(stored), others).options.inner_trials == 5);
  CHECK(resumed_options(row_of(stored), others).root == R"({"A":1})");
  CHECK(back.memory == 12);
  CHECK(resumed_options(row_of(stored), {}).memory == 12);
  RunOptions forgetful;
  forgetful.memory = false;
  CHECK(resumed_options(row_of(stored), forgetful).memory == 0);

  StoredOptions submit;
  submit.problem_text = "{}";
  submit.options.policy = "submit";
  submit.options.suggest = "beam";
  submit.options.strategies = {"tile"};
  const StoredOptions again = decode_options(row_of(submit));
  CHECK(again.options.policy == "submit");
  CHECK(again.options.suggest == "beam");
  CHECK(again.options.strategies == std::vector<std::string>{"tile"});
  CHECK(again.problem_text == "{}");
  CHECK(again.problem.empty());
}

TEST_CASE("stored options: a policy from outside comes back, with where its command runs") {
  StoredOptions command;
  command.options.policy = "mine";
  command.options.policy_command = "python3 mine.py";
  command.options.policy_folder = "/somewhere";
  command.options.policy_timeout = 5;
  const RunOptions back = decode_options(row_of(command)).options;
  CHECK(back.policy_command == "python3 mine.py");
  CHECK(back.policy_folder == "/somewhere");
  CHECK(back.policy_timeout == 5);
  RunOptions given;
  given.policy_command = "python3 moved/mine.py";
  CHECK(resumed_options(row_of(command), given).options.policy_command == "python3 moved/mine.py");
  CHECK(resumed_options(row_of(command), given).options.policy_folder.empty());

  StoredOptions plugin;
  plugin.options.policy = "far";
  plugin.options.policy_plugin = "/lib/far.so";
  CHECK(decode_options(row_of(plugin)).options.policy_plugin == "/lib/far.so");
  CHECK(json::parse(encode_options(StoredOptions{})).contains("policy_command") == false);
}

TEST_CASE("stored options: a store of others says nothing of what runs, connects, records or is readable") {
  StoredOptions stored = full();
  // With recorded answers nobody is asked, and the file only says who has which role.
  CHECK(resumed_options(row_of(stored), {}).options.models.file == "/models.json");
  stored.options.models.replay = "";
  const RunRow row = row_of(stored);
  CHECK(resumed_options(row, {}).options.models.file.empty());
  CHECK(resumed_options(row, {}).options.models.record.empty());
  CHECK(resumed_options(row, {}).options.measurement.readable.empty());
  StoredOptions own;
  own.options.policy = "mine";
  own.options.policy_command = "touch /tmp/owned";
  CHECK(resumed_options(row_of(own), {}).options.policy_command.empty());
  StoredOptions plugin;
  plugin.options.policy = "far";
  plugin.options.policy_plugin = "/tmp/owned.so";
  CHECK(resumed_options(row_of(plugin), {}).options.policy_plugin.empty());

  const auto refused = [](const RunRow& of, const RunOptions& given) {
    try {
      detail::check_given_again(of, given, "/stores/runs.db");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  RunOptions given;
  CHECK(refused(row_of(own), given).find("give --policy-command again") != std::string::npos);
  CHECK(refused(row_of(own), given).find("touch /tmp/owned") != std::string::npos);
  CHECK(refused(row_of(plugin), given).find("give --policy-plugin again") != std::string::npos);
  given.policy_plugin = "mine.so";
  CHECK(refused(row_of(plugin), given).empty());
  CHECK(refused(row, given).find("give --readable again") != std::string::npos);
  given.measurement.readable = {"/opt/toolchain"};
  CHECK(refused(row, given).find("give --models again") != std::string::npos);
  given.models.file = "mine.json";
  CHECK(refused(row, given).find("give --record-exchanges again") != std::string::npos);
  given.models.record = "mine";
  CHECK(refused(row, given).empty());

  StoredOptions skill;
  skill.options.system = "cuda_skill_v2";
  skill.options.system_options = R"({"from_files":"/home/me/.config"})";
  CHECK(refused(row_of(skill), {}).find("give --system 'cuda_skill_v2(from_files=FOLDER)' again") !=
        std::string::npos);
  RunOptions again;
  again.system_options = R"({"from_files":"here"})";
  CHECK(refused(row_of(skill), again).empty());
  skill.options.system_options = R"({"from_files":"/stores/mine"})";
  CHECK(refused(row_of(skill), {}).empty());
  skill.options.system_options = R"({"from_files":"/stores/../mine"})";
  CHECK_FALSE(refused(row_of(skill), {}).empty());
}

TEST_CASE("stored options: what a resumed run reads by its store's word is told") {
  StoredOptions stored = full();
  const std::string all = detail::stored_sources(stored);
  for (const char* one : {"problem /problems/dot", "configurations /configs.json", "earlier run a",
                          "methods /methods", "replayed exchanges /rep"})
    CHECK_MESSAGE(all.find(one) != std::string::npos, all);
  CHECK(detail::stored_sources({}).empty());
}

TEST_CASE("stored options: runs of the first stores are read") {
  RunRow row;
  row.info.policy = "bayesian";
  row.info.options = "{}";
  CHECK(decode_options(row).options.budget.empty());
  CHECK(decode_options(row).options.suggest == "none");
  row.info.options = "not JSON";
  CHECK(decode_options(row).problem.empty());
  // As version 0.1 stored a run of cuda_skill_v2: its folder and its wait beside the rest.
  row.info.policy = "cuda_skill_v2";
  row.info.options = json{{"problem", "/p"},           {"budget", "60"},  {"jobs", 1},
                          {"system", "cuda_skill_v2"}, {"wait", 3},       {"from_files", "/kernels"},
                          {"skill", {{"noise", 0.1}}}, {"devices", "no"}, {"no_counters", true}}
                         .dump();
  const StoredOptions old = decode_options(row);
  CHECK(old.options.system_options == R"({"from_files":"/kernels","wait":3.0})");
  CHECK(old.system_settings == R"({"noise":0.1})");
  CHECK(old.memory == 0);                                         // and asks what it asked then
  CHECK(old.options.measurement.devices == std::vector<int>{0});  // of another type: the standard value
  CHECK_FALSE(old.options.counters);
  // What is damaged is not there.
  row.info.options = R"({"system":"cuda_skill_v2","system_options":{"wait":"long"}})";
  CHECK(decode_options(row).options.system_options == R"({"wait":"long"})");
  row.info.options = R"({"system":"cuda_skill_v2","system_options":[1],"wait":"long"})";
  CHECK(decode_options(row).options.system_options == R"({"wait":"long"})");
}

TEST_CASE("stored options: a resumed run takes over what repeats it, and what is given anew") {
  const RunRow row = row_of(full());
  RunOptions given;
  given.policy = "random";
  given.seed = 99;
  given.out = "out";
  given.no_gain = 5;
  given.measurement.sandbox = "bubblewrap";
  given.measurement.samples = 4;
  given.models.max_tokens = 500;
  given.system_options = R"({"wait":8.0})";
  const RunOptions o = resumed_options(row, given).options;
  CHECK(o.policy == "cuda_skill_v2");
  CHECK(o.seed == 3);
  CHECK(o.budget == "7,30s");
  CHECK(o.out == "out");
  CHECK(o.no_gain == 5);
  CHECK(o.measurement.sandbox == "bubblewrap");
  CHECK(o.measurement.samples == 4);
  CHECK(o.measurement.cache == "cold");
  CHECK(o.measurement.devices == std::vector<int>{0, 2});
  CHECK(o.models.max_tokens == 500);
  CHECK(o.models.max_cost == 2.5);
  CHECK(o.models.file == "/models.json");
  CHECK(o.system_options == R"({"noise":0.5,"wait":8.0})");
  CHECK(o.learn_from == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(o.learn);
  given.budget = "99";
  CHECK(resumed_options(row, given).options.budget == "99");
}

TEST_CASE("stored options: a run that goes on keeps its variant") {
  StoredOptions first = full();
  first.options.system_options = R"({"noise":0.5,"variant":"paper"})";
  const RunRow row = row_of(first);
  RunOptions given;
  given.system_options = R"({"variant":"paper"})";
  CHECK(resumed_options(row, given).options.system_options == R"({"noise":0.5,"variant":"paper"})");
  given.system_options = R"({"variant":"ours"})";
  CHECK_THROWS_WITH_AS((void)resumed_options(row, given), doctest::Contains("keeps its variant"),
                       ConfigError);
}
