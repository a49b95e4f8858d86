// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/format.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace kernelsearch;

TEST_CASE("format: times in the unit that suits") {
  CHECK(format_seconds(0.001234) == "1.234 ms");
  CHECK(format_seconds(1.5) == "1.500 s");
  CHECK(format_seconds(123.4) == "123.4 s");
  CHECK(format_seconds(56e-6, 3) == "56.0 us");
  CHECK(format_seconds(7e-9) == "7.000 ns");
  CHECK(format_seconds(0.25e-9) == "0.250 ns");
  CHECK(format_seconds(0.0) == "0.000 ns");
  CHECK(format_seconds(999.99e-6) == "1.000 ms");
  CHECK(format_seconds(std::numeric_limits<double>::infinity()) == "infinite");
  CHECK(format_seconds(std::numeric_limits<double>::quiet_NaN()) == "unknown");
}

TEST_CASE("format: durations") {
  CHECK(format_duration(0.44) == "0.4 s");
  CHECK(format_duration(9.96) == "10 s");
  CHECK(format_duration(59.6) == "1 min 00 s");
  CHECK(format_duration(185) == "3 min 05 s");
  CHECK(format_duration(7620) == "2 h 07 min");
  CHECK(format_duration(-1) == "unknown");
  CHECK(format_duration(std::numeric_limits<double>::infinity()) == "unknown");
}

TEST_CASE("format: numbers with decimal prefixes") {
  CHECK(format_engineering(1234) == "1.23 k");
  CHECK(format_engineering(4.56e9) == "4.56 G");
  CHECK(format_engineering(12) == "12.0");
  CHECK(format_engineering(0.5) == "0.50");
  CHECK(format_engineering(-2e6) == "-2.00 M");
}

TEST_CASE("format: speedups, bars") {
  CHECK(format_speedup({5.432, {5.4, 5.468}, 30}) == "5.43x (5.40 to 5.47)");
  CHECK(format_bar(0.0, 4) == "[....]");
  CHECK(format_bar(0.5, 4) == "[##..]");
  CHECK(format_bar(0.99, 4) == "[###.]");
  CHECK(format_bar(7.0, 4) == "[####]");
  CHECK(format_bar(std::numeric_limits<double>::quiet_NaN(), 2) == "[..]");
}

TEST_CASE("format: tables line up by characters") {
  CHECK(format_table({"name", "time"}, {{"é", "1.5 ms"}, {"longer", "22 ms"}, {"x"}}) ==
        "name    time\n"
        "é       1.5 ms\n"
        "longer   22 ms\n"
        "x\n");
}
