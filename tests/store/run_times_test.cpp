// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/run_times.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

TEST_CASE("RunTimes: to text and back, and the shares in their order") {
  const RunTimes times{1, 2, 3, 4, 5, 6, 7};
  CHECK(times.total() == 28);
  CHECK(run_times_from(to_json_text(times)) == times);
  CHECK(run_times_from(R"({"building": 2, "dreaming": 3})") == RunTimes{.building = 2});
  CHECK_THROWS_AS((void)run_times_from("{"), ConfigError);
  CHECK(to_string(RunTimes{.starting = 10, .building = 60, .measuring = 29.8, .other = 0.2}) ==
        "waiting for builds 60 %, measuring 30 %, starting 10 %");
  CHECK(to_string(RunTimes{}).empty());
}

TEST_CASE("RunStore: the times of a run add up over the calls that drove it") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run({.name = "r", .policy = "p"});
  CHECK(!store.times(run));
  store.add_times(run, {.starting = 1, .measuring = 2});
  store.add_times(run, {.measuring = 3, .finalists = 4});
  CHECK(store.times(run) == RunTimes{.starting = 1, .measuring = 5, .finalists = 4});
}
