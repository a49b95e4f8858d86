// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/observed_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "support/check_has.hpp"
#include "support/recorded_features.hpp"

using namespace kernelsearch;

namespace {

bool tells(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("observed: an H200's recorded counters become a few lines with units, and no raw counter is told") {
  const Features profile = scripted::h200_profile();
  REQUIRE(profile.size() > 500);
  const std::string text = observed_text(profile);
  CAPTURE(text);
  CHECK(text.size() < 2500);
  CHECK(!tells(text, "ncu."));
  CHECK(!tells(text, "__"));
  CHECK(!tells(text, "device_"));
  CHECK(!tells(text, "clock_mhz"));
  CHECK(!tells(text, "trait."));
  CHECK(tells(text, "L1 and shared memory 46.8 %"));
  CHECK(tells(text, "single precision 15.7 %"));
  CHECK(tells(text, "L2 100 %"));  // counted as 103.13
  CHECK(tells(text, "97.3 % of the warps that a multiprocessor holds"));
  CHECK(tells(text, "registers a thread"));
  CHECK(tells(text, "0 bytes spilled to local memory a thread"));
  CHECK(tells(text, "56.3 % of the bytes moved"));
  CHECK(tells(text, "(3.77 % of the peak)"));
  CHECK(tells(text, "100 % possible by its resources"));
  CHECK(!tells(text, "watts"));
  CHECK(tells(
      text,
      "It reaches 3.77 % of what the roofline allows: the limit that comes first is computing, but it is "
      "held up before it gets there (latency, instructions around the work, or units that are used "
      "badly); warps wait mostly for data from global or local memory (long_scoreboard)."));
  CHECK(tells(text,
              "- hot loop (guessed from the code): 10 instructions, 0 on the matrix units, 1 fused "
              "multiplications with addition, 2 loads "
              "from global memory, 0 loads and stores of local memory (spills)\n"));
  CHECK(tells(text, "- hot loop (guessed from the code): "));
  CHECK(tells(text, "warps wait most for: "));
  const auto waits = text.substr(text.find("warps wait most for"));
  CHECK(std::count(waits.begin(), waits.begin() + static_cast<std::ptrdiff_t>(waits.find('\n')), '%') == 3);
}

TEST_CASE(
    "observed: of hosts the hot loop's vectors, scalar arithmetic and spills, and the roofline's verdict") {
  Features features;
  for (const auto& [name, value] :
       {std::pair("code.loop.instructions", 40.0), std::pair("code.loop.vector_512", 24.0),
        std::pair("code.loop.scalar_fp", 0.0), std::pair("code.loop.spill", 3.0),
        std::pair("code.loop.gather", 0.0), std::pair("code.instructions", 900.0),
        std::pair("operations_per_second", 6e10), std::pair("compute_utilisation", 50.8),
        std::pair("memory_utilisation", 4.2), std::pair("roof_utilisation", 50.8),
        std::pair("intensity", 85.3), std::pair("mine.score", 7.0)})
    features.set(name, value);
  const std::string text = observed_text(features);
  CAPTURE(text);
  // An absent count (of 256 bits) is not shown as 0.
  CHECK(tells(text,
              "- hot loop (guessed from the code): 40 instructions, 24 on vectors of 512 bits, 0 scalar "
              "floating-point operations, 3 loads "
              "and stores of spilled values\n"));
  CHECK(tells(text, "counted work: 60 Gop/s (50.8 % of the peak)"));
  CHECK(tells(
      text,
      "It reaches 50.8 % of what the roofline allows: the limit that comes first is computing, but it is "
      "held up before it gets there"));
  CHECK(tells(text, "- mine.score = 7\n"));
  CHECK(tells(observed_text(features, 0), "- and 1 more\n"));
  features.set("roof_utilisation", 93);
  CHECK(tells(limit_text(features), "runs at 93 % of what the roofline allows"));
  CHECK(observed_text({}).empty());
  CHECK(limit_text({}).empty());
}

TEST_CASE("observed: whether the hot loop was sampled or guessed is said") {
  Features features;
  features.set("code.loop.instructions", 12);
  check_has(observed_text(features, 8), "- hot loop (guessed from the code): 12 instructions");
  features.set("code.hot_loop.share", 83.26);
  const std::string text = observed_text(features, 8);
  check_has(text, "- hot loop (by samples: 83.3 % of the time): 12 instructions");
  CHECK(text.find("guessed") == std::string::npos);
  CHECK(text.find("code.") == std::string::npos);
}

TEST_CASE("observed: what the hot loop calls, from which line, and what of the time it takes") {
  Features features;
  features.set("code.loop.instructions", 12);
  features.set("code.loop.call", 2);
  features.set("code.call.expf", 1);
  features.set("code.call.expf.line", 14);
  features.set("code.call.tanhf", 1);
  check_has(observed_text(features, 8),
            ", 2 calls\n- it calls expf from line 14; tanhf (their share of the time was not sampled)\n");
  features.set("code.call.free.share", 3.5);  // of the function as a whole, which the loop does not call
  features.set("code.call.log.line", 3);
  features.set("code.call.log", 0);  // of the loop that was guessed before there were samples
  features.set("code.call.tanhf.share", 71.24);
  features.set("code.hot_line", 15);
  features.set("code.hot_line.share", 80.5);
  const std::string text = observed_text(features, 8);
  check_has(text,
            "- it calls tanhf, 71.2 % of the time; expf from line 14, less than 1 % of the time\n"
            "- called outside of that loop: free, 3.5 % of the time\n");
  check_has(text, "- line with most of the time, what it calls included: 15 (80.5 %)\n");
  CHECK(text.find("code.") == std::string::npos);
  CHECK(text.find("log") == std::string::npos);
}

TEST_CASE("observed: without counted work the busiest unit decides, else latency and what warps wait for") {
  Features features;
  features.set("sm_utilisation", 40);
  features.set("dram_utilisation", 92);
  CHECK(tells(limit_text(features), "limited by moving data: 92 %"));
  features.set("dram_utilisation", 20);
  features.set("stall_barrier", 30);
  features.set("stall_long_scoreboard", 55);
  features.set("stall_selected", 90);  // it issued: that is no wait
  CHECK(tells(limit_text(features),
              "latency limits it; warps wait mostly for data from global or local memory"));
}
