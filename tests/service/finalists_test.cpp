// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/service/finalists.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/exhaustive.hpp"
#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

namespace {

/// Times are lucky the first time: the second is the truth.
struct Lucky {
  std::vector<double> first{3.0, 1.0, 2.0, 1.5}, second{3.0, 4.0, 2.5, 1.6};
  std::vector<int> seen = std::vector<int>(4, 0);
  int renewed = 0;
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext&) {
    const std::size_t i = candidate.config.indices[0];
    return Evaluation::succeeded(seen[i]++ == 0 ? first[i] : second[i]);
  }
  void renew() { ++renewed; }
};

}  // namespace

TEST_CASE("measure_finalists_again: the winner is one that was measured again") {
  const Space space = SpaceBuilder().add(Tunable::integer("i", 0, 3)).build();
  const auto kernel = std::make_shared<const Kernel>(Kernel{{}, space});
  Lucky lucky;
  Optimizer search{Exhaustive(space), TemplateGenerator(kernel), lucky};
  search.run();
  REQUIRE(search.best()->candidate->config.indices[0] == 1);
  std::vector<std::uint64_t> told;
  measure_finalists_again(search, search.evaluator(), {},
                          [&told](TrialId id) { told.push_back(number(id)); });
  CHECK(search.best()->candidate->config.indices[0] == 3);
  CHECK(search.best()->outcome.objective == 1.6);
  CHECK(told.size() == 2);
  CHECK(search.evaluator().renewed == 2);

  // A stop leaves what is known as it is.
  Optimizer stopped{Exhaustive(space), TemplateGenerator(kernel), lucky};
  stopped.run();
  std::stop_source stop;
  stop.request_stop();
  measure_finalists_again(stopped, stopped.evaluator(), stop.get_token(), nullptr);
  CHECK(stopped.best()->outcome.objective == 1.0);
}
