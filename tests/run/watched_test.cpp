// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/watched.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "kernelsearch/run/run.hpp"
#include "support.hpp"
#include "support/approx.hpp"

using namespace run_test;
using detail::judged_spans;
using kernelsearch::test::approx;

namespace {

/// Takes its time: builds in 4 ms, waits 3 ms for its device, checks in 5 and measures in 6.
struct Slow {
  struct Artifact {
    Candidate candidate;
  };
  Problem about;
  bool tells_place = true;

  static void pass(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext&) const {
    pass(4);
    Staged<Artifact> staged{{}, Artifact{candidate}};
    staged.evaluation.phases.build = 0.004;
    return staged;
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) const {
    pass(3);
    if (tells_place) context.measured_on("core 7");
    pass(11);
    Evaluation evaluation = Evaluation::succeeded(1.0 + 0.1 * static_cast<double>(number(context.trial)));
    evaluation.phases = {staged.evaluation.phases.build, 0.005, 0.006};
    return evaluation;
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
  [[nodiscard]] Speedup compare(const Candidate&, const Candidate&, const PairOptions&) const {
    pass(2);
    return {1.5, {1.4, 1.6}, 12};
  }
  [[nodiscard]] std::size_t lanes() const { return 1; }
  [[nodiscard]] const Problem& problem() const { return about; }
  [[nodiscard]] std::string device_id() const { return "a scripted device"; }
  [[nodiscard]] std::string toolchain_id() const { return "a scripted compiler 1.0"; }
};

struct Written {
  Place place;
  RunId id{};
  std::vector<RunSpan> spans;
  std::map<std::string, std::size_t> works;
  std::map<std::uint64_t, double> told;  ///< seconds of the run, by trial

  void run(Slow slow, const std::string& budget, bool resume = false) {
    RunOptions options;
    options.policy = "random";
    options.budget = budget;
    RunParts parts;
    parts.store = place.store.get();
    parts.evaluator = std::move(slow);
    if (resume) parts.problem = small_problem();
    Run run = resume ? Run::resume("latest", options, std::move(parts))
                     : Run::start(small_problem(), options, std::move(parts));
    run.to_end();
    id = run.finish().run;
    spans = place.store->spans(id);
    works.clear();
    for (const RunSpan& span : spans) ++works[span.work];
    place.store->each_trial(
        id, [this](const StoredTrial& trial) { told[number(trial.outcome.id)] = trial.elapsed; });
  }
};

}  // namespace

TEST_CASE("judged_spans: the wait before the device, and phases that fill the time on it") {
  const TrialId trial{5};
  const auto spans = judged_spans(trial, "GPU 1", 10, 12, 20, 1, 3);
  REQUIRE(spans.size() == 4);
  CHECK(spans[0] == RunSpan{"wait", "GPU 1", trial, 10, 12});
  CHECK(spans[1] == RunSpan{"build", "GPU 1", trial, 12, 13});
  CHECK(spans[2] == RunSpan{"check", "GPU 1", trial, 13, 17});
  CHECK(spans[3] == RunSpan{"measure", "GPU 1", trial, 17, 20});
  CHECK(judged_spans(trial, "", 10, 10, 20, 0, 11).empty());  // its times are those of a recording
}

TEST_CASE("Run: what was done when and where is in the store") {
  Written written;
  written.run({small_problem()}, "4");
  CHECK(written.works["build"] >= 4);
  CHECK(written.works["wait"] >= 4);
  CHECK(written.works["check"] >= 4);
  CHECK(written.works["measure"] >= 4);
  CHECK(written.works["finalists"] == 1);
  CHECK(written.works["compare"] >= 1);
  double last = 0;
  std::set<std::uint64_t> measured;
  for (const RunSpan& span : written.spans) {
    CAPTURE(span.work);
    CHECK(span.began >= last);  // in the order of beginning
    last = span.began;
    CHECK(span.ended >= span.began);
    const bool on_device = span.work == "wait" || span.work == "check" || span.work == "measure";
    CHECK(span.place == (on_device ? "core 7" : ""));
    CHECK(span.trial.has_value() == (on_device || span.work == "build"));
    if (span.work == "wait") CHECK(span.ended - span.began >= 0.003);
    if (span.work != "measure") continue;
    CHECK(span.ended - span.began == approx(0.006).epsilon(0.01));
    // Measured, and told thereafter, both by the seconds of the run; a finalist is measured again.
    if (measured.insert(number(*span.trial)).second)
      CHECK(span.ended <= written.told.at(number(*span.trial)) + 0.02);
  }
  CHECK(measured.size() == 4);
}

TEST_CASE("Run: a device that nobody names has its time, too, and a resumed run's bars follow the first's") {
  Written written;
  written.run({small_problem(), false}, "2");
  for (const RunSpan& span : written.spans) CHECK(span.place.empty());
  CHECK(written.works["wait"] == 0);
  const std::size_t before = written.spans.size();
  const double ended = written.place.store->run(written.id).seconds;
  written.run({small_problem(), false}, "4", true);
  REQUIRE(written.spans.size() > before);
  for (std::size_t i = before; i < written.spans.size(); ++i) CHECK(written.spans[i].began >= ended - 1e-6);
}
