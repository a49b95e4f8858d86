// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proof of the contracts: each row of the architecture's table of systems, composed from scripted parts,
// runs through the one loop to its end, one candidate at a time and with four in flight. No row has a loop of
// its own.
#include <doctest/doctest.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "kernelsearch/evaluator/profiled.hpp"
#include "kernelsearch/evaluator/validated.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/optimizer/tuned.hpp"
#include "kernelsearch/policy/iterated_local_search.hpp"
#include "kernelsearch/policy/seeded.hpp"
#include "support/approx.hpp"
#include "support/scripted_kernels.hpp"

using namespace kernelsearch;
using namespace scripted;
using kernelsearch::test::approx;

namespace {

using Seen = Observation<Move>;

/// Generations of configurations, each around the best of the last: the shape of LFBO.
class Generations {
 public:
  using Proposal = Config;
  explicit Generations(Space space) : space_(std::move(space)), random_(space_, {.seed = 1}) {
    wanted_ = random_.ask(6);
  }
  std::vector<Config> ask(std::size_t n) {
    if (wanted_.empty() && outstanding_ == 0 && generation_ < 3 && best_) {
      ++generation_;
      for (Config& config : space_.neighbours(*best_, Neighbourhood::adjacent))
        if (seen_.insert(config).second) wanted_.push_back(std::move(config));
    }
    std::vector<Config> out;
    for (; !wanted_.empty() && out.size() < n; wanted_.pop_back()) {
      seen_.insert(wanted_.back());
      out.push_back(wanted_.back());
      ++outstanding_;
    }
    return out;
  }
  void tell(std::span<const Observation<Config>> batch) {
    for (const auto& o : batch) {
      if (o.outcome.origin) --outstanding_;
      seen_.insert(o.proposal);
      if (o.outcome.ok() && (!best_ || o.outcome.objective < time_))
        best_ = o.proposal, time_ = o.outcome.objective;
    }
  }

 private:
  Space space_;
  RandomSearch random_;
  std::vector<Config> wanted_;
  std::set<Config> seen_;
  std::size_t outstanding_ = 0;
  int generation_ = 0;
  std::optional<Config> best_;
  double time_ = 0;
};

/// Asks a slow model for configurations, in rounds: one reply yields several, some of them useless.
class ModelRounds {
 public:
  using Proposal = Config;
  explicit ModelRounds(Space space) : space_(std::move(space)) {}
  std::vector<Config> ask(std::size_t n) {
    std::vector<Config> out;
    for (; !ready_.empty() && out.size() < n; ready_.pop_back()) out.push_back(ready_.back()), ++outstanding_;
    return out;
  }
  void tell(std::span<const Observation<Config>> batch) {
    for (const auto& o : batch)
      if (o.outcome.origin) --outstanding_;
  }
  bool await() {
    if (round_ == 2) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the model thinks
    Rng rng(static_cast<std::uint64_t>(++round_));
    for (int i = 0; i < 5; ++i) ready_.push_back(space_.sample(rng));
    ready_.push_back(Config{{999, 0}});  // models do not keep to the space
    return true;
  }

 private:
  Space space_;
  std::vector<Config> ready_;
  std::size_t outstanding_ = 0;
  int round_ = 0;
};

/// What the policies over moves share: the root first, then `choose` while proposals are left.
template <class Derived>
class MovePolicy {
 public:
  using Proposal = Move;
  explicit MovePolicy(int budget) : left_(budget) {}
  std::vector<Move> ask(std::size_t n) {
    std::vector<Move> out;
    while (out.size() < n && left_ > 0) {
      if (!root_asked_) {
        root_asked_ = true;
        out.push_back({MoveKind::root, {}, {}});
      } else if (told_.empty()) {
        break;  // nothing to work on yet
      } else if (std::optional<Move> move = static_cast<Derived&>(*this).choose()) {
        out.push_back(*std::move(move));
      } else {
        break;
      }
      --left_;
      ++outstanding_;
    }
    return out;
  }
  void tell(std::span<const Seen> batch) {
    for (const Seen& seen : batch) {
      if (seen.outcome.origin) --outstanding_;
      told_.push_back(seen);
      if (seen.outcome.ok() && (!best_ || seen.outcome.objective < told_[*best_].outcome.objective))
        best_ = told_.size() - 1;
    }
  }

 protected:
  std::vector<Seen> told_;
  std::optional<std::size_t> best_;
  std::size_t outstanding_ = 0;
  int picks_ = 0;

 private:
  int left_;
  bool root_asked_ = false;
};

const std::vector<std::string> strategies{"tiling", "vectorize", "fusion", "prefetch"};

/// (cluster, strategy) arms, clusters by what the profile says: the shape of KernelBand.
struct ClusteredArms : MovePolicy<ClusteredArms> {
  ClusteredArms() : MovePolicy(20) {}
  std::optional<Move> choose() {
    std::map<std::pair<bool, std::string>, std::pair<int, double>> arms;
    for (const Seen& seen : told_)
      if (seen.proposal.kind == MoveKind::rewrite) {
        auto& [pulls, reward] = arms[{cluster(seen.proposal.parents[0]), seen.proposal.strategies[0]}];
        ++pulls;
        reward += seen.outcome.ok() ? 1.0 : -0.2;
      }
    if (!best_) return std::nullopt;
    const TrialId parent = told_[*best_].outcome.id;
    std::string pick;
    double top = -1e9;
    for (const std::string& strategy : strategies) {
      const auto& [pulls, reward] = arms[{cluster(parent), strategy}];
      const double score =
          pulls == 0
              ? 1e6
              : reward / pulls + std::sqrt(2 * std::log(static_cast<double>(told_.size()) + 1.0) / pulls);
      if (score > top) top = score, pick = strategy;
    }
    return Move{MoveKind::rewrite, {parent}, {pick}};
  }
  bool cluster(TrialId id) const {
    for (const Seen& seen : told_)
      if (seen.outcome.id == id)
        return seen.outcome.evaluation.features.find("memory_gap").value_or(1.0) > 0.5;
    return true;
  }
};

/// Mostly the best node, sometimes the last that failed, which is debugged: the shape of STARK.
struct GreedyTree : MovePolicy<GreedyTree> {
  GreedyTree() : MovePolicy(24) {}
  std::optional<Move> choose() {
    std::size_t at = best_.value_or(0);
    if (++picks_ % 3 == 0)
      for (std::size_t i = 0; i < told_.size(); ++i)
        if (told_[i].outcome.evaluation.verdict == Verdict::wrong_result) at = i;
    const Seen& node = told_[at];
    if (node.outcome.evaluation.verdict == Verdict::wrong_result)
      return Move{MoveKind::debug, {node.outcome.id}, {}};
    if (!node.outcome.ok()) return Move{MoveKind::rewrite, {told_[best_.value_or(0)].outcome.id}, {}};
    return Move{MoveKind::rewrite, {node.outcome.id}, {}};
  }
};

/// Transformations in sequence on the last checkpoint, again where one failed: the shape of PEAK's workflow.
struct Workflow : MovePolicy<Workflow> {
  Workflow() : MovePolicy(12) {}
  std::optional<Move> choose() {
    if (outstanding_ > 0) return std::nullopt;  // each step builds on the last
    if (step_ > 0 && !told_.back().outcome.ok() && retries_++ < 2)
      --step_;
    else if (told_.back().outcome.ok())
      checkpoint_ = told_.back().outcome.id, retries_ = 0;
    if (step_ == strategies.size()) return std::nullopt;
    return Move{MoveKind::rewrite, {checkpoint_}, {strategies[step_++]}};
  }
  std::size_t step_ = 0;
  int retries_ = 0;
  TrialId checkpoint_{};
};

/// Profile, branches of the methods for the open axis, champion, ablations: the shape of the CUDA skill V2.
struct BranchesAndAblations : MovePolicy<BranchesAndAblations> {
  BranchesAndAblations() : MovePolicy(100) {}
  std::optional<Move> choose() {
    while (planned_.empty()) {
      if (outstanding_ > 0 || !best_) return std::nullopt;
      const Seen champion = told_[*best_];
      if (!ablating_ && champion.proposal.kind == MoveKind::branch &&
          !attributed_.contains(champion.outcome.id)) {
        attributed_.insert(champion.outcome.id);
        for (const std::string& method : champion.proposal.strategies)
          planned_.push_back({MoveKind::ablate, {champion.outcome.id}, {method}});
        ablating_ = true;
        continue;
      }
      ablating_ = false;
      if (++iteration_ > 2) return std::nullopt;
      const bool memory = champion.outcome.evaluation.features.find("memory_gap").value_or(0) > 0.5;
      const std::vector<std::string> methods =
          memory ? std::vector<std::string>{"tiling", "prefetch"} : std::vector<std::string>{"vectorize"};
      for (std::uint32_t k = 0; k < 4; ++k)
        planned_.push_back({MoveKind::branch, {champion.outcome.id}, methods, k});
    }
    Move move = planned_.back();
    planned_.pop_back();
    return move;
  }
  std::vector<Move> planned_;
  std::set<TrialId> attributed_;
  bool ablating_ = false;
  int iteration_ = 0;
};

/// The two best are rewritten in turn, now and then joined: the shape of GEAK's beam.
struct Beam : MovePolicy<Beam> {
  Beam() : MovePolicy(20) {}
  std::optional<Move> choose() {
    std::vector<const Seen*> right;
    for (const Seen& seen : told_)
      if (seen.outcome.ok()) right.push_back(&seen);
    if (right.empty()) return std::nullopt;
    std::stable_sort(right.begin(), right.end(), [](const Seen* a, const Seen* b) {
      return a->outcome.objective < b->outcome.objective;
    });
    const std::size_t turn = static_cast<std::size_t>(picks_++);
    if (turn % 5 == 4 && right.size() > 1)
      return Move{MoveKind::recombine, {right[0]->outcome.id, right[1]->outcome.id}, {}};
    const Seen& parent = *right[turn % std::min<std::size_t>(2, right.size())];
    return Move{MoveKind::rewrite, {parent.outcome.id}, {strategies[turn % strategies.size()]}};
  }
};

/// Claims about machine code are checked: what was asked for must be there.
template <class E>
class SassChecked {
 public:
  explicit SassChecked(E inner) : inner_(std::move(inner)) {}
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    Evaluation evaluation = inner_.evaluate(candidate, context);
    evaluation.features.set("vector_instructions", words_of(candidate).contains("vectorize") ? 8 : 0);
    return evaluation;
  }

 private:
  E inner_;
};

struct NoRaces {
  std::optional<Evaluation> validate(const Candidate& candidate) const {
    if (words_of(candidate).contains("race")) return Evaluation::failed(Verdict::wrong_result, "a race");
    return std::nullopt;
  }
};

std::shared_ptr<const Kernel> tiled() {
  return kernel_with({"tiling"}).kernel;
}

/// What must hold of every run, whatever the system.
template <class Optimizer>
void check_run(const Optimizer& search, const RunSummary& summary) {
  CHECK(summary.reason == "the policy has nothing more to propose");
  REQUIRE(search.best() != nullptr);
  CHECK(search.outstanding() == 0);
  std::set<TrialId> told;
  for (const auto& trial : search.trials()) {
    CHECK(told.insert(trial.outcome.id).second);
    for (const TrialId parent : trial.outcome.parents) CHECK(told.contains(parent));
  }
}

/// Runs `make(in_flight)` sequentially and with four in flight, twice each: it ends, and repeats itself.
template <class Make, class Check>
void prove(Make make, Check check) {
  for (const std::size_t in_flight : {1u, 4u}) {
    CAPTURE(in_flight);
    std::vector<std::string> keys[2];
    for (auto& sequence : keys) {
      auto search = make(OptimizerOptions{.in_flight = in_flight, .build_threads = 2});
      const RunSummary summary = search.run();
      check_run(search, summary);
      check(search);
      for (const auto& trial : search.trials())
        sequence.push_back(trial.candidate ? trial.candidate->kernel->regions.device + "|" +
                                                 trial.candidate->kernel->space.key(trial.candidate->config)
                                           : trial.outcome.evaluation.reason);
    }
    CHECK(keys[0] == keys[1]);
  }
}

}  // namespace

TEST_CASE("systems: Helion LFBO = Optimizer<LfboTree, TemplateGenerator, E>") {
  prove(
      [](OptimizerOptions o) {
        return Optimizer(Generations(block_space()), TemplateGenerator(tiled()), KernelLandscape{}, o);
      },
      [](const auto& search) {
        CHECK(search.trials().size() > 10);
        CHECK(search.best()->outcome.objective <= 55);
      });
}

TEST_CASE("systems: Helion LLM-guided = Optimizer<LlmConfigSearch, TemplateGenerator, E>") {
  prove(
      [](OptimizerOptions o) {
        return Optimizer(ModelRounds(block_space()), TemplateGenerator(tiled()), KernelLandscape{}, o);
      },
      [](const auto& search) {
        CHECK(search.trials().size() == 12);
        CHECK(search.summary().verdicts[static_cast<int>(Verdict::not_generated)] == 2);
      });
}

TEST_CASE("systems: Helion hybrid = Optimizer<Seeded<LlmConfigSearch, LfboTree>, TemplateGenerator, E>") {
  prove(
      [](OptimizerOptions o) {
        return Optimizer(Seeded(ModelRounds(block_space()), IteratedLocalSearch(block_space(), {.seed = 1})),
                         TemplateGenerator(tiled()), KernelLandscape{}, o);
      },
      [](const auto& search) {
        CHECK(search.trials().size() >= 28);  // the whole space, and the model's two useless answers
        CHECK(search.best()->outcome.objective == 50);
      });
}

TEST_CASE("systems: KernelBand = Optimizer<HierarchicalUcb, LlmRewriter, Profiled<E>>") {
  using E = Profiled<KernelLandscape, Candidate, ScriptedProfiler>;
  prove([](OptimizerOptions o) { return Optimizer(ClusteredArms{}, ScriptedRewriter{}, E({}, {}), o); },
        [](const auto& search) {
          CHECK(search.trials().size() == 20);
          CHECK(search.best()->outcome.objective < 60);
          CHECK(search.trials().front().outcome.evaluation.features.find("memory_gap") == 0.8);
        });
}

TEST_CASE("systems: STARK = Optimizer<EpsilonGreedyTree, AgentTeam<Planner, Coder, Debugger>, E>") {
  prove([](OptimizerOptions o) { return Optimizer(GreedyTree{}, ScriptedTeam{}, KernelLandscape{}, o); },
        [](auto& search) {
          CHECK(search.trials().size() == 24);
          CHECK(search.best()->outcome.objective < 70);
          CHECK(*search.generator().repairs > 0);
        });
}

TEST_CASE(
    "systems: PEAK = Optimizer<Workflow, NaturalTransformations, Tuned<SomeConfigPolicy, Validated<E>>>") {
  const auto make_policy = [](const Space& space, std::uint64_t seed) {
    return IteratedLocalSearch(space, {.seed = seed, .initial = 2});
  };
  using Inner = Validated<KernelLandscape, Candidate, NoRaces>;
  prove(
      [&](OptimizerOptions o) {
        return Optimizer(Workflow{}, ScriptedRewriter{},
                         Tuned(make_policy, Inner({}, {}), TunedOptions{.max_trials = 28}), o);
      },
      [](const auto& search) {
        const auto& best = search.best()->outcome;
        CHECK(best.objective == approx(100 * 0.5 * 0.6 * 0.9));
        CHECK(best.evaluation.tuned_key == "16,2");  // the inner search found what tiling needs
        CHECK(best.evaluation.features.find("inner_trials") == 28.0);
      });
}

TEST_CASE("systems: CUDA skill V2 = Optimizer<RooflineBudget, MethodWriter, SassChecked<Profiled<E>>>") {
  using E = SassChecked<Profiled<KernelLandscape, Candidate, ScriptedProfiler>>;
  prove(
      [](OptimizerOptions o) {
        return Optimizer(BranchesAndAblations{}, ScriptedRewriter{},
                         E(Profiled<KernelLandscape, Candidate, ScriptedProfiler>({}, {})), o);
      },
      [](const auto& search) {
        int branches = 0, ablations = 0;
        for (const auto& trial : search.trials()) {
          if (!trial.candidate || trial.outcome.parents.empty()) continue;
          const auto words = words_of(*trial.candidate);
          const auto parents = words_of(*search.log().own(trial.outcome.parents[0]).candidate);
          (words.size() < parents.size() ? ablations : branches) += 1;
        }
        CHECK(branches >= 6);
        CHECK(ablations >= 2);
        // Attribution is read off parent and child: without tiling the champion is slower.
        CHECK(search.best()->outcome.evaluation.features.find("memory_gap") == 0.2);
      });
}

TEST_CASE("systems: GEAK = Optimizer<Beam, ReflexionTeam, E>") {
  prove([](OptimizerOptions o) { return Optimizer(Beam{}, ScriptedRewriter{}, KernelLandscape{}, o); },
        [](const auto& search) {
          CHECK(search.trials().size() == 20);
          CHECK(search.best()->outcome.objective < 60);
        });
}

TEST_CASE(
    "systems: the budget of a nested search is shared, and its trials are heard of under their parent") {
  struct Inner {
    std::map<TrialId, int> count;
    void on_inner(TrialId parent, const InnerTrial&) { ++count[parent]; }
  };
  const auto make_policy = [](const Space& space, std::uint64_t seed) {
    return RandomSearch(space, {.seed = seed});
  };
  for (const std::size_t in_flight : {1u, 4u}) {
    Inner inner;
    Optimizer search(Beam{}, ScriptedRewriter{},
                     Tuned(make_policy, KernelLandscape{}, TunedOptions{.max_trials = 10}),
                     {.in_flight = in_flight, .budget = std::make_shared<TrialBudget>(35)});
    search.run(inner);
    int total = 0;
    for (const auto& [parent, count] : inner.count) {
      CHECK(count <= 10);
      total += count;
    }
    CHECK(total == *search.evaluator().inner().evaluations);
    CHECK(total <= 35);
    CHECK(total > 25);
  }
}
