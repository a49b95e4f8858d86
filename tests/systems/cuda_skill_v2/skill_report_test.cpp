// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/cuda_skill_v2/skill_report.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/store/load_record.hpp"
#include "kernelsearch/store/run_recorder.hpp"
#include "support/approx.hpp"
#include "support/small_kernel.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Kernels that say in their text what they are.
struct Texts {
  using Candidate = kernelsearch::Candidate;
  std::shared_ptr<const Kernel> root;
  Generation<Candidate> generate(const Move& move, const History<Candidate>& history) const {
    if (move.kind == MoveKind::root) return Generation<Candidate>::one({root, root->space.default_config()});
    Kernel kernel = *history.find(move.parents.front()).candidate->kernel;
    kernel.regions.device += "// " + std::string(to_string(move.kind)) + ' ' + std::to_string(move.variant);
    for (const std::string& name : move.strategies) kernel.regions.device += ' ' + name;
    kernel.regions.device += '\n';
    auto made = Generation<Candidate>::one(
        {std::make_shared<const Kernel>(std::move(kernel)), root->space.default_config()});
    if (move.kind == MoveKind::branch)
      made.rationale = "branch " + std::to_string(move.variant) + " says this";
    return made;
  }
};

/// Times by what the text says last.
struct Clock {
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext&) const {
    const std::string& text = candidate.kernel->regions.device;
    const auto says = [&text](const char* what) { return text.find(what) != std::string::npos; };
    Evaluation result = Evaluation::succeeded(says("ablate 0 compute.a") ? 8e-3
                                              : says("branch 1")         ? 5e-3
                                              : says("branch 0")         ? 6e-3
                                                                         : 10e-3);
    if (says("branch 2")) result = Evaluation::failed(Verdict::wrong_result, "y[3] is 1|2");
    result.features.set("compute_utilisation", 10);
    if (!says("branch") && !says("ablate"))
      for (const auto& [name, value] :
           {std::pair("stall_a", 3.0), std::pair("stall_b", 2.5), std::pair("stall_c", 2.0),
            std::pair("stall_d", 1.0), std::pair("stall_wait", 4.0), std::pair("stall_gmma", 3.5)})
        result.features.set(name, value);
    result.features.set("code.a", says("branch") && !says("ablate 0 compute.a") ? 3 : 0);
    result.features.set("code.b", 0);
    return result;
  }
};

RooflineBudgetOptions search_of_two() {
  RooflineBudgetOptions options;
  options.iterations = 1;
  options.branches = 3;
  options.pairs = 1;
  options.methods.resize(2);
  options.methods[0].id = options.methods[0].name = "compute.a";
  options.methods[0].signature.any.push_back({"code.a", false});
  options.methods[1].id = options.methods[1].name = "compute.b";
  options.methods[1].priority = 2;
  options.methods[1].signature.any.push_back({"code.b", false});
  return options;
}

struct One {
  TemporaryFolder folder;
  RunStore store{folder / "runs.db"};
  std::shared_ptr<const Kernel> kernel = small_kernel("extern \"C\" void f() {}\n");
  Problem problem;
  RunId run = store.begin_run(
      {.name = "two", .problem = "f", .policy = "cuda_skill_v2", .evaluator = "host", .device = "a|cpu"});

  explicit One(std::uint64_t trials = 100) {
    problem.name = "f";
    problem.kernel = *kernel;
    work(trials);
  }
  void work(std::uint64_t trials) {
    CandidateCodec<Candidate> codec(lookup_in(store, [this](Regions regions) {
      return std::make_shared<const Kernel>(Kernel{regions, kernel->space});
    }));
    OptimizerOptions options;
    options.budget = std::make_shared<TrialBudget>(trials);
    Optimizer search(RooflineBudget(search_of_two()), Texts{kernel}, Clock{}, options);
    search.resume(load_record<Move>(store, run, codec));
    RunRecorder<Move> recorder(store, run, codec);
    search.run(recorder);
  }
  [[nodiscard]] RooflineBudget replayed() const { return replayed_skill(store, run, search_of_two()); }
  [[nodiscard]] static std::string read(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

}  // namespace

TEST_CASE("skill report: the policy told again knows what the run knew") {
  const One one;
  const RooflineBudget again = one.replayed();
  REQUIRE(again.iterations().size() == 1);
  const SkillIteration& it = again.iterations()[0];
  CHECK(it.status == SkillStatus::improved);
  REQUIRE(it.verdicts.size() == 2);
  CHECK(it.verdicts[0].fate == MethodFate::effective);
  CHECK(it.verdicts[0].attribution.effect == approx(0.6));
  CHECK(it.verdicts[1].fate == MethodFate::implementation_failed);
  CHECK(again.ending().reason == SkillEnd::iterations);
  RooflineBudgetOptions other = search_of_two();
  other.branches = 2;
  CHECK_THROWS_AS((void)replayed_skill(one.store, one.run, other), ConfigError);
}

TEST_CASE("skill report: the summary has every part, also of a run that was cut") {
  const One one;
  const std::string text = skill_summary(one.store, one.run, one.replayed());
  for (const char* part :
       {"# f: CUDA optimisation skill V2", "## Environment", "a/cpu", "The best kernel is trial 2: 5.000 ms",
        "took 10.00 ms, 2.00 times as long", "## Roofline history",
        "| 1 | 0.90 | unknown | 0.04 | compute | 2/0/0 |", "## Timeline",
        "| 1 | compute.a, compute.b | 10.00 ms | 5.000 ms |", "improved | 2/3 | 0 |",
        "## Effective methods, proven in the machine code", "| compute.a | 1 | +60.0 %",
        "## Implementation failed", "| compute.b | 1 |", "## All methods tried", "## Interactions",
        "## Frontier", "| iterv1/branches/b1 | 1 | 6.000 ms | +20.0 % |"}) {
    CAPTURE(part);
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  }
  const One cut(3);
  const std::string short_text = skill_summary(cut.store, cut.run, cut.replayed());
  CHECK(short_text.find("cut short") != std::string::npos);
}

TEST_CASE("skill report: the state of a run that is under way says how far it is") {
  const One cut(3);  // the start and two branches
  const fs::path folder = cut.folder / "run_1";
  write_skill_state(cut.store, cut.run, cut.problem, cut.replayed(), folder);
  const json state = json::parse(One::read(folder / "state.json"));
  CHECK(state["history"][0]["phase"] == "branching");
  CHECK(state["selected_methods"].size() == 2);
  CHECK(state["effective_methods"].empty());
  CHECK(state["best_metric_ms"] == approx(5));
  CHECK(fs::is_regular_file(folder / "env.json"));
  CHECK_FALSE(fs::exists(folder / "summary.md"));
}

TEST_CASE("skill report: the folder of a run has the published files, and is the same after a kill") {
  One one(4);
  for (const std::uint64_t trials : {5, 6, 100}) one.work(trials);
  const fs::path folder = one.folder / "run_1";
  fs::create_directories(folder / "iterv1/branches/b1");
  std::ofstream(folder / "iterv1/branches/b1/kernel.cpp") << "as a person wrote it";
  DevicePeaks peaks;
  peaks.device = "a device";
  peaks.source = "made up";
  peaks.f32 = 2e12;
  peaks.levels.push_back({"memory", std::numeric_limits<double>::infinity(), 3e9});
  write_skill_report(one.store, one.run, one.problem, one.replayed(), folder, peaks);
  CHECK(One::read(folder / "iterv1/branches/b1/kernel.cpp") == "as a person wrote it");
  CHECK(One::read(folder / "iterv1/kernel.cpp").find("branch 1") != std::string::npos);
  CHECK(One::read(folder / "iterv1/ablations/compute.a/kernel.cpp").find("ablate 0 compute.a") !=
        std::string::npos);
  for (const char* name :
       {"env.json", "state.json", "summary.md", "baseline/kernel.cpp", "baseline/bench.json",
        "iterv1/analysis.md", "iterv1/methods.json", "iterv1/roofline.json", "iterv1/ncu_top.json",
        "iterv1/branch_results.json", "iterv1/attribution.json", "iterv1/sass_check.json",
        "iterv1/bench.json", "iterv1/branches/b3/bench.json",
        "iterv1/ablations/compute.a+compute.b/bench.json"}) {
    CAPTURE(name);
    CHECK(fs::is_regular_file(folder / name));
  }
  const json state = json::parse(One::read(folder / "state.json"));
  CHECK(state["best_file"] == "iterv1/kernel.cpp");
  CHECK(state["best_metric_ms"] == approx(5));
  CHECK(state["effective_methods"][0]["id"] == "compute.a");
  CHECK(state["effective_methods"][0]["attribution_ms"] == approx(3));
  CHECK(state["implementation_failed_methods"][0]["id"] == "compute.b");
  CHECK(state["history"][0]["status"] == "improved");
  CHECK(state["history"][0]["speedup_vs_best_before"] == approx(2));
  CHECK(state["roofline_history"][0]["delta_compute"] == approx(0.9));
  CHECK(state["roofline_history"][0]["delta_memory"].is_null());
  CHECK(state["frontier"][0]["branch_index"] == "b1");
  const json environment = json::parse(One::read(folder / "env.json"));
  CHECK(environment["peaks"]["f32_operations_per_second"] == 2e12);
  CHECK(environment["peaks"]["f16_operations_per_second"].is_null());
  CHECK(environment["peaks"]["memory"][0]["bytes_per_second"] == 3e9);
  CHECK(environment["peaks"]["memory"][0]["bytes"].is_null());
  const json top = json::parse(One::read(folder / "iterv1/ncu_top.json"));
  CHECK(top["trial"] == 0);
  REQUIRE(top["compute"].size() == 1);
  CHECK(top["compute"][0]["metric"] == "compute_utilisation");
  CHECK(top["compute"][0]["value"] == 10);
  REQUIRE(top["latency"].size() == 5);  // of six
  CHECK(top["latency"][0]["metric"] == "stall_wait");
  CHECK(top["latency"][4]["metric"] == "stall_c");
  CHECK(top["memory"].empty());
  const json end = json::parse(One::read(folder / "roofline.json"));
  CHECK(end["trial"] == 2);
  CHECK(end["ending"] == "iterations");
  CHECK(end["bound"] == "compute");
  CHECK(end["profile"]["code.a"] == 3);
  CHECK(state["history"][0]["this_time"] == "branch 1 says this");
  const json branches = json::parse(One::read(folder / "iterv1/branch_results.json"));
  CHECK(branches["branches"][0]["this_time"] == "branch 0 says this");
  CHECK(branches["champion"] == "b2");
  CHECK(branches["valid_branches"] == 2);
  CHECK(branches["branches"][2]["error"] == "y[3] is 1|2");
  const json evidence = json::parse(One::read(folder / "iterv1/sass_check.json"));
  CHECK(evidence["methods"][0]["evidence"] == "verified");
  CHECK(evidence["methods"][0]["require_any"][0]["champion"] == 3);
  CHECK(evidence["methods"][0]["require_any"][0]["ablated"] == 0);
  CHECK(evidence["methods"][1]["evidence"] == "absent");
  const json attribution = json::parse(One::read(folder / "iterv1/attribution.json"));
  CHECK(attribution["interactions"].size() == 1);
  CHECK(attribution["methods"][0]["ablated_ms"] == approx(8));
}
