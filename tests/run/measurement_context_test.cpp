// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/measurement_context.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"
#include "run/support.hpp"

using namespace kernelsearch;

TEST_CASE("measurement_digest: the problem and how it is measured") {
  const Problem problem = run_test::small_problem();
  CHECK(measurement_digest(problem, "warm") == measurement_digest(problem, "warm"));
  CHECK(measurement_digest(problem, "warm") != measurement_digest(problem, "cold"));
  Problem other = problem;
  other.function = "thrice";
  CHECK(measurement_digest(problem, "warm") != measurement_digest(other, "warm"));
}

TEST_CASE("check_same_context: names what has changed") {
  RunRow row;
  row.id = RunId{4};
  row.info.problem_digest = "p";
  row.info.device = "d";
  row.info.toolchain = "t";
  check_same_context(row, row.info);
  const auto changed = [&row](std::string RunInfo::*member) {
    RunInfo now = row.info;
    now.*member = "new";
    try {
      check_same_context(row, now);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(changed(&RunInfo::problem_digest).find("run 4: the problem has changed") != std::string::npos);
  CHECK(changed(&RunInfo::device).find("d then, new now") != std::string::npos);
  CHECK(changed(&RunInfo::toolchain).find("the toolchain has changed") != std::string::npos);
  CHECK(changed(&RunInfo::name).empty());
}

TEST_CASE("check_same_context: how a run may use its device does not matter, a GPU's driver does") {
  RunRow row;
  RunInfo now;
  const auto same = [&](const char* then, const char* is) {
    row.info.device = then;
    now.device = is;
    try {
      check_same_context(row, now);
    } catch (const ConfigError&) {
      return false;
    }
    return true;
  };
  CHECK(same("AMD EPYC, 2 cores", "AMD EPYC"));
  CHECK(same("AMD EPYC, 2 cores, governor powersave", "AMD EPYC"));
  CHECK_FALSE(same("AMD EPYC, 2 cores", "AMD EPYC 2"));
  CHECK(same("H200 sm_90, driver 13000", "H200 sm_90, driver 13000"));
  CHECK_FALSE(same("H200 sm_90, driver 13000", "H200 sm_90, driver 13010"));
}
