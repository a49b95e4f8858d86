// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/earlier_run.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "kernelsearch/space/space_builder.hpp"
#include "support/made_up_recording.hpp"

using namespace kernelsearch;

TEST_CASE("earlier_run: of an equal space, every outcome as it was, failures too") {
  const Recording recording = made_up_recording("there");
  const Recording here = made_up_recording("here", 2.0);
  const auto run = earlier_run(recording, here.space);
  REQUIRE(run);
  CHECK(run->source == "there");
  REQUIRE(run->outcomes.size() == recording.trials.size());
  int failed = 0;
  for (std::size_t i = 0; i < run->outcomes.size(); ++i) {
    CHECK(run->outcomes[i].config == recording.trials[i].config);
    CHECK(run->outcomes[i].objective == recording.objective(i));
    failed += std::isinf(run->outcomes[i].objective) ? 1 : 0;
  }
  CHECK(failed > 0);
}

TEST_CASE("earlier_run: by names and values, whatever their order; what is not valid here is left out") {
  Recording recording{
      "there", "", "", "", SpaceBuilder().add(Tunable::integer("a", 1, 4)).add(Tunable::boolean("b")).build(),
      {}};
  for (std::uint32_t a = 0; a < 4; ++a)
    for (std::uint32_t b = 0; b < 2; ++b)
      recording.trials.push_back({Config{{a, b}}, Evaluation::succeeded(1.0 + a + 10.0 * b), ""});
  const Space space = SpaceBuilder()
                          .add(Tunable::boolean("b"))
                          .add(Tunable::integer("a", 2, 6, 2))
                          .require("a != 4 or b")
                          .build();
  const auto run = earlier_run(recording, space);
  REQUIRE(run);
  REQUIRE(run->outcomes.size() == 3);  // a = 2 twice, a = 4 with b
  CHECK(run->outcomes[0].config == Config{{0, 0}});
  CHECK(run->outcomes[0].objective == 2.0);
  CHECK(run->outcomes[1].config == Config{{1, 0}});
  CHECK(run->outcomes[1].objective == 12.0);
  CHECK(run->outcomes[2].config == Config{{1, 1}});
  CHECK(run->outcomes[2].objective == 14.0);
}

TEST_CASE("earlier_run: nothing of a space with other tunables or other values") {
  const Recording recording = made_up_recording("there");
  CHECK_FALSE(earlier_run(recording, SpaceBuilder().add(Tunable::integer("x", 0, 19)).build()));
  CHECK_FALSE(earlier_run(recording, SpaceBuilder()
                                         .add(Tunable::integer("x", 0, 19))
                                         .add(Tunable::integer("y", 0, 9))
                                         .add(Tunable::boolean("w"))
                                         .build()));
  CHECK_FALSE(earlier_run(recording, SpaceBuilder()
                                         .add(Tunable::integer("x", 100, 119))
                                         .add(Tunable::integer("y", 0, 9))
                                         .add(Tunable::boolean("z"))
                                         .build()));
}
