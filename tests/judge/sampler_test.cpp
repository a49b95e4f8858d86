// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/sampler.hpp"

#include <doctest/doctest.h>

#include <stop_token>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;
using kernelsearch::test::approx;

namespace {

using Trouble = std::string;

Problem two_shapes() {
  Problem problem;
  for (const char* name : {"a", "untimed", "b"}) {
    Shape shape;
    shape.name = name;
    shape.weight = problem.shapes.size() == 1 ? 0.0 : 1.0;
    problem.shapes.push_back(shape);
  }
  return problem;
}

/// A clock of its own: five samples a round, `seconds` each with a scatter; a round takes 10 ms.
struct ScriptedTimer : PlainSampleTimer {
  std::optional<Trouble> sample(std::size_t shape, const ShapeMeasurement&, std::vector<double>& samples) {
    order += static_cast<char>('0' + shape);
    if (order.size() == fails_at) return "broken";
    for (int i = 0; i < 5; ++i) samples.push_back(seconds[shape] * (1 + scatter * (rng.uniform() - 0.5)));
    spent[shape] += 0.01;
    if (stop_after == order.size()) stop.request_stop();
    return std::nullopt;
  }
  [[nodiscard]] double elapsed(std::size_t shape) const { return spent[shape]; }

  std::vector<double> seconds{1e-3, 0, 2e-3}, spent{0, 0, 0};
  double scatter = 0.001;
  std::size_t fails_at = 0, stop_after = 0;
  std::stop_source stop{};
  std::string order{};
  Rng rng{7};
};

/// Has a say in what counts and when a shape is finished.
struct Picky : ScriptedTimer {
  template <class Fault>
  std::optional<Fault> after_rounds() {
    order += '.';
    return std::nullopt;
  }
  bool counts(std::size_t shape) { return shape != 0 || ++seen > 1; }
  std::optional<SamplingEnd> ended(std::size_t shape, const ShapeMeasurement&, std::size_t rounds,
                                   std::optional<SamplingEnd> end) {
    return shape == 2 && rounds < 4 ? std::nullopt : end;
  }
  int seen = 0;
};

template <class Timer>
std::optional<Trouble> sampled(Timer& timer, Measurement& measurement, SamplingOptions options = {},
                               std::optional<double> incumbent = {},
                               SamplingOrder order = SamplingOrder::interleaved) {
  static const Problem problem = two_shapes();
  return Sampler<Trouble, Timer>(problem, options, order, timer)
      .run(measurement, incumbent, timer.stop.get_token());
}

}  // namespace

TEST_CASE("Sampler: rounds of the shapes that have weight in turn, until each is converged") {
  ScriptedTimer timer;
  Measurement measured;
  CHECK(!sampled(timer, measured));
  CHECK(timer.order == "0202");  // ten samples are the fewest that converge
  REQUIRE(measured.shapes.size() == 2);
  CHECK(measured.shapes[0].shape == "a");
  CHECK(measured.shapes[1].shape == "b");
  CHECK(measured.shapes[0].ended == SamplingEnd::converged);
  CHECK(measured.shapes[1].samples.size() == 10);
  CHECK(measured.seconds == approx(3e-3).epsilon(0.01));
}

TEST_CASE("Sampler: shape by shape, one is finished before the next begins") {
  ScriptedTimer timer;
  Measurement measured;
  CHECK(!sampled(timer, measured, {}, {}, SamplingOrder::shape_by_shape));
  CHECK(timer.order == "0022");
}

TEST_CASE("Sampler: the budget of a shape ends it alone") {
  ScriptedTimer timer;
  timer.scatter = 1;
  timer.spent[0] = 1;  // seconds
  SamplingOptions options;
  options.budget_seconds = 0.045;
  Measurement measured;
  CHECK(!sampled(timer, measured, options));
  CHECK(timer.order == "022222");
  CHECK(measured.shapes[0].ended == SamplingEnd::budget);
}

TEST_CASE("Sampler: what is surely slower than the incumbent ends at once, and says so") {
  ScriptedTimer timer;
  Measurement measured;
  CHECK(!sampled(timer, measured, {}, 2.8e-3));
  CHECK(timer.order == "02");
  CHECK(measured.shapes[0].ended == SamplingEnd::slower);
  CHECK(measured.shapes[1].ended == SamplingEnd::slower);

  ScriptedTimer within;  // the margin
  CHECK(!sampled(within, measured, {}, 2.9e-3));
  CHECK(within.order == "0202");
}

TEST_CASE("Sampler: of two shapes one after the other none is slower than what both take") {
  ScriptedTimer timer;
  Measurement measured;
  CHECK(!sampled(timer, measured, {}, 0.5e-3, SamplingOrder::shape_by_shape));
  CHECK(timer.order == "0022");
}

TEST_CASE("Sampler: a fault ends it, a stop ends it after the round") {
  ScriptedTimer broken;
  broken.fails_at = 3;
  Measurement measured;
  CHECK(sampled(broken, measured) == Trouble("broken"));
  CHECK(broken.order == "020");

  ScriptedTimer stopped;
  stopped.scatter = 1;
  stopped.stop_after = 3;
  CHECK(!sampled(stopped, measured));
  CHECK(stopped.order == "0202");
  CHECK(measured.shapes[0].ended == SamplingEnd::budget);
}

TEST_CASE("Sampler: a timer may drop a round, ask for more, and look after all rounds") {
  Picky timer;
  Measurement measured;
  CHECK(!sampled(timer, measured));
  CHECK(timer.order == "02.02.02.2.");
  CHECK(measured.shapes[0].samples.size() == 10);
  CHECK(measured.shapes[1].samples.size() == 20);
}

TEST_CASE("Sampler: a shape measured again has no sample of before") {
  ScriptedTimer timer;
  const Problem problem = two_shapes();
  Sampler<Trouble, ScriptedTimer> sampler(problem, {}, SamplingOrder::interleaved, timer);
  Measurement measured;
  CHECK(!sampler.run(measured, {}, {}));
  timer.seconds[2] = 4e-3;
  CHECK(!sampler.again(2, 1, measured));
  CHECK(measured.shapes[1].median == approx(4e-3).epsilon(0.01));
  CHECK(measured.shapes[1].samples.size() == 10);
  CHECK(measured.seconds == approx(5e-3).epsilon(0.01));
}
