// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/ncu_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "kernelsearch/core/rng.hpp"
#include "support/approx.hpp"
#include "tool_support.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

// Written by hand in the documented format.
const std::string raw =
    "==PROF== Connected to process 12 (/usr/bin/worker)\n"
    "==PROF== Profiling \"first\": 0%....50%....100% - 9 passes\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Kernel "
    "Name\",\"Context\",\"gpu__time_duration.sum\",\"lts__t_sector_hit_rate.pct\","
    "\"launch__registers_per_thread\",\"odd \"\"name\"\"\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"usecond\",\"%\",\"register/thread\",\"\"\n"
    "\"0\",\"12\",\"worker\",\"first\",\"1\",\"1,234.5\",\"12.5\",\"40\",\"1\"\n"
    "\"1\",\"12\",\"worker\",\"second, or (int, float)\",\"1\",\"2,000\",\"n/a\",\"255\",\"\"\n";

const std::string details =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Section Name\",\"Metric "
    "Name\",\"Metric Unit\","
    "\"Metric Value\"\n"
    "\"0\",\"12\",\"worker\",\"127.0.0.1\",\"first\",\"Command line profiler "
    "metrics\",\"gpu__time_duration.sum\",\"msecond\",\"1.5\"\r\n"
    "\"0\",\"12\",\"worker\",\"127.0.0.1\",\"first\",\"Command line profiler "
    "metrics\",\"dram__bytes.sum\",\"Mbyte\",\"1,024\"\r\n"
    "\"1\",\"12\",\"worker\",\"127.0.0.1\",\"first\",\"Command line profiler "
    "metrics\",\"gpu__time_duration.sum\",\"ns\",\"3,000\"\r\n"
    "\"1\",\"12\",\"worker\",\"127.0.0.1\",\"first\",\"Command line profiler "
    "metrics\",\"dram__bytes.sum\",\"byte\",\"no data\"\r\n";

NcuLaunch launch(std::initializer_list<std::pair<const char*, double>> metrics) {
  NcuLaunch one{"k", {}};
  for (const auto& [name, value] : metrics) one.metrics.set(name, value);
  return one;
}

}  // namespace

TEST_CASE("the raw page: a launch a line, units below the header") {
  const auto launches = read_ncu_csv(raw);
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].kernel == "first");
  CHECK(launches[0].metrics.find("gpu__time_duration.sum") == approx(1234500));
  CHECK(launches[0].metrics.find("lts__t_sector_hit_rate.pct") == 12.5);
  CHECK(launches[0].metrics.find("odd \"name\"") == 1.0);
  CHECK(launches[1].kernel == "second, or (int, float)");
  CHECK(!launches[1].metrics.find("lts__t_sector_hit_rate.pct"));  // absent, not 0
  CHECK(launches[1].metrics.find("launch__registers_per_thread") == 255);
  CHECK(!launches[0].metrics.find("Context"));
  CHECK(dominant_launch(launches) == &launches[1]);
}

TEST_CASE("the details page: a metric a line, launches told apart by number") {
  const auto launches = read_ncu_csv(details);
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].metrics.find("gpu__time_duration.sum") == 1.5e6);
  CHECK(launches[0].metrics.find("dram__bytes.sum") == 1.024e9);
  CHECK(launches[1].metrics.find("gpu__time_duration.sum") == 3000);
  CHECK(!launches[1].metrics.find("dram__bytes.sum"));
  CHECK(dominant_launch(launches) == &launches[0]);
}

TEST_CASE("what Nsight Compute gave on an H200") {
  const auto launches = read_ncu_csv(tool_test::read_data("ncu_raw.csv"));
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].kernel == "matmul_tiled");
  CHECK(launches[0].metrics.find("gpu__time_duration.sum") == 1158848);
  CHECK(launches[0].metrics.find("dram__bytes.sum") == 44761088);
  const Features features = ncu_features(launches);
  CHECK(features.find("l2_hit") == 96.24);
  CHECK(features.find("sm_utilisation") == 67.96);
  CHECK(features.find("registers") == 40);
  CHECK(features.find("coalescing") == 100);
  CHECK(features.find("ncu.seconds") == approx(1.158848e-3));
  for (const char* name : {"dram_utilisation", "warp_efficiency", "achieved_occupancy", "bank_conflicts",
                           "tensor_utilisation", "stall_long_scoreboard", "stall_barrier", "ipc"})
    CHECK_MESSAGE(features.find(name), name);
  const auto all = read_ncu_csv(tool_test::read_data("ncu_details.csv"));
  REQUIRE(all.size() == 8);
  CHECK(all[0].kernel == "ks_fill");
  CHECK(all[0].metrics.find("gpu__time_duration.sum") == 19936);
  CHECK(all[0].metrics.find("dram__bytes.sum") == 24576);
  CHECK(all[0].metrics.find("sm__throughput.avg.pct_of_peak_sustained_elapsed") == 64.82);
  CHECK(dominant_launch(all)->kernel == "matmul_tiled");
}

TEST_CASE("text without a table has no launches") {
  CHECK(read_ncu_csv("").empty());
  CHECK(read_ncu_csv("==ERROR== nothing\n").empty());
  CHECK(read_ncu_csv("\"a\",\"b\"\n\"1\",\"2\"\n").empty());
  CHECK(dominant_launch({}) == nullptr);
  CHECK(ncu_features({}).empty());
}

TEST_CASE("features have names of our own; each is there exactly where its metrics are") {
  const Features features =
      ncu_features({launch({{"gpu__time_duration.sum", 10}, {"lts__t_sector_hit_rate.pct", 1}}),
                    launch({{"gpu__time_duration.sum", 2000},
                            {"lts__t_sector_hit_rate.pct", 80},
                            {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 15},
                            {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 14},
                            {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 61},
                            {"smsp__thread_inst_executed_per_inst_executed.ratio", 16},
                            {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 30},
                            {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 10},
                            {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 400},
                            {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 100},
                            {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 25},
                            {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 300},
                            {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 100},
                            {"smsp__average_warp_latency_per_inst_issued.ratio", 8},
                            {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 2}})});
  CHECK(features.find("l2_hit") == 80);
  CHECK(features.find("dram_utilisation") == 15);
  CHECK(features.find("sm_utilisation") == 61);
  CHECK(features.find("warp_efficiency") == 50);
  CHECK(features.find("bank_conflicts") == 10);
  CHECK(features.find("coalescing") == 81.25);
  CHECK(features.find("stall_barrier") == 25);
  CHECK(!features.find("stall_wait"));
  CHECK(!features.find("tensor_utilisation"));
  CHECK(!features.find("registers"));
  CHECK(features.find("ncu.seconds") == approx(2.01e-6));
  CHECK(features.find("ncu.launches") == 2);
  CHECK(features.find("ncu.lts__t_sector_hit_rate.pct") == 80);
}

TEST_CASE("no shared memory means no conflicts; no global accesses mean no word on coalescing") {
  const Features features =
      ncu_features({launch({{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 0},
                            {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0},
                            {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 0},
                            {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 0},
                            {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 0}})});
  CHECK(features.find("bank_conflicts") == 0);
  CHECK(!features.find("coalescing"));
  CHECK(!features.find("ncu.seconds"));  // the duration is unknown
}

TEST_CASE("every metric that a feature needs is asked for, once") {
  auto metrics = ncu_metrics();
  std::sort(metrics.begin(), metrics.end());
  CHECK(std::adjacent_find(metrics.begin(), metrics.end()) == metrics.end());
  for (const char* needed :
       {"gpu__time_duration.sum", "lts__t_sector_hit_rate.pct", "launch__registers_per_thread",
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"})
    CHECK(std::binary_search(metrics.begin(), metrics.end(), std::string(needed)));
}

TEST_CASE("any text can be read") {
  Rng rng(3);
  for (const std::string& text : {raw, details, tool_test::read_data("ncu_details.csv")})
    for (int i = 0; i < 2000; ++i)
      for (const NcuLaunch& one : read_ncu_csv(tool_test::damaged(text, rng))) {
        CHECK(!one.kernel.empty());
        (void)ncu_features({one});
      }
}
