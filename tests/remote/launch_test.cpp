// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/remote/launch.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/remote/slurm.hpp"
#include "remote/slurm_job.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

TEST_CASE("Slurm: names of jobs and nodes are words of the shell that starts workers, or refused") {
  CHECK(remote::slurm_place("17", "n1-2.cluster_a") == "--jobid='17' -w 'n1-2.cluster_a'");
  const TemporaryFolder folder;
  const std::string owned = (folder / "owned").string();
  // Before, each of these was a command of its own, or options of srun.
  for (const std::string& name : {"n1; touch " + owned, "$(touch " + owned + ")", "`touch " + owned + "`",
                                  std::string("n1 --uid=0"), std::string("-x"), std::string(),
                                  std::string("{worker}"), std::string("n1\ntouch"), std::string("n'1")}) {
    CAPTURE(name);
    CHECK_THROWS_AS((void)remote::slurm_place("17", name), DeviceError);
    CHECK_THROWS_AS((void)remote::slurm_place(name, "n1"), DeviceError);
  }
  // As the environment brings them to who runs inside of a job; scontrol names the nodes.
  folder.write("scontrol", "#!/bin/sh\necho \"$3\"\n");
  std::filesystem::permissions(folder / "scontrol", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  ::setenv("SLURM_JOB_NODELIST", "n1", 1);
  ::setenv("SLURM_JOB_ID", ("1; touch " + owned + ";").c_str(), 1);
  const SlurmAllocation crafted = SlurmAllocation::take({}, {}, nullptr);
  CHECK_THROWS_AS((void)crafted.pools(""), DeviceError);
  ::setenv("SLURM_JOB_ID", "17", 1);
  const SlurmAllocation inside = SlurmAllocation::take({}, {}, nullptr);
  REQUIRE(inside.pools("").size() == 1);
  CHECK(inside.pools("")[0].launch == "srun --jobid='17' -w 'n1' -N1 -n1 --overlap");
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOB_NODELIST"}) ::unsetenv(name);
  ::setenv("PATH", path.c_str(), 1);
  CHECK_FALSE(std::filesystem::exists(owned));
}

TEST_CASE("launch_pool: a prefix, with a count behind it or without") {
  CHECK(launch_pool("ssh gpu3").launch == "ssh gpu3");
  CHECK(launch_pool("ssh gpu3").count == 1);
  CHECK(launch_pool("srun -N1 -n1 --gpus=1 x8").launch == "srun -N1 -n1 --gpus=1");
  CHECK(launch_pool("srun -N1 -n1 --gpus=1 x8").count == 8);
  CHECK(launch_pool("ssh x86").launch == "ssh");  // a host of such a name needs user@x86
  CHECK(launch_pool("ssh me@x86").launch == "ssh me@x86");
  CHECK_THROWS_WITH_AS(static_cast<void>(launch_pool("")), doctest::Contains("nothing starts a worker"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(launch_pool("ssh {host}")),
                       doctest::Contains("{worker} and {index}"), ConfigError);
  CHECK_THROWS_AS(static_cast<void>(launch_pool("local x99999")), ConfigError);
  CHECK(launch_pool("sh -c 'echo ${HOME}; exec {worker}'").count == 1);  // the shell's own
}

TEST_CASE("lanes_of: the command follows a prefix, or stands where it says") {
  std::vector<LaunchPool> pools{
      {.launch = "ssh gpu3", .count = 2},
      {.launch = "env CUDA_VISIBLE_DEVICES={index} {worker} 2>log", .worker = "/opt/my k"},
      {.launch = "local", .count = 3, .device_class = "h200", .builds_only = true}};
  const auto lanes = lanes_of(pools, "/usr/bin/kernelsearch", {0, 1});
  REQUIRE(lanes.size() == 6);
  CHECK(lanes[0].command == "exec ssh gpu3 'kernelsearch' worker --stdio");
  CHECK(lanes[0].name == "ssh gpu3");
  CHECK(lanes[2].command == "exec env CUDA_VISIBLE_DEVICES=2 '/opt/my k' worker --stdio 2>log");
  CHECK(lanes[3].command == "exec '/usr/bin/kernelsearch' worker --stdio --class 'h200' --devices 0");
  CHECK(lanes[4].command == "exec '/usr/bin/kernelsearch' worker --stdio --class 'h200' --devices 1");
  CHECK(lanes[5].command == lanes[3].command);
  CHECK(lanes[5].builds_only);
  CHECK(!lanes[0].builds_only);
  LaunchPool later{.launch = "srun {place} -N1"};
  later.place = [](const std::stop_token&) { return std::string("-w n3"); };
  const auto placed = lanes_of({later}, "k");
  CHECK(placed[0].command == "exec srun {place} -N1 'kernelsearch' worker --stdio");
  CHECK(placed[0].name == "srun ... -N1");
  CHECK(placed[0].place({}) == "-w n3");
}

TEST_CASE("read_pools: those of a class, and those that only build") {
  const TemporaryFolder folder;
  folder.write("pools.json",
               R"({"pools": [{"launch": "ssh a", "count": 2, "class": "h200", "worker": "/opt/k"},
    {"launch": "ssh b", "class": "a100"}, {"launch": "local", "builds_only": true}]})");
  CHECK(read_pools(folder / "pools.json").size() == 3);
  const auto pools = read_pools(folder / "pools.json", "h200");
  REQUIRE(pools.size() == 2);
  CHECK(pools[0].launch == "ssh a");
  CHECK(pools[0].count == 2);
  CHECK(pools[0].worker == "/opt/k");
  CHECK(pools[1].builds_only);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_pools(folder / "pools.json", "b200")),
                       doctest::Contains("there are: h200, a100, (none)"), ConfigError);
  for (const char* text : {"", "[]", R"({"pools": 3})", R"({"pools": [3]})", R"({"pools": [{"launch": 3}]})",
                           R"({"pools": [{"launch": ""}]})", R"({"pools": [{"launch": "a", "count": -1}]})",
                           R"({"pools": [{"launch": "a", "count": 0}]})", R"({"pools": [{"lunch": "a"}]})",
                           R"({"pools": [{"launch": "a", "builds_only": true}]})"}) {
    CAPTURE(text);
    folder.write("bad.json", text);
    CHECK_THROWS_AS(static_cast<void>(read_pools(folder / "bad.json")), ConfigError);
  }
  CHECK_THROWS_WITH_AS(static_cast<void>(read_pools(folder / "none.json")),
                       doctest::Contains("cannot be read"), ConfigError);
}

TEST_CASE("read_slurm_request: names and numbers, and what there is instead of others") {
  const SlurmRequest request =
      read_slurm_request("nodes=4,gpus=2,partition=gpu,time=1:00:00,workers=3,cpus=8");
  CHECK(request.nodes == 4);
  CHECK(request.gpus == 2);
  CHECK(request.workers == 3);
  CHECK(request.cpus == 8);
  REQUIRE(request.others.size() == 2);
  CHECK(request.others[0] == std::pair<std::string, std::string>("partition", "gpu"));
  CHECK(request.others[1].second == "1:00:00");
  CHECK(request.most_nodes == 0);
  CHECK(read_slurm_request("nodes=2-6").nodes == 2);
  CHECK(read_slurm_request("nodes=2-6").most_nodes == 6);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_slurm_request("nodes=6-2")), doctest::Contains("LEAST-MOST"),
                       ConfigError);
  CHECK_THROWS_AS(static_cast<void>(read_slurm_request("nodes=2-")), ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_slurm_request("node=4")),
                       doctest::Contains("names are nodes, gpus"), ConfigError);
  CHECK_THROWS_AS(static_cast<void>(read_slurm_request("nodes=0")), ConfigError);
  CHECK_THROWS_AS(static_cast<void>(read_slurm_request("nodes=4x")), ConfigError);
  CHECK_THROWS_AS(static_cast<void>(read_slurm_request("partition=")), ConfigError);
}

TEST_CASE("slurm_seconds: times as squeue prints them") {
  CHECK(slurm_seconds("59") == 59);
  CHECK(slurm_seconds("2:03") == 123);
  CHECK(slurm_seconds("1:02:03") == 3723);
  CHECK(slurm_seconds("2-01:00:00") == 2 * 86400 + 3600);
  for (const char* text : {"UNLIMITED", "NOT_SET", "", "1:x", "-1:00"})
    CHECK(std::isinf(slurm_seconds(text)));
}
