// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/generator/template_generator.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

TEST_CASE("TemplateGenerator: one candidate at the configuration, sharing the kernel") {
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("x", 0, 9))
                          .add(Tunable::integer("y", 0, 9))
                          .require("x <= y")
                          .build();
  const TemplateGenerator generator(Kernel{{"device", "host", "macros"}, space});
  const Config config{{3, 7}};
  const auto made = generator.generate(config, {});
  REQUIRE(made.candidates.size() == 1);
  CHECK(made.candidates[0].config == config);
  CHECK(made.candidates[0].kernel == generator.kernel());
  CHECK(generator.kernel()->regions.host == "host");
}

TEST_CASE("TemplateGenerator: a configuration outside of the space is a failure with a reason") {
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("x", 0, 9))
                          .add(Tunable::integer("y", 0, 9))
                          .require("x <= y")
                          .build();
  const TemplateGenerator generator(Kernel{{}, space});
  for (const Config& wrong : {Config{{7, 3}}, Config{{0, 10}}}) {
    const auto none = generator.generate(wrong, {});
    CHECK(none.candidates.empty());
    CHECK(none.failure == "the configuration is outside the space or violates a constraint");
  }
  // That is a policy of another space, with which no trial could ever be right.
  CHECK_THROWS_WITH_AS((void)generator.generate(Config{{0}}, {}),
                       doctest::Contains("1 tunables instead of 2; make both of the same space"),
                       ConfigError);
}
