// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/finalists.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

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
                          {.tell = [&told](TrialId id) { told.push_back(number(id)); }});
  CHECK(search.best()->candidate->config.indices[0] == 3);
  CHECK(search.best()->outcome.objective == 1.6);
  CHECK(told.size() == 2);
  CHECK(search.evaluator().renewed == 2);

  // A stop leaves what is known as it is.
  Optimizer stopped{Exhaustive(space), TemplateGenerator(kernel), lucky};
  stopped.run();
  std::stop_source stop;
  stop.request_stop();
  measure_finalists_again(stopped, stopped.evaluator(), stop.get_token(), {});
  CHECK(stopped.best()->outcome.objective == 1.0);
}

TEST_CASE("measure_finalists_again: what the validator objects to makes room for the next best") {
  const Space space = SpaceBuilder().add(Tunable::integer("i", 0, 3)).build();
  const auto kernel = std::make_shared<const Kernel>(Kernel{{}, space});
  Optimizer search{Exhaustive(space), TemplateGenerator(kernel), Lucky{}};
  search.run();
  std::vector<std::uint32_t> asked;
  const auto but = [&asked](std::vector<std::uint32_t> faulty) {
    return [&asked, faulty](const Candidate& candidate) -> std::optional<Evaluation> {
      const std::uint32_t i = candidate.config.indices[0];
      asked.push_back(i);
      if (std::find(faulty.begin(), faulty.end(), i) == faulty.end()) return std::nullopt;
      return Evaluation::failed(Verdict::crashed, "memcheck: a fault");
    };
  };
  measure_finalists_again(search, search.evaluator(), {}, {.validate = but({1, 3})});
  CHECK(asked == std::vector<std::uint32_t>{1, 3, 2});
  CHECK(search.best()->candidate->config.indices[0] == 2);
  CHECK(search.best()->outcome.objective == 2.5);
  CHECK(search.evaluator().renewed == 1);  // what is faulty is not measured
  CHECK(search.trials()[1].outcome.evaluation.verdict == Verdict::crashed);
  CHECK(search.trials()[1].outcome.evaluation.reason == "memcheck: a fault");

  Optimizer none{Exhaustive(space), TemplateGenerator(kernel), Lucky{}};
  none.run();
  measure_finalists_again(none, none.evaluator(), {}, {.validate = but({0, 1, 2, 3})});
  CHECK(none.best() == nullptr);
}

TEST_CASE(
    "measure_finalists_again: on a machine too noisy to agree with itself the winner still has passed") {
  // Whatever is measured again turns out slower than all that was not.
  struct Noisy {
    int calls = 0;
    Evaluation evaluate(const Candidate&, const EvaluationContext&) {
      return Evaluation::succeeded(++calls <= 20 ? 1.0 : 10.0);
    }
  };
  const Space space = SpaceBuilder().add(Tunable::integer("i", 0, 19)).build();
  const auto kernel = std::make_shared<const Kernel>(Kernel{{}, space});
  Optimizer search{Exhaustive(space), TemplateGenerator(kernel), Noisy{}};
  search.run();
  std::set<std::uint32_t> passed;
  measure_finalists_again(search, search.evaluator(), {}, {.validate = [&](const Candidate& candidate) {
                            const std::uint32_t i = candidate.config.indices[0];
                            if (i % 2 == 1) return std::optional(Evaluation::failed(Verdict::crashed, "x"));
                            passed.insert(i);
                            return std::optional<Evaluation>();
                          }});
  REQUIRE(search.best() != nullptr);
  CHECK(passed.count(search.best()->candidate->config.indices[0]) == 1);
}
