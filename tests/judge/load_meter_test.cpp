// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/load_meter.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "evaluator/host/time_judgement.hpp"
#include "support/approx.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;
using kernelsearch::test::approx;

namespace {

/// A /proc and a /sys of the test's own.
struct Machine {
  TemporaryFolder folder;
  std::filesystem::path proc = folder / "proc", sys = folder / "sys";
  Machine() {
    std::filesystem::create_directories(proc / "pressure");
    for (const char* core : {"cpu2", "cpu3"}) std::filesystem::create_directories(sys / core / "topology");
    for (const char* core : {"cpu2", "cpu3"})
      std::ofstream(sys / core / "topology" / "thread_siblings_list") << "2-3\n";
  }
  void write(const std::string& core2, const std::string& core3, const std::string& load,
             const std::string& pressure) const {
    std::ofstream(proc / "stat") << "cpu  9 9 9 9 9 9 9 9 9 9\ncpu2 " << core2 << "\ncpu3 " << core3
                                 << "\nintr 1 2 3\n";
    std::ofstream(proc / "loadavg") << load << "\n";
    std::ofstream(proc / "pressure" / "cpu")
        << "some avg10=0.00 avg60=0.00 avg300=0.00 total=" << pressure << "\nfull avg10=0.00 total=0\n";
  }
};

}  // namespace

TEST_CASE("LoadMeter: what the system says of the measured core and its sibling") {
  const Machine machine;
  //             user nice system idle iowait irq softirq steal
  machine.write("100 0 0 100 0 0 0 0 0 0", "0 0 0 500 0 0 0 0 0 0", "0.5 0.5 0.5 3/200 99", "1000");
  const LoadMeter meter({2}, machine.proc, machine.sys);
  machine.write("160 0 10 110 0 0 0 20 0 0", "30 0 5 560 5 0 0 0 0 0", "0.5 0.5 0.5 5/200 99", "1000");
  const MachineLoad load = meter.load(3.0, 1.0);
  CHECK(load.core == 0.25);
  CHECK(load.steal == 0.2);
  CHECK(load.sibling == 0.35);
  CHECK(load.runnable == 4);
  CHECK(load.pressure == 0);
  CHECK(load.disturbance() == 0.35);
  Features features;
  load.set(features);
  CHECK(features.find("load.core") == 0.25);
  CHECK(features.find("load.sibling") == 0.35);
  CHECK(features.size() == 5);
  CHECK(sibling_cores({2}, machine.sys) == std::vector<int>{3});
  CHECK(sibling_cores({2, 3}, machine.sys).empty());
}

TEST_CASE("LoadMeter: what the system does not say is absent, not zero") {
  const TemporaryFolder folder;
  const LoadMeter meter({0}, folder / "none", folder / "none");
  const MachineLoad load = meter.load(-1, -1);
  CHECK(!load.core);
  CHECK(!load.steal);
  CHECK(!load.sibling);
  CHECK(!load.runnable);
  CHECK(!load.pressure);
  CHECK(load.disturbance() == 0);
  CHECK(waited_seconds(getpid(), folder / "none") < 0);
}

TEST_CASE("waited_seconds: the threads of a process together") {
  const TemporaryFolder folder;
  for (const char* thread : {"71", "72"}) {
    std::filesystem::create_directories(folder / "71" / "task" / thread);
    std::ofstream(folder / "71" / "task" / thread / "schedstat") << "5000000000 1500000000 12\n";
  }
  CHECK(waited_seconds(71, folder / "") == approx(3.0));
}

TEST_CASE("not_distinguishable: no accusation, and the share of the others") {
  const kernelsearch::detail::Fault fault = not_distinguishable("its times differ", 0.43);
  CHECK(fault.verdict == Verdict::timed_out);
  CHECK(fault.reason.find("others had up to 43 %") != std::string::npos);
}
