// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/then.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/evaluator/profiled.hpp"
#include "kernelsearch/evaluator/validated.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;

namespace {
struct ThenDigits {
  int calls = 0;
  Features profile(int x) {
    ++calls;
    Features features;
    features.set("digits", x < 10 ? 1 : 2);
    return features;
  }
};
struct NoTens {
  std::optional<Evaluation> validate(int x) const {
    if (x % 10 == 0) return Evaluation::failed(Verdict::wrong_result, "a race");
    return std::nullopt;
  }
};
struct CarriedLandscape : scripted::Landscape {
  [[nodiscard]] PortableArtifact carry(const Artifact& artifact) const {
    return {std::to_string(artifact.x), {}, false};
  }
  [[nodiscard]] Artifact carried(int, const PortableArtifact& code) const { return {std::stoi(code.code)}; }
};
}  // namespace

TEST_CASE("Profiled: right candidates get features, failed ones are not profiled") {
  Profiled<scripted::Landscape, int, ThenDigits> profiled({}, {});
  CHECK(profiled.evaluate(12, {}).features.find("digits") == 2.0);
  CHECK(profiled.evaluate(14, {}).features.empty());  // fails to build
  auto staged = profiled.build(5, {});
  CHECK(profiled.run(std::move(staged), {}).features.find("digits") == 1.0);
}

TEST_CASE("Validated: what the validator objects to is no longer ok") {
  Validated<scripted::Landscape, int, NoTens> validated({}, {});
  CHECK(validated.evaluate(12, {}).verdict == Verdict::ok);
  CHECK(validated.evaluate(20, {}).verdict == Verdict::wrong_result);
  CHECK(validated.evaluate(70, {}).verdict == Verdict::build_failed);  // the first failure stands
}

TEST_CASE("Then: decorators nest and stay staged") {
  using Nested = Profiled<Validated<scripted::Landscape, int, NoTens>, int, ThenDigits>;
  static_assert(StagedEvaluator<Nested, int>);
  Optimizer search{scripted::Counting{.last = 30},
                   scripted::Copying{},
                   Nested(Validated<scripted::Landscape, int, NoTens>({}, {}), {}),
                   {.in_flight = 3, .build_threads = 2}};
  const RunSummary summary = search.run();
  CHECK(summary.verdicts[static_cast<int>(Verdict::wrong_result)] == 2);  // 10, 20; 0 does not build
  CHECK(search.best()->outcome.evaluation.features.find("digits") == 2.0);
}

TEST_CASE(
    "Then: what it has built can be carried where the inner artifact can, and is stepped through there") {
  using Carried = Profiled<CarriedLandscape, int, ThenDigits>;
  static_assert(CarriesArtifacts<Carried, int>);
  static_assert(!CarriesArtifacts<Profiled<scripted::Landscape, int, ThenDigits>, int>);
  Carried here({}, {}), there({}, {});
  auto staged = here.build(12, {});
  REQUIRE(staged.artifact);
  const PortableArtifact code = here.carry(*staged.artifact);
  CHECK(code.code == "12");
  const Evaluation evaluation =
      there.run(Staged<Carried::Artifact>{std::move(staged.evaluation), there.carried(12, code)}, {});
  CHECK(evaluation.measurement.seconds == here.evaluate(12, {}).measurement.seconds);
  CHECK(evaluation.features.find("digits") == 2.0);
}
