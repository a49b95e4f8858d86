// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "external/evaluator_session.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "kernelsearch/process/sandbox.hpp"
#include "scripted_evaluator.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

TEST_CASE("EvaluatorSession: between requests neither threads nor processes of the program run") {
  if (!test::has_system_python()) {
    MESSAGE("skipped: there is no /usr/bin/python3");
    return;
  }
  const TemporaryFolder folder;
  const Problem problem = test::scripted_problem(folder.path(), "ticks", 100);
  HostOptions options;
  options.sandbox = resolved(options.sandbox);
  const detail::Arena inputs(4096, detail::Arena::Writers::controller),
      outputs(4096, detail::Arena::Writers::both);
  external::EvaluatorSession session(problem, options, inputs, outputs);
  REQUIRE(session.describe());
  const auto* counts = reinterpret_cast<const volatile std::int64_t*>(outputs.data());
  for (const int who : {0, 1}) {
    CAPTURE(who);
    const std::int64_t before = counts[who];
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(counts[who] == before);
    // It does run while it is asked.
    double wall = 0;
    for (int i = 0; i < 1000 && counts[who] == before; ++i) REQUIRE(session.nothing(wall));
    CHECK(counts[who] > before);
  }
}
