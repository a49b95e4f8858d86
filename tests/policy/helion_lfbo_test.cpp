// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/helion_lfbo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "kernelsearch/model/random_forest.hpp"
#include "support/policy_contract.hpp"

using namespace kernelsearch;

namespace {

/// A smaller population and fewer trees, so that the small space holds several generations.
HelionLfboOptions little(std::uint64_t seed) {
  HelionLfboOptions options = helion_lfbo_small(seed);
  options.initial = 12;
  options.neighbours = 30;
  options.trees = 15;
  return options;
}
const auto make_helion_lfbo = [](const Space& space, std::uint64_t seed) {
  return HelionLfbo(space, little(seed));
};

/// Proposals of one ask, answered.
std::vector<Config> round(HelionLfbo& policy, const Space& space, std::uint64_t& id) {
  const std::vector<Config> batch = policy.ask(1000);
  for (const Config& config : batch) {
    policy_contract::tell(policy, policy_contract::observe(space, config, id, id));
    ++id;
  }
  return batch;
}

}  // namespace

TEST_CASE("HelionLfbo: keeps the contract of policies over spaces") {
  policy_contract::check(make_helion_lfbo);
}

TEST_CASE("HelionLfbo: keeps it in its other forms") {
  policy_contract::check([](const Space& space, std::uint64_t seed) {
    HelionLfboOptions options = little(seed);
    options.proposals = HelionProposals::pattern;
    options.learn_violations = false;
    return HelionLfbo(space, options);
  });
}

TEST_CASE("HelionLfbo: needs fewer evaluations than random draws") {
  const std::size_t ours = policy_contract::evaluations_to_best(make_helion_lfbo);
  const std::size_t random = policy_contract::evaluations_to_best(
      [](const Space& space, std::uint64_t seed) { return RandomSearch(space, {.seed = seed}); });
  CAPTURE(ours);
  CAPTURE(random);
  CHECK(3 * ours < 2 * random);
}

TEST_CASE("HelionLfbo: a population first, the default leading it, then a tenth of each copy's proposals") {
  SpaceBuilder builder;
  for (int i = 0; i < 8; ++i) builder.add(Tunable::integer("t" + std::to_string(i), 0, 7));
  const Space space = builder.build();
  HelionLfbo policy(space, {.seed = 1, .trees = 20});
  const auto time = [](const Config& config) {
    double sum = 1;
    for (const std::uint32_t index : config.indices) sum += std::abs(static_cast<double>(index) - 3);
    return sum;
  };
  std::uint64_t id = 0;
  const auto answer = [&](const std::vector<Config>& batch) {
    for (const Config& config : batch) {
      Observation<Config> observation{config, {}};
      observation.outcome.id = TrialId{id};
      observation.outcome.origin = Origin{ProposalId{id++}, 0, 1};
      observation.outcome.objective = time(config);
      observation.outcome.evaluation = Evaluation::succeeded(time(config));
      policy_contract::tell(policy, observation);
    }
  };
  std::vector<Config> batch = policy.ask(1000);
  CHECK(batch.size() == 100);
  CHECK(batch.front() == space.default_config());
  CHECK(policy.ask(1000).empty());  // whole generations at a time
  answer(batch);
  for (int generation = 1; generation <= 3; ++generation) {
    batch = policy.ask(1000);
    CHECK(!batch.empty());
    CHECK(batch.size() <= 5 * 19);  // int(0.10 * 201) less the incumbent, for each of five copies
    answer(batch);
  }
}

TEST_CASE("HelionLfbo: a single run ends by itself and polishes its best") {
  const Space space = policy_contract::small_space();
  HelionLfboOptions options = little(3);
  options.restart = false;
  HelionLfbo policy(space, options);
  std::uint64_t id = 0;
  std::set<Config> measured;
  while (true) {
    const std::vector<Config> batch = round(policy, space, id);
    if (batch.empty()) break;
    measured.insert(batch.begin(), batch.end());
  }
  CHECK(policy.ask(5).empty());
  CHECK(measured.size() < space.count().low());
  const Config& best =
      *std::min_element(measured.begin(), measured.end(), [&](const Config& a, const Config& b) {
        return policy_contract::time_of(space, a) < policy_contract::time_of(space, b);
      });
  for (const Config& next : Encoding(space).neighbours(best)) CHECK(measured.contains(next));
}

TEST_CASE("HelionLfbo: named block sizes and warps move in every random mutant") {
  const Space space = SpaceBuilder()
                          .add(Tunable::power_of_two("block", 1, 1024).with_default(std::int64_t{32}))
                          .add(Tunable::power_of_two("warps", 1, 32).with_default(std::int64_t{4}))
                          .add(Tunable::integer("other", 0, 30).with_default(std::int64_t{15}))
                          .build();
  HelionLfboOptions options;
  options.seed = 2;
  options.initial = 1;
  options.copies = 1;
  options.trees = 5;
  options.block_sizes = {"block"};
  options.warps = "warps";
  HelionLfbo policy(space, options);
  const std::vector<Config> first = policy.ask(100);
  std::uint64_t id = 0;
  for (const Config& config : first) {
    Observation<Config> observation{config, {}};
    observation.outcome.origin = Origin{ProposalId{id++}, 0, 1};
    observation.outcome.objective = config == first[0] ? 1.0 : 2.0;
    observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
    policy_contract::tell(policy, observation);
  }
  const std::vector<Config> mutants = policy.ask(100);
  CHECK(mutants.size() > 2);
  for (const Config& config : mutants) {
    CHECK(config.indices[0] != first[0].indices[0]);
    CHECK(config.indices[1] != first[0].indices[1]);
  }
  options.warps = "wraps";
  CHECK_THROWS_AS(HelionLfbo(space, options), ConfigError);
}

TEST_CASE("HelionLfbo: a tunable of texts is not a size of blocks or a count of warps") {
  Tunable layout = Tunable::of("layout", {Value{std::string("row")}, Value{std::string("column")}});
  layout.role = TunableRole::block_size;
  Tunable warps = Tunable::power_of_two("warps", 1, 8);
  warps.role = TunableRole::warps;
  const Space space = SpaceBuilder().add(std::move(layout)).add(std::move(warps)).build();
  HelionLfboOptions options;
  CHECK(HelionLfbo(space, options).ask(4).size() == 4);  // the role of the texts is not used
  options.block_sizes = {"layout"};
  CHECK_THROWS_WITH_AS(HelionLfbo(space, options), doctest::Contains("is not a number: layout has row"),
                       ConfigError);
}

namespace {

/// What a forest was asked to learn.
struct Learned {
  std::vector<std::vector<double>> rows;
  std::vector<bool> labels;
  std::vector<double> weights;
};

/// The search's own chance and forest, given from outside, with a note of what was learned.
HelionSource noting_source(std::uint64_t seed, std::size_t trees, std::vector<Learned>& learned) {
  auto rng = std::make_shared<Rng>(Rng::stream(seed, "helion_lfbo"));
  return {[rng](std::size_t n) { return static_cast<std::size_t>(rng->below(n)); },
          [rng] { return rng->uniform(); },
          [&learned, trees](const FeatureMatrix& rows, const std::vector<bool>& labels,
                            std::span<const double> weights) {
            Learned& one = learned.emplace_back();
            for (std::size_t i = 0; i < rows.rows(); ++i)
              one.rows.emplace_back(rows.row(i).begin(), rows.row(i).end());
            one.labels = labels;
            one.weights.assign(weights.begin(), weights.end());
            return RandomForestClassifier(rows, labels, weights,
                                          {.trees = trees, .criterion = SplitCriterion::entropy, .seed = 42})
                .trees();
          }};
}

Observation<Config> told_outside(const Space& space, const Config& config, std::uint64_t id) {
  Observation<Config> observation = policy_contract::observe(space, config, id, id);
  observation.outcome.origin.reset();
  return observation;
}

}  // namespace

TEST_CASE("HelionLfbo: without a source it learns with a forest of 100 trees by entropy, seed 42") {
  const Space space = policy_contract::small_space();
  HelionLfboOptions options = little(5);
  std::vector<Learned> learned;
  HelionLfbo own(space, options), given(space, noting_source(5, options.trees, learned), options);
  std::uint64_t id = 0, other = 0;
  for (int i = 0; i < 8; ++i) CHECK(round(own, space, id) == round(given, space, other));
  CHECK(learned.size() >= 3);
  CHECK(HelionLfboOptions{}.trees == 100);
  // A forest that has learned nothing proposes something else: what was learned counts.
  HelionSource deaf = noting_source(5, options.trees, learned);
  deaf.learn = [](const FeatureMatrix& rows, const std::vector<bool>&, std::span<const double>) {
    return TreeEnsemble::of(rows.columns(), {DecisionNode{0.5, -1, 0}}, {0});
  };
  HelionLfbo first(space, options), second(space, deaf, options);
  std::vector<Config> sequence, deaf_sequence;
  id = other = 0;
  for (int i = 0; i < 8; ++i) {
    for (const Config& config : round(first, space, id)) sequence.push_back(config);
    for (const Config& config : round(second, space, other)) deaf_sequence.push_back(config);
  }
  CHECK(sequence != deaf_sequence);
  deaf.uniform = nullptr;
  CHECK_THROWS_WITH_AS(HelionLfbo(space, deaf, options), doctest::Contains("give all three"), ConfigError);
}

TEST_CASE("HelionLfbo: foreign outcomes are learned from, by each run, before its own") {
  const Space space = policy_contract::small_space();
  HelionLfboOptions options = little(6);
  options.generations = 2;
  options.polish_rounds = 0;
  std::vector<Learned> learned;
  HelionLfbo policy(space, noting_source(6, options.trees, learned), options);
  const Encoding encoding(space);
  std::vector<std::vector<double>> foreign;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Config config = space.unrank(BigCount(3 * i));
    foreign.push_back(encoding.encode(config));
    policy_contract::tell(policy, told_outside(space, config, 1000 + i));
    policy_contract::tell(policy, told_outside(space, config, 1000 + i));  // twice: one row
  }
  std::uint64_t id = 0;
  for (int i = 0; i < 12; ++i) (void)round(policy, space, id);
  REQUIRE(learned.size() >= 3);
  for (const Learned& one : learned) {
    REQUIRE(one.rows.size() > 20);
    CHECK(std::vector<std::vector<double>>(one.rows.begin(), one.rows.begin() + 20) == foreign);
  }
  CHECK(learned[1].rows.size() > learned[0].rows.size());
}

TEST_CASE("HelionLfbo: begins at the best of what others told where it is told to") {
  const Space space = policy_contract::small_space();
  HelionLfboOptions options = little(7);
  options.start = HelionStart::best_known;
  HelionLfbo policy(space, options);
  std::vector<Config> told;
  for (std::uint64_t i = 1; i < 12; ++i) {
    told.push_back(space.unrank(BigCount(5 * i)));
    policy_contract::tell(policy, told_outside(space, told.back(), i));
  }
  const Config best = *std::min_element(told.begin(), told.end(), [&](const Config& a, const Config& b) {
    return policy_contract::time_of(space, a) < policy_contract::time_of(space, b);
  });
  // What is told is not measured again; the default was not told.
  std::uint64_t id = 0;
  CHECK(round(policy, space, id) == std::vector<Config>{space.default_config()});
  for (const Config& config : round(policy, space, id)) {
    const auto differences = [&config](const Config& from) {
      std::size_t count = 0;
      for (std::size_t t = 0; t < from.indices.size(); ++t) count += config.indices[t] != from.indices[t];
      return count;
    };
    CHECK(std::min(differences(best), differences(space.default_config())) <= 2);
  }
  // With nothing told it begins as ever.
  HelionLfbo alone(space, options);
  CHECK(alone.ask(1000).size() > 5);
}

TEST_CASE("HelionLfbo: a configuration that failed stays a failure for the model, a time is the latest") {
  const Space space = policy_contract::small_space();
  HelionLfboOptions options = little(8);
  std::vector<Learned> learned;
  HelionLfbo policy(space, noting_source(8, options.trees, learned), options);
  const std::vector<Config> batch = policy.ask(1000);
  REQUIRE(batch.size() > 6);
  std::uint64_t id = 0;
  for (const Config& config : batch) {
    Observation<Config> observation = policy_contract::observe(space, config, id, id);
    observation.outcome.objective = 1.0 + static_cast<double>(id);
    observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
    if (id == 2) observation.outcome.evaluation = Evaluation::failed(Verdict::crashed, "as it happens");
    policy_contract::tell(policy, observation);
    ++id;
  }
  const auto label_of = [&](const Config& config) {
    const Learned& last = learned.back();
    const auto at = std::find(last.rows.begin(), last.rows.end(), Encoding(space).encode(config));
    REQUIRE(at != last.rows.end());
    return static_cast<bool>(last.labels[static_cast<std::size_t>(at - last.rows.begin())]);
  };
  const auto late = [&](std::size_t i, double seconds) {
    Observation<Config> observation = policy_contract::observe(space, batch[i], i, i);
    observation.outcome.objective = seconds;
    observation.outcome.evaluation = Evaluation::succeeded(seconds);
    policy_contract::tell(policy, observation);
  };
  for (const Config& config : policy.ask(1000)) {
    policy_contract::tell(policy, policy_contract::observe(space, config, id, id));
    ++id;
  }
  REQUIRE(learned.size() == 1);
  CHECK(label_of(batch[0]));
  CHECK_FALSE(label_of(batch[2]));
  CHECK_FALSE(label_of(batch[5]));
  late(2, 1e-9);
  late(5, 1e-6);
  (void)policy.ask(1000);
  REQUIRE(learned.size() == 2);
  CHECK_FALSE(label_of(batch[2]));
  CHECK(label_of(batch[5]));
}

TEST_CASE("HelionLfbo: what a space marks as block sizes and warps is moved where no option names any") {
  Tunable block = Tunable::power_of_two("block", 1, 1024).with_default(std::int64_t{32});
  Tunable warps = Tunable::power_of_two("warps", 1, 32).with_default(std::int64_t{4});
  block.role = TunableRole::block_size;
  warps.role = TunableRole::warps;
  const Space space = SpaceBuilder()
                          .add(block)
                          .add(warps)
                          .add(Tunable::integer("other", 0, 30).with_default(std::int64_t{15}))
                          .build();
  HelionLfboOptions options{.seed = 2, .initial = 1, .copies = 1, .trees = 5};
  HelionLfbo policy(space, options);
  const auto time = [](const Config& config, const Config& best) { return config == best ? 1.0 : 2.0; };
  std::uint64_t id = 0;
  const Config first = space.default_config();
  for (int i = 0; i < 2; ++i) {
    const std::vector<Config> batch = policy.ask(100);
    CHECK(batch.size() == (i == 0 ? 1 : batch.size()));
    for (const Config& config : batch) {
      if (i > 0) {
        CHECK(config.indices[0] != first.indices[0]);
        CHECK(config.indices[1] != first.indices[1]);
      }
      Observation<Config> observation{config, {}};
      observation.outcome.origin = Origin{ProposalId{id++}, 0, 1};
      observation.outcome.objective = time(config, first);
      observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
      policy_contract::tell(policy, observation);
    }
  }
  // Random blocks of so many elements a thread are shrunk: seen only where both are marked.
  const auto largest = [](TunableRole role) {
    Tunable a = Tunable::power_of_two("block", 1, 1 << 22), b = Tunable::power_of_two("warps", 1, 32);
    a.role = role;
    b.role = TunableRole::warps;
    const Space of = SpaceBuilder().add(a).add(b).build();
    std::pair<double, double> most{0, 0};  // elements of a block, and of a warp
    for (const Config& config : HelionLfbo(of, {.seed = 3, .initial = 100000, .copies = 1}).ask(100000)) {
      const double elements = to_number(of.tunable(0).values[config.indices[0]]);
      most.first = std::max(most.first, elements);
      most.second = std::max(most.second, elements / to_number(of.tunable(1).values[config.indices[1]]));
    }
    return most;
  };
  CHECK(largest(TunableRole::none) == std::pair<double, double>{1 << 22, 1 << 22});
  CHECK(largest(TunableRole::block_size) == std::pair<double, double>{1 << 20, 2048 * 32});
}
