// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/trace_file.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

std::vector<Landscape> spaces() {
  std::vector<Landscape> all;
  all.emplace_back("s", std::vector<LandscapePoint>{{"1,2", 3.0}, {"2,2", 1.0}, {"3,2", 2.0}});
  return all;
}

}  // namespace

TEST_CASE("trace lines: read back as written") {
  const auto landscapes = spaces();
  const Trace trace{"s", "a \"name\"", 7, {2, 0, 1}, {0.5, 1.25, 1.5}, 3, 0.001, 0, 0};
  const std::string line = trace_to_line(trace, landscapes[0]);
  CHECK(line == R"({"space":"s","strategy":"a \"name\"","repeat":7,"evals":["3,2","1,2","2,2"],"cap":3,)"
                R"("wall_s":0.001,"seconds":[0.5,1.25,1.5]})");
  const Trace again = trace_from_line(line, landscapes);
  CHECK(again.strategy == trace.strategy);
  CHECK(again.repeat == 7);
  CHECK(again.evaluations == trace.evaluations);
  CHECK(again.seconds == trace.seconds);
  CHECK(again.cap == 3);
  CHECK(again.policy_seconds == 0.001);
}

TEST_CASE("trace lines: repeats and unknown keys are free, as the scorer has it") {
  const auto landscapes = spaces();
  const Trace trace = trace_from_line(
      R"({"space":"s","strategy":"p","repeat":0,"evals":["1,2","9,9","1,2","2,2"],"seconds":[1,2,3,4]})",
      landscapes);
  CHECK(trace.evaluations == std::vector<std::uint32_t>{0, 1});
  CHECK(trace.seconds == std::vector<double>{1, 4});
  CHECK(trace.dropped_repeats == 1);
  CHECK(trace.dropped_unknown == 1);
  CHECK_FALSE(trace.cap);
}

TEST_CASE(
    "trace lines: what was not scored is counted in the line, and nothing is written where there is none") {
  const auto landscapes = spaces();
  Trace trace{"s", "p", 0, {0}};
  trace.dropped_repeats = 3;
  trace.dropped_unknown = 2;
  trace.dropped_outside = 1;
  trace.ended_early = true;
  const std::string line = trace_to_line(trace, landscapes[0]);
  CHECK(line == R"({"space":"s","strategy":"p","repeat":0,"evals":["1,2"],"dropped_repeats":3,)"
                R"("dropped_unknown":2,"dropped_outside":1,"ended_early":true})");
  const Trace again = trace_from_line(line, landscapes);
  CHECK(again.dropped_repeats == 3);
  CHECK(again.dropped_unknown == 2);
  CHECK(again.dropped_outside == 1);
  CHECK(again.ended_early);
  // Counted on top of what the keys themselves show.
  const Trace more = trace_from_line(
      R"({"space":"s","strategy":"p","repeat":0,"evals":["1,2","1,2"],"dropped_repeats":3,"ended_early":1})",
      landscapes);
  CHECK(more.dropped_repeats == 4);
  CHECK_FALSE(more.ended_early);
}

TEST_CASE("trace files: other spaces are passed over, wrong lines are named") {
  const auto landscapes = spaces();
  const TemporaryFolder folder;
  const auto file = folder / "traces.jsonl";
  std::ofstream(file) << R"({"space":"other","strategy":"p","repeat":0,"evals":["x"]})"
                      << "\n\n"
                      << R"({"space":"s","strategy":"p","repeat":1,"evals":["2,2"]})"
                      << "\n";
  const auto traces = read_traces(file, landscapes);
  REQUIRE(traces.size() == 1);
  CHECK(traces[0].repeat == 1);
  for (const char* wrong : {"{", "[]", "7", R"({"space":"s","strategy":"p","repeat":0})",
                            R"({"space":1,"strategy":"p","repeat":0,"evals":[]})",
                            R"({"space":"s","strategy":"p","repeat":-1,"evals":[]})",
                            R"({"space":"s","strategy":"p","repeat":0,"evals":[1]})"}) {
    CAPTURE(wrong);
    std::ofstream(file) << R"({"space":"s","strategy":"p","repeat":1,"evals":["2,2"]})"
                        << "\n"
                        << wrong << "\n";
    CHECK_THROWS_WITH_AS(static_cast<void>(read_traces(file, landscapes)),
                         doctest::Contains("traces.jsonl:2"), ConfigError);
    CHECK_THROWS_AS(static_cast<void>(trace_from_line(wrong, landscapes)), ConfigError);
  }
  CHECK_THROWS_AS(static_cast<void>(read_traces(folder / "none", landscapes)), ConfigError);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(trace_from_line(R"({"space":"x","strategy":"p","repeat":0,"evals":[]})", landscapes)),
      doctest::Contains("unknown space"), ConfigError);
}
