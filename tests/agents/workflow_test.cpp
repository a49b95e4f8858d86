// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/workflow.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "support/approx.hpp"
#include "support/move_policy_contract.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;
using Names = std::vector<std::string>;

namespace {

/// Realises moves by a table: what a transformation does to the time, or that it fails.
class Bench {
 public:
  using Effect = std::function<double(double parent, std::uint32_t variant)>;  // negative: it fails
  static constexpr double inapplicable = -77;                                  // or does not apply
  static constexpr double nobody = -78;                                        // or nobody answers

  explicit Bench(Workflow& workflow) : workflow_(workflow) {}
  /// What was asked and told, as a store keeps it: how many moves an ask gave, or an outcome.
  struct Event {
    std::vector<Move> asked;
    std::optional<Observation<Move>> told;
  };
  std::vector<Event> events;
  std::map<std::string, Effect> effects;
  std::vector<Move> moves;

  Observation<Move> outcome(const Move& move, std::optional<std::uint64_t> proposal) {
    Observation<Move> observation{move, {}};
    observation.outcome.id = TrialId{id_};
    observation.outcome.parents = move.parents;
    if (proposal) observation.outcome.origin = Origin{ProposalId{*proposal}, 0, 1};
    double time = 100.0;
    if (move.kind == MoveKind::rewrite)
      time = effects.at(std::string(move.strategy()))(times_.at(number(move.parents.front())), move.variant);
    if (time == inapplicable) {
      observation.outcome.evaluation = Evaluation::failed(Verdict::not_applicable, "b: there is no loop");
      if (proposal) observation.outcome.origin->count = 0;
    } else if (time == nobody) {
      observation.outcome.evaluation = Evaluation::unanswered("transformer: the model failed (network)");
      if (proposal) observation.outcome.origin->count = 0;
    } else if (time < 0) {
      observation.outcome.evaluation = Evaluation::failed(Verdict::build_failed, "error: no");
    } else {
      observation.outcome.evaluation = Evaluation::succeeded(time);
      observation.outcome.objective = time;
    }
    times_[id_++] = time;
    return observation;
  }
  void tell(const Observation<Move>& observation) {
    events.push_back({{}, observation});
    move_policy_contract::tell(workflow_, observation);
  }

  /// One proposal, realised and told; false at the end.
  bool step() {
    const std::vector<Move> asked = workflow_.ask(3);
    events.push_back({asked, {}});
    REQUIRE(asked.size() <= 1);
    if (asked.empty()) return false;
    REQUIRE(workflow_.ask(1).empty());  // not while one is out
    events.push_back({});
    tell(outcome(asked[0], moves.size()));
    moves.push_back(asked[0]);
    return true;
  }
  Names run(std::size_t most = 1000) {
    while (most-- > 0 && step()) {
    }
    Names names;
    for (const Move& move : moves)
      if (move.kind != MoveKind::root)
        names.push_back(std::string(move.strategy()) + " on " + std::to_string(number(move.parents[0])));
    return names;
  }

 private:
  Workflow& workflow_;
  std::map<std::uint64_t, double> times_;
  std::uint64_t id_ = 0;
};

Bench::Effect times(double factor) {
  return [factor](double parent, std::uint32_t) { return parent * factor; };
}
Bench::Effect fails_first(std::uint32_t times_failed, double factor) {
  return
      [=](double parent, std::uint32_t variant) { return variant < times_failed ? -1.0 : parent * factor; };
}

}  // namespace

TEST_CASE(
    "Workflow: a step that leads to a known right kernel makes it the branch's checkpoint, at no trial") {
  Workflow workflow({.transformations = {"a", "b"}});
  Bench bench(workflow);
  bench.effects = {{"a", times(0.5)}, {"b", times(0.5)}};
  CHECK(bench.run() == Names{"a on 0", "b on 1"});
  workflow.checkpoints().restore("root");
  // The model writes the kernel of trial 1 once more.
  const std::vector<Move> asked = workflow.ask(1);
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].strategy() == "a");
  CHECK(asked[0].parents == std::vector<TrialId>{TrialId{0}});
  Observation<Move> known{asked[0], {}};
  known.outcome.id = TrialId{50};
  known.outcome.parents = asked[0].parents;
  known.outcome.origin = Origin{ProposalId{3}, 0, 0};  // behind root, a and b
  known.outcome.evaluation = Evaluation::failed(Verdict::not_applicable, "the kernel equals kernel 1, 50 s");
  known.outcome.evaluation.features.set("twin", 1);
  move_policy_contract::tell(workflow, known);
  REQUIRE(workflow.checkpoints().current() != nullptr);
  CHECK(workflow.checkpoints().current()->trial == TrialId{1});
  CHECK(workflow.checkpoints().at("root").note.find("does not apply") == std::string::npos);
}

TEST_CASE("Workflow keeps the contract of policies over moves, with an open list") {
  move_policy_contract::check([](const Names& names, std::uint64_t) {
    return Workflow({.transformations = names, .order = WorkflowOrder::open});
  });
}

TEST_CASE("Workflow: a list in order, each step on the last") {
  Workflow workflow({.transformations = {"a", "b", "c"}});
  Bench bench(workflow);
  bench.effects = {{"a", times(0.5)}, {"b", times(0.9)}, {"c", times(0.8)}};
  CHECK(bench.run() == Names{"a on 0", "b on 1", "c on 2"});
  CHECK(workflow.ask(1).empty());
  CHECK(workflow.checkpoints().path("c") == Names{"root", "a", "b", "c"});
  CHECK(workflow.checkpoints().current()->name == "c");
  CHECK(workflow.checkpoints().at("c").objective == approx(36));
}

TEST_CASE("Workflow: an outage is no try; the step is asked for again") {
  Workflow workflow({.transformations = {"a", "b"}, .retries = 0});
  Bench bench(workflow);
  bench.effects = {
      {"a", [](double parent, std::uint32_t variant) { return variant < 3 ? Bench::nobody : parent * 0.5; }},
      {"b", times(0.9)}};
  CHECK(bench.run() == Names{"a on 0", "a on 0", "a on 0", "a on 0", "b on 4"});
  CHECK(workflow.checkpoints().at("root").note.empty());
}

TEST_CASE("Workflow: a failure leaves the kernel as it was, is tried again and then skipped") {
  Workflow workflow({.transformations = {"a", "b", "c"}, .retries = 2, .middle_retries = 1});
  Bench bench(workflow);
  bench.effects = {{"a", fails_first(2, 0.5)}, {"b", fails_first(9, 0.9)}, {"c", times(0.8)}};
  // a: third try; b: the middle of the list, one more; c on what a left
  CHECK(bench.run() == Names{"a on 0", "a on 0", "a on 0", "b on 3", "b on 3", "b on 3", "b on 3", "c on 3"});
  CHECK(bench.moves[1].variant == 0);
  CHECK(bench.moves[3].variant == 2);
  CHECK(workflow.checkpoints().path("c") == Names{"root", "a", "c"});
  CHECK(workflow.checkpoints().at("a").note == "b failed 4 times (build_failed)");
}

TEST_CASE("Workflow: several steps without a gain are allowed, then back to the best") {
  Workflow workflow({.transformations = {"a", "b", "c", "d", "e", "f", "g"}, .patience = 3});
  Bench bench(workflow);
  bench.effects = {{"a", times(0.5)},  {"b", times(1.1)}, {"c", times(1.0)}, {"d", times(0.999)},
                   {"e", times(1.05)}, {"f", times(0.9)}, {"g", times(0.9)}};
  // b, c and d do not help; e is the fourth without a gain; f goes on from a
  CHECK(bench.run() == Names{"a on 0", "b on 1", "c on 2", "d on 3", "e on 4", "f on 1", "g on 6"});
  CHECK(workflow.checkpoints().transformations_on("g") == Names{"a", "f", "g"});

  Workflow patient({.transformations = {"a", "b", "c", "d"}, .patience = 3});
  Bench other(patient);
  other.effects = {{"a", times(1.1)}, {"b", times(1.1)}, {"c", times(1.1)}, {"d", times(0.1)}};
  CHECK(other.run() == Names{"a on 0", "b on 1", "c on 2", "d on 3"});  // what preparation was for
  CHECK(patient.checkpoints().best()->name == "d");
}

TEST_CASE("Workflow: restored and branched between steps, like git") {
  Workflow workflow({.transformations = {"a", "b", "c"}, .retries = 0, .middle_retries = 0});
  Bench bench(workflow);
  bench.effects = {{"a", times(0.5)}, {"b", fails_first(1, 0.8)}, {"c", times(0.9)}};
  CHECK(bench.run() == Names{"a on 0", "b on 1", "c on 1"});  // b failed
  workflow.checkpoints().branch("again", "a");
  // from a on, b again, with a number of its own
  CHECK(bench.run() == Names{"a on 0", "b on 1", "c on 1", "b on 1", "c on 4"});
  CHECK(bench.moves[4].variant == 1);
  CHECK(workflow.checkpoints().current()->name == "c-2");
  CHECK(workflow.checkpoints().branches().size() == 2);
  workflow.checkpoints().switch_to("main");
  workflow.checkpoints().restore("root");
  CHECK(bench.run().back() == "c on 6");  // a, b (which fails first) and c once more
  CHECK(workflow.checkpoints().transformations_on(workflow.checkpoints().current()->name) == Names{"a", "c"});
  CHECK(workflow.checkpoints().branches()[1].tip == "c-2");
}

TEST_CASE("Workflow: moved while a step is out") {
  Workflow workflow({.transformations = {"a", "b"}});
  Bench bench(workflow);
  bench.effects = {{"a", times(0.5)}, {"b", times(0.5)}};
  bench.run(2);
  const std::vector<Move> out = workflow.ask(1);
  REQUIRE(out.size() == 1);
  CHECK(out[0].strategy() == "b");
  workflow.checkpoints().restore("root");
  bench.tell(bench.outcome(out[0], 2));
  CHECK(workflow.checkpoints().current()->name == "root");
  CHECK(workflow.checkpoints().find("b") != nullptr);
  const std::vector<Move> next = workflow.ask(1);
  REQUIRE(next.size() == 1);
  CHECK(next[0].strategy() == "a");
  CHECK(next[0].parents == std::vector<TrialId>{TrialId{0}});
}

TEST_CASE("Workflow: foreign kernels and later verdicts") {
  Workflow workflow({.transformations = {"a", "b", "c"}});
  Bench bench(workflow);
  bench.effects = {{"a", times(0.5)}, {"b", times(0.5)}, {"c", times(0.5)}};
  bench.run(2);
  Observation<Move> better = bench.outcome(Move{MoveKind::submitted, {TrialId{1}}, {}}, std::nullopt);
  better.outcome.objective = 10;
  bench.tell(better);
  CHECK(workflow.checkpoints().current()->name == "submitted");
  CHECK(workflow.checkpoints().path("submitted") == Names{"root", "a", "submitted"});
  CHECK(workflow.ask(1)[0].parents == std::vector<TrialId>{TrialId{2}});

  Workflow other({.transformations = {"a", "b", "c"}});
  Bench second(other);
  second.effects = bench.effects;
  second.run(3);
  CHECK(other.checkpoints().current()->name == "b");
  Observation<Move> fraud{second.moves[2], {}};
  fraud.outcome.id = TrialId{2};
  fraud.outcome.evaluation = Evaluation::failed(Verdict::cheated, "wrote the answer");
  fraud.outcome.objective = std::numeric_limits<double>::infinity();
  second.tell(fraud);
  CHECK(other.checkpoints().at("b").closed);
  CHECK(other.ask(1)[0].parents == std::vector<TrialId>{TrialId{1}});
  CHECK(other.checkpoints().current()->name == "a");
}

TEST_CASE("Workflow: an open list tries what was tried least, and leaves what is done") {
  Workflow workflow({.transformations = {"a", "b"},
                     .order = WorkflowOrder::open,
                     .patience = 0,
                     .retries = 0,
                     .middle_retries = 0});
  Bench bench(workflow);
  bench.effects = {{"a", times(1.2)}, {"b", times(0.5)}};
  // a does not help: back to the root, b there; on b what is left, a; then what is left elsewhere: b on a
  CHECK(bench.run() == Names{"a on 0", "b on 0", "a on 2", "b on 1"});
  CHECK(workflow.checkpoints().best()->transformation == "b");
}

TEST_CASE("Workflow: a transformation that does not apply is passed over for good, at no cost") {
  for (const WorkflowOrder order : {WorkflowOrder::listed, WorkflowOrder::open}) {
    Workflow workflow({.transformations = {"a", "b", "c"}, .order = order, .patience = 0});
    Bench bench(workflow);
    bench.effects["a"] = times(0.5);
    bench.effects["b"] = [](double, std::uint32_t) { return Bench::inapplicable; };
    bench.effects["c"] = times(0.5);
    const Names names = bench.run();
    // Once on each kernel, never again there: no retry, and no step without a gain.
    std::set<std::string> unique(names.begin(), names.end());
    CHECK(unique.size() == names.size());
    CHECK(unique.contains("b on 1"));
    CHECK(unique.contains("c on 1"));  // goes on from the same checkpoint
    const Checkpoint* from = workflow.checkpoints().find(TrialId{1});
    REQUIRE(from != nullptr);
    CHECK(from->note == "does not apply: b: there is no loop");
  }
}

TEST_CASE("Workflow: nothing is applied to a kernel that lacks what it builds on") {
  const std::map<std::string, Names> after{{"c", {"b"}}, {"d", {"a"}}};
  for (const bool present : {false, true}) {
    Workflow workflow({.transformations = {"a", "b", "c", "d"},
                       .after = after,
                       .present = present ? Names{"b"} : Names{},
                       .retries = 0,
                       .middle_retries = 0});
    Bench bench(workflow);
    bench.effects = {{"a", times(0.5)}, {"b", fails_first(9, 1)}, {"c", times(0.5)}, {"d", times(0.5)}};
    if (present) {
      CHECK(bench.run() == Names{"a on 0", "c on 1", "d on 2"});  // the kernel has b
      continue;
    }
    CHECK(bench.run() == Names{"a on 0", "b on 1", "d on 1"});
    CHECK(workflow.checkpoints().at("a").note ==
          "b failed 1 times (build_failed); c was passed over: b, which it builds on, is not on the path");
  }
  // An open list comes to it once it can.
  Workflow open({.transformations = {"d", "c", "b", "a"}, .order = WorkflowOrder::open, .after = after});
  Bench bench(open);
  for (const char* name : {"a", "b", "c", "d"}) bench.effects[name] = times(0.5);
  CHECK(bench.run(4) == Names{"b on 0", "c on 1", "a on 2"});
  CHECK(bench.run(1).back() == "d on 3");
}

TEST_CASE("Workflow: work does not go back where a later step of the list builds on what would be lost") {
  const std::map<std::string, Names> after{{"e", {"a"}}};
  Workflow workflow({.transformations = {"a", "b", "c", "d", "e", "f"}, .after = after, .patience = 1});
  Bench bench(workflow);
  for (const char* name : {"a", "b", "c", "d"}) bench.effects[name] = times(1.01);
  bench.effects["e"] = times(0.1);
  bench.effects["f"] = times(0.9);
  CHECK(bench.run() == Names{"a on 0", "b on 1", "c on 2", "d on 3", "e on 4", "f on 5"});
}

TEST_CASE("Workflow: an open list goes by what the kernel is short of") {
  // Above 60 it is short of computing, below of waiting; of what is not known memory is taken to be it.
  WorkflowOptions options{.transformations = {"a", "b", "c"}, .order = WorkflowOrder::open};
  options.orders = {Names{"b", "a", "c"}, Names{"c", "b", "a"}, Names{"c", "a", "b"}};
  std::optional<Axis> beyond = Axis::compute;
  options.short_of = [&beyond](const Outcome& outcome) -> std::optional<Axis> {
    return outcome.objective > 60 ? beyond : std::optional(Axis::latency);
  };
  {
    Workflow workflow(options);
    Bench bench(workflow);
    for (const char* name : {"a", "b", "c"}) bench.effects[name] = times(0.5);
    CHECK(bench.run(4) == Names{"b on 0", "c on 1", "a on 2"});
  }
  beyond.reset();
  Workflow workflow(options);
  Bench bench(workflow);
  for (const char* name : {"a", "b", "c"}) bench.effects[name] = times(0.5);
  CHECK(bench.run(4) == Names{"c on 0", "a on 1", "b on 2"});
  // What was tried least comes first, whatever is short.
  Workflow least({.transformations = {"a", "b"},
                  .order = WorkflowOrder::open,
                  .orders = {Names{}, Names{"b", "a"}, Names{}},
                  .retries = 0,
                  .middle_retries = 0});
  Bench second(least);
  second.effects = {{"a", times(0.5)}, {"b", fails_first(1, 0.5)}};
  CHECK(second.run(4) == Names{"b on 0", "a on 0", "b on 2"});
}

TEST_CASE(
    "Workflow: changes of checkpoints are repeated where they were made, and a record shows the same tree") {
  // Random effects, tries that fail, and someone who goes back, branches and renames between two steps.
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    WorkflowOptions options{.transformations = {"a", "b", "c", "d", "e"},
                            .order = seed % 2 == 0 ? WorkflowOrder::listed : WorkflowOrder::open,
                            .after = {{"c", {"a"}}, {"e", {"b"}}},
                            .patience = seed % 3,
                            .retries = 1};
    options.short_of = [](const Outcome& outcome) {
      return std::optional(all_axes[static_cast<std::size_t>(outcome.objective * 1000) % 3]);
    };
    options.orders = {Names{"e", "d", "c", "b", "a"}, Names{"a", "c", "e", "b", "d"}, Names{}};
    Workflow workflow(options);
    Bench bench(workflow);
    for (const char* name : {"a", "b", "c", "d", "e"})
      bench.effects[name] = [&rng](double parent, std::uint32_t) {
        const double drawn = rng.uniform();
        return drawn < 0.2 ? -1.0 : drawn < 0.3 ? Bench::inapplicable : parent * (0.6 + drawn / 2);
      };
    std::vector<PlacedCheckpointEdit> edits;
    for (int step = 0; step < 14; ++step) {
      bench.run(2);
      const auto all = workflow.checkpoints().list();
      const Checkpoint chosen = all[rng.below(all.size())];
      CheckpointEdit edit{CheckpointEdit::Action::restore, chosen.name};
      const std::uint64_t what = rng.below(3);
      if (what == 1) edit = {CheckpointEdit::Action::branch, "line" + std::to_string(step), chosen.name};
      if (what == 2)
        edit = {CheckpointEdit::Action::name, "named" + std::to_string(step), "", chosen.trial, "of old"};
      edits.push_back({bench.events.size(), edit});
      apply(edit, workflow.checkpoints());
    }
    bench.run(3);

    // The run that is resumed makes the same proposals, and comes to the same tree.
    options.edits = edits;
    Workflow resumed(options);
    Workflow shown({.transformations = options.transformations,
                    .order = options.order,
                    .after = options.after,
                    .patience = options.patience,
                    .retries = options.retries});
    std::size_t edit = 0;
    for (std::size_t i = 0; i < bench.events.size(); ++i) {
      for (; edit < edits.size() && edits[edit].after == i; ++edit)
        apply(edits[edit].edit, shown.checkpoints());
      const Bench::Event& event = bench.events[i];
      if (event.told) {
        move_policy_contract::tell(resumed, *event.told);
        move_policy_contract::tell(shown, *event.told);
      } else {
        CHECK(resumed.ask(3) == event.asked);
        shown.asked_before(event.asked);
      }
    }
    CHECK(resumed.checkpoints() == workflow.checkpoints());
    CHECK(shown.checkpoints() == workflow.checkpoints());
  }
}

TEST_CASE("Workflow: among the least tried of an open list, what the kernel shows comes before the order") {
  WorkflowOptions options;
  options.transformations = {"a", "b", "c"};
  options.order = WorkflowOrder::open;
  options.evidence = [](const std::string& name, const Outcome& outcome) {
    return name == "c" ? 1.0 : name == "b" && outcome.objective < 60 ? 0.5 : 0.0;
  };
  Workflow workflow(options);
  Bench bench(workflow);
  for (const char* name : {"a", "b", "c"})
    bench.effects[name] = [](double parent, std::uint32_t) { return parent / 2; };
  while (bench.step()) {
  }
  Names order;
  for (const Move& move : bench.moves)
    if (move.kind == MoveKind::rewrite) order.emplace_back(move.strategy());
  REQUIRE(order.size() >= 3);
  CHECK(order[0] == "c");
  CHECK(order[1] == "b");
  CHECK(order[2] == "a");
}
