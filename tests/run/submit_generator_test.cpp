// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/submit_generator.hpp"

#include <doctest/doctest.h>

#include "run/support.hpp"

using namespace run_test;

TEST_CASE("SubmitGenerator: the root is the problem's kernel, other moves what was handed in for them") {
  const auto root = std::make_shared<const Kernel>(small_problem().kernel);
  SubmitGenerator generator(root);
  const History<Candidate> none;
  const Generation<Candidate> first = generator.generate(Move{}, none);
  REQUIRE(first.candidates.size() == 1);
  CHECK(first.candidates[0].kernel == root);
  CHECK(first.candidates[0].config == root->space.default_config());

  const Move move{MoveKind::rewrite, {TrialId{0}}, {"tile"}, 0},
      other{MoveKind::rewrite, {TrialId{0}}, {"tile"}, 1};
  CHECK(generator.generate(move, none).failure == "nobody has answered this move");
  const Candidate mine{std::make_shared<const Kernel>(Kernel{{"mine", "", ""}, root->space}),
                       root->space.default_config()};
  SubmitGenerator copy = generator;
  copy.answer(move, mine);
  CHECK(generator.generate(other, none).candidates.empty());
  const Generation<Candidate> answered = generator.generate(move, none);
  REQUIRE(answered.candidates.size() == 1);
  CHECK(answered.candidates[0].kernel == mine.kernel);
  CHECK(generator.generate(move, none).candidates.empty());  // an answer serves once

  generator.answer(move, mine);
  generator.decline(move, "too slow");
  const Generation<Candidate> declined = generator.generate(move, none);
  CHECK(declined.failure == "declined: too slow");
  CHECK_FALSE(declined.applicable);  // a judgement of the move, as a model's
  CHECK(generator.generate(move, none).applicable);
}
